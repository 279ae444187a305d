//! What each rule saves against what it loses.

use maud::{Markup, html};

use super::labels::{self, Frame, HEIGHT, Named};
use super::number::{count, share};
use super::scale::Scale;
use super::{Entries, Entry, Page, Subject, words};

/// Points in one chart; more could not be told apart.
const POINTS_MAX: usize = 40;

/// Sizes of a drawing.
struct Drawing {
    class: &'static str,
    width: f64,
    height: f64,
    /// Room for the numbers at the left.
    margin: f64,
    /// Names of rules, or only their numbers.
    has_names: bool,
}

/// For wide windows and for paper.
const WIDE: Drawing = Drawing {
    class: "wide",
    width: 1000.0,
    height: 520.0,
    margin: 84.0,
    has_names: true,
};
/// For narrow windows, where it is not made smaller.
const NARROW: Drawing = Drawing {
    class: "narrow",
    width: 360.0,
    height: 400.0,
    margin: 72.0,
    has_names: false,
};
/// Room below, for the numbers and the title of the axis.
const FOOT: f64 = 56.0;
/// Room above, for the title of the other axis.
const HEAD: f64 = 34.0;
/// Between the place of no loss and the start of the axis.
const NONE_WIDTH: f64 = 110.0;
/// Between two numbers below the axis.
const TICK_GAP: f64 = 5.0;
/// A rule on the chart.
struct Point<'a> {
    entry: &'a Entry<'a>,
    saved: f64,
    lost: f64,
    interval: (f64, f64),
}

#[must_use]
pub(super) fn section(page: &Page<'_>, entries: &Entries<'_>) -> Markup {
    let all = points(entries);
    let shown = &all[..all.len().min(POINTS_MAX)];
    html! {
        @if !shown.is_empty() {
            section {
                h2 { "What each saves, and what it loses" }
                p {
                    "The higher, the more URLs need no longer be kept; the further left, the fewer pages are lost. Lines are 95\u{a0}% intervals for other archives like this one. "
                    "Both axes are logarithmic: equal distances are equal factors."
                    @if shown.iter().any(|point| point.lost <= 0.0) { " Rules that lose nothing stand above \u{201c}none\u{201d}, left of the dotted line, where the lower axis does not count." }
                    @if shown.iter().any(|point| point.entry.outcome.sampled.is_some()) { " Since only a sample was counted, a point is the middle of what may be lost, and its line all of it." }
                    @if all.len() > shown.len() { " Shown are " (count(shown.len() as u64)) " of " (count(all.len() as u64)) "." }
                }
                figure {
                    (draw(&WIDE, page, shown))
                    (draw(&NARROW, page, shown))
                    figcaption {
                        ul.key {
                            @for advice in ["adopt", "some", "reject", "open"].into_iter().filter(|advice| shown.iter().any(|point| words::class(point.entry.outcome.advice) == *advice)) {
                                li { svg.swatch width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true" { (mark(advice)) } (name_of(advice)) }
                            }
                        }
                        ol.numbers { @for point in shown { li value=(point.entry.number) { code { (point.entry.name) } } } }
                    }
                }
            }
        }
    }
}

fn points<'a>(entries: &'a Entries<'a>) -> Vec<Point<'a>> {
    let policies = entries
        .policies
        .iter()
        .filter(|entry| entry.row.subject == Subject::Policy);
    policies
        .chain(&entries.rules)
        .filter(|entry| entry.outcome.merges.total().merged > 0)
        .map(|entry| {
            let outcome = entry.outcome;
            let contents = outcome.contents.max(1) as f64;
            let (lost, (low, high)) = match outcome.sampled {
                Some(sampled) => {
                    let (low, high) = sampled.page_loss;
                    (f64::midpoint(low, high), (low, high))
                }
                None => {
                    let lost = outcome.loss.first as f64;
                    (lost, outcome.loss_interval.unwrap_or((lost, lost)))
                }
            };
            Point {
                entry,
                saved: outcome.reduction().unwrap_or(0.0),
                lost: lost / contents,
                interval: (low / contents, high / contents),
            }
        })
        .collect()
}

fn draw(drawing: &Drawing, page: &Page<'_>, points: &[Point<'_>]) -> Markup {
    let bounds = Frame {
        left: drawing.margin,
        top: HEAD,
        right: drawing.width - 12.0,
        bottom: drawing.height - FOOT,
    };
    let start = bounds.left + NONE_WIDTH;
    let lost = points
        .iter()
        .flat_map(|point| [point.lost, point.interval.0, point.interval.1]);
    let x = Scale::of(
        lost.chain(page.evaluated.loss_max),
        (start, bounds.right - 14.0),
        bounds.left + NONE_WIDTH / 2.0,
    );
    let saved = points.iter().map(|point| point.saved);
    let y = Scale::of(
        saved,
        (bounds.bottom - 14.0, bounds.top + 14.0),
        bounds.bottom,
    );
    let named: Vec<Named> = points
        .iter()
        .map(|point| Named {
            x: x.place(point.lost),
            y: y.place(point.saved),
            line: (x.place(point.interval.0), x.place(point.interval.1)),
            width: width_of(&label(drawing, point)) + 4.0,
        })
        .collect();
    let gap = Frame {
        left: gap(x) - 1.0,
        right: gap(x) + 1.0,
        ..bounds
    };
    let frames = labels::place(&named, &bounds, gap);
    html! {
        svg class={ "chart " (drawing.class) } viewBox={ "0 0 " (drawing.width) " " (drawing.height) } role="img" aria-label="Share of URLs saved against share of page contents lost, a point for each rule; the table above has the same figures" {
            rect.plane x=(bounds.left) y=(bounds.top) width=(bounds.right - bounds.left) height=(bounds.bottom - bounds.top) {}
            (axes(&bounds, x, y))
            @if let Some(max) = page.evaluated.loss_max {
                line.cap x1=(place(x.place(max))) x2=(place(x.place(max))) y1=(bounds.top) y2=(bounds.bottom) {}
                text.tick x=(place(x.place(max) + 4.0)) y=(bounds.bottom - 6.0) { "limit" }
            }
            @for (named, point) in named.iter().zip(points) { (interval(named, words::class(point.entry.outcome.advice))) }
            @for ((named, point), frame) in named.iter().zip(points).zip(&frames) {
                @if let Some(frame) = frame { (name(named, frame, &label(drawing, point))) }
                g transform={ "translate(" (place(named.x)) " " (place(named.y)) ")" } {
                    title { (point.entry.name) ": saves " (share(point.saved)) " of URLs, loses " (share(point.lost)) " of page contents" }
                    (mark(words::class(point.entry.outcome.advice)))
                }
            }
        }
    }
}

fn label(drawing: &Drawing, point: &Point<'_>) -> String {
    if drawing.has_names {
        point.entry.name.to_owned()
    } else {
        point.entry.number.to_string()
    }
}

/// About the width of a name.
fn width_of(name: &str) -> f64 {
    let width = |c| match c {
        'w' | 'm' | 'W' | 'M' | '=' | '+' | '@' => 11.5,
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | '-' | ' ' => 5.6,
        _ => 8.2,
    };
    name.chars().map(width).sum()
}

/// The place of the line between no loss and the start of the axis.
fn gap(x: Scale) -> f64 {
    x.place(0.0) + NONE_WIDTH / 4.0
}

fn axes(bounds: &Frame, x: Scale, y: Scale) -> Markup {
    let none = x.place(0.0);
    let foot = bounds.bottom;
    html! {
        text.title x=(4) y=(16) { "URLs saved" }
        text.title.end x=(bounds.right) y=(foot + 46.0) { "page contents lost \u{2192}" }
        @for share_of_all in y.ticks() {
            @let at = place(y.place(share_of_all));
            line.grid x1=(bounds.left) x2=(bounds.right) y1=(at) y2=(at) {}
            text.tick.end x=(bounds.left - 8.0) y=(place(y.place(share_of_all) + 4.0)) { (share(share_of_all)) }
        }
        line.grid x1=(place(none)) x2=(place(none)) y1=(bounds.top) y2=(foot) {}
        text.tick.middle x=(place(none)) y=(foot + 20.0) { "none" }
        line.gap x1=(place(gap(x))) x2=(place(gap(x))) y1=(bounds.top) y2=(foot) {}
        @for (at, text) in spaced(x) {
            line.grid x1=(place(at)) x2=(place(at)) y1=(bounds.top) y2=(foot) {}
            text.tick.middle x=(place(at)) y=(foot + 20.0) { (text) }
        }
    }
}

/// Marks of the lower axis, as many as have room for their numbers.
fn spaced(x: Scale) -> Vec<(f64, String)> {
    let mut end = x.place(0.0) + width_of("none") / 2.0;
    let mut marks = Vec::new();
    for share_of_all in x.ticks() {
        let (at, text) = (x.place(share_of_all), share(share_of_all));
        let half = width_of(&text) / 2.0;
        if at - half >= end + TICK_GAP {
            end = at + half;
            marks.push((at, text));
        }
    }
    marks
}

fn interval(named: &Named, class: &str) -> Markup {
    let (low, high) = named.line;
    html! {
        @if high - low > 1.0 {
            g class={ "interval " (class) } {
                line x1=(place(low)) x2=(place(high)) y1=(place(named.y)) y2=(place(named.y)) {}
                @for end in [low, high] { line x1=(place(end)) x2=(place(end)) y1=(place(named.y - 4.0)) y2=(place(named.y + 4.0)) {} }
            }
        }
    }
}

fn name(named: &Named, frame: &Frame, text: &str) -> Markup {
    let (x, y) = frame.nearest(named.x, named.y);
    let is_far = (x - named.x).hypot(y - named.y) > 16.0;
    html! {
        @if is_far { line.leader x1=(place(named.x)) y1=(place(named.y)) x2=(place(x)) y2=(place(y)) {} }
        text.name.middle x=(place(f64::midpoint(frame.left, frame.right))) y=(place(frame.top + HEIGHT - 3.5)) { (text) }
    }
}

/// The sign of an advice, told by its shape too.
fn mark(advice: &str) -> Markup {
    html! {
        @match advice {
            "adopt" => circle.mark.adopt r="6.5" {},
            "some" => path.mark.some d="M0 -7.5 7.5 0 0 7.5 -7.5 0Z" {},
            "reject" => path.mark.reject d="M-5.5 -5.5 5.5 5.5M-5.5 5.5 5.5 -5.5" {},
            _ => circle.mark.open r="5.5" {},
        }
    }
}

fn name_of(advice: &str) -> &'static str {
    match advice {
        "adopt" => "adopt",
        "some" => "some sites only",
        "reject" => "reject",
        _ => "open",
    }
}

/// A place in a drawing, to a tenth.
fn place(at: f64) -> String {
    format!("{at:.1}")
}
