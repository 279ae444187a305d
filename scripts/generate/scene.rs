//! Scenes: small stories of a few captures each, whose truth is known because nothing else touches their URLs.

use super::capture::{Capture, Coding, Declared, Framing, Kind, Original, Role, Says, Wholeness};
use super::spelling;
use super::stage::{Evidence, Stage};
use super::text::Body;

const HOUR: i64 = 3_600;

type Scene = fn(&mut Stage<'_>) -> Vec<Capture>;

/// The scenes and their shares.
const OF_ALL: [(usize, Scene); 16] = [
    (1600, single),
    (70, same_again),
    (50, changed),
    (60, spellings),
    (60, copies),
    (60, near_miss),
    (40, moved),
    (10, moved_for_now),
    (10, round_and_round),
    (10, moved_away),
    (30, unchanged),
    (5, unchanged_alone),
    (10, posted),
    (10, not_found),
    (10, nothing),
    (5, other_protocol),
];

/// Those that need bodies.
const OF_BODIES: [(usize, Scene); 5] = [
    (40, encoded),
    (8, truncated),
    (8, segmented),
    (8, stored_as_resource),
    (8, declared_oddly),
];

impl Stage<'_> {
    /// How many different scenes there are.
    pub(crate) const N_SCENES: usize = OF_ALL.len() + OF_BODIES.len();

    /// One scene of the repertoire; where the output cannot tell it, another.
    pub(crate) fn play_nth(&mut self, index: usize) -> Vec<Capture> {
        let mut scenes = self.repertoire();
        match scenes.nth(index) {
            Some((_, scene)) => scene(self),
            None => single(self),
        }
    }

    fn repertoire(&self) -> impl Iterator<Item = (usize, Scene)> + use<> {
        let of_bodies: &[(usize, Scene)] = match self.evidence {
            Evidence::Bodies => &OF_BODIES,
            Evidence::Declared => &[],
        };
        OF_ALL.iter().chain(of_bodies).copied()
    }

    /// The captures of some scene, in no particular order of time.
    pub(crate) fn play(&mut self) -> Vec<Capture> {
        let all = self.repertoire().map(|(share, _)| share).sum();
        let mut ticket = self.random.below(all);
        for (share, scene) in self.repertoire() {
            match ticket.checked_sub(share) {
                Some(rest) => ticket = rest,
                None => return scene(self),
            }
        }
        single(self)
    }
}

/// Marks the first as keeper and the others as `role`.
fn cast(captures: &mut [Capture], role: Role, planted: &str) {
    for (index, capture) in captures.iter_mut().enumerate() {
        capture.truth.role = Some(if index == 0 { Role::Keeper } else { role });
        capture.truth.planted = planted.to_owned();
    }
}

fn all_unique(mut captures: Vec<Capture>, planted: &str) -> Vec<Capture> {
    for capture in &mut captures {
        capture.truth.planted = planted.to_owned();
    }
    captures
}

fn single(stage: &mut Stage<'_>) -> Vec<Capture> {
    vec![stage.fresh()]
}

/// One URL, fetched several times, always the same.
fn same_again(stage: &mut Stage<'_>) -> Vec<Capture> {
    let first = stage.fresh();
    let mut captures = vec![first.clone()];
    for n in 1..2 + stage.random.below(3) {
        let time = stage.later(first.time, n);
        captures.push(stage.capture(first.url.clone(), first.truth.class, time, first.body));
    }
    cast(&mut captures, Role::Duplicate, "same-again");
    captures
}

/// One URL, fetched several times, each time another page.
fn changed(stage: &mut Stage<'_>) -> Vec<Capture> {
    let first = stage.fresh();
    let mut captures = vec![first.clone()];
    for n in 1..2 + stage.random.below(2) {
        let (time, body) = (stage.later(first.time, n), stage.page());
        captures.push(stage.capture(first.url.clone(), first.truth.class, time, body));
    }
    cast(&mut captures, Role::Version, "changed");
    captures
}

/// One page under several spellings of its URL that `safe@1` makes one.
fn spellings(stage: &mut Stage<'_>) -> Vec<Capture> {
    let first = stage.fresh();
    let mut captures = vec![first.clone()];
    for n in 1..2 + stage.random.below(3) {
        let time = stage.later(first.time, n);
        let url = spelling::spell(&first.url, stage.random.below(spelling::WAYS));
        captures.push(stage.capture(url, first.truth.class, time, first.body));
    }
    cast(&mut captures, Role::Duplicate, "spelling");
    captures
}

/// One page under other URLs, on the same site and others.
fn copies(stage: &mut Stage<'_>) -> Vec<Capture> {
    let first = stage.fresh();
    let mut captures = vec![first.clone()];
    for n in 1..2 + stage.random.below(3) {
        let time = stage.later(first.time, n);
        let (url, class) = (stage.url(), stage.class());
        // Two URLs of one scene could be the same by chance.
        let url = url.replacen("://", &format!("://copy{n}."), 1);
        captures.push(stage.capture(url, class, time, first.body));
    }
    cast(&mut captures, Role::Duplicate, "copy");
    captures
}

/// Two URLs that a careless rule makes one, with two pages.
fn near_miss(stage: &mut Stage<'_>) -> Vec<Capture> {
    let time = stage.now();
    let (host, path) = (stage.host(), stage.path());
    let (one, other) = spelling::near_miss(&path, stage.random.below(spelling::NEAR_MISSES));
    let mut captures = Vec::new();
    for (n, path) in [one, other].into_iter().enumerate() {
        let (class, body, time) = (stage.class(), stage.page(), stage.later(time, n));
        captures.push(stage.capture(format!("http://{host}{path}"), class, time, body));
    }
    all_unique(captures, "near-miss")
}

/// A capture that redirects to `target`.
fn redirect(stage: &mut Stage<'_>, time: i64, status: u16, target: &str) -> Capture {
    let (url, class, body) = (stage.url(), stage.class(), stage.notice());
    // Each hop on its own host: the URLs of one scene could be the same by chance.
    let url = url.replacen("://", &format!("://hop{class}."), 1);
    let mut capture = stage.capture(url, class, time, body);
    capture.status = status;
    capture.location = Some(target.to_owned());
    capture.truth.page = None;
    capture
}

/// A page and a chain of permanent redirects to it.
fn moved(stage: &mut Stage<'_>) -> Vec<Capture> {
    let page = stage.fresh();
    let mut captures = vec![page.clone()];
    let mut target = page.url.clone();
    for n in 1..2 + stage.random.below(4) {
        let status = *stage.random.pick(&[301, 308]);
        let time = page.time - i64::try_from(n).unwrap_or(0);
        let mut hop = redirect(stage, time, status, &target);
        hop.truth.page = page.truth.page;
        target.clone_from(&hop.url);
        captures.push(hop);
    }
    cast(&mut captures, Role::Alias, "moved");
    captures
}

/// A page and a temporary redirect to it: no evidence by default.
fn moved_for_now(stage: &mut Stage<'_>) -> Vec<Capture> {
    let page = stage.fresh();
    let status = *stage.random.pick(&[302, 303, 307]);
    let hop = redirect(stage, page.time - 1, status, &page.url);
    all_unique(vec![page, hop], "moved-for-now")
}

/// Redirects that come round.
fn round_and_round(stage: &mut Stage<'_>) -> Vec<Capture> {
    let time = stage.now();
    let mut captures: Vec<Capture> = Vec::new();
    for n in 0..2 + stage.random.below(3) {
        let target = captures.last().map_or(String::new(), |hop| hop.url.clone());
        let time = time + i64::try_from(n).unwrap_or(0);
        captures.push(redirect(stage, time, 301, &target));
    }
    captures[0].location = captures.last().map(|hop| hop.url.clone());
    all_unique(captures, "loop")
}

/// A redirect to what was not captured.
fn moved_away(stage: &mut Stage<'_>) -> Vec<Capture> {
    let time = stage.now();
    let target = format!("https://elsewhere.example{}", stage.path());
    all_unique(vec![redirect(stage, time, 301, &target)], "moved-away")
}

/// A page and revisits of it, at its own URL or another.
fn unchanged(stage: &mut Stage<'_>) -> Vec<Capture> {
    let page = stage.fresh();
    let mut captures = vec![page.clone()];
    for n in 1..2 + stage.random.below(3) {
        let time = stage.later(page.time, n);
        let says = *stage.random.pick(&[
            Says::UriAndDate,
            Says::RecordId,
            Says::Digest,
            Says::NotModified,
        ]);
        let is_elsewhere = says != Says::NotModified && stage.random.chance(0.3);
        let (url, class) = match is_elsewhere {
            true => (
                format!("{}?copy={n}", page.url.replace('?', "/")),
                stage.class(),
            ),
            false => (page.url.clone(), page.truth.class),
        };
        let mut revisit = stage.capture(url, class, time, page.body);
        revisit.framing = Framing::Length;
        revisit.status = if says == Says::NotModified { 304 } else { 200 };
        revisit.kind = Kind::Revisit(Original {
            url: page.url.clone(),
            time: page.time,
            says,
        });
        captures.push(revisit);
    }
    cast(&mut captures, Role::Duplicate, "revisit");
    captures
}

/// A revisit of what is not in the archive.
fn unchanged_alone(stage: &mut Stage<'_>) -> Vec<Capture> {
    let mut revisit = stage.fresh();
    revisit.framing = Framing::Length;
    revisit.kind = Kind::Revisit(Original {
        url: revisit.url.clone(),
        time: revisit.time - 90 * 24 * HOUR,
        says: Says::UriAndDate,
    });
    all_unique(vec![revisit], "dangling")
}

/// One URL, asked for with POST and two bodies, and with GET.
fn posted(stage: &mut Stage<'_>) -> Vec<Capture> {
    let first = stage.fresh();
    let mut captures = vec![first.clone()];
    for n in 1..3 {
        let (time, class, body) = (stage.later(first.time, n), stage.class(), stage.page());
        let mut capture = stage.capture(first.url.clone(), class, time, body);
        capture.posted = Some(format!("q={n}&page={}", stage.next_scene));
        captures.push(capture);
    }
    let mut captures = all_unique(captures, "posted");
    for capture in &mut captures[1..] {
        capture.truth.planted = "posted:post".to_owned();
    }
    captures
}

/// Two URLs of which a server says the same: no page.
fn not_found(stage: &mut Stage<'_>) -> Vec<Capture> {
    let time = stage.now();
    let (host, body) = (stage.host(), stage.notice());
    let mut captures = Vec::new();
    for n in 0..2 {
        let (time, class) = (stage.later(time, n), stage.class());
        let url = format!("http://{host}{}-{n}", stage.path());
        let mut capture = stage.capture(url, class, time, body);
        capture.status = 404;
        capture.truth.page = None;
        captures.push(capture);
    }
    all_unique(captures, "not-found")
}

/// Empty bodies, which prove nothing about two URLs.
fn nothing(stage: &mut Stage<'_>) -> Vec<Capture> {
    let time = stage.now();
    let mut captures = Vec::new();
    for n in 0..2 {
        let (time, class) = (stage.later(time, n), stage.class());
        let url = stage.url().replacen("://", &format!("://empty{n}."), 1);
        let mut capture = stage.capture(url, class, time, Body::Empty);
        capture.framing = Framing::Length;
        captures.push(capture);
    }
    all_unique(captures, "empty")
}

fn other_protocol(stage: &mut Stage<'_>) -> Vec<Capture> {
    let time = stage.now();
    let (url, class) = (
        format!("dns:host{}.example", stage.next_scene),
        stage.class(),
    );
    let body = stage.line();
    let mut capture = stage.capture(url, class, time, body);
    capture.framing = Framing::Length;
    capture.status = 0;
    all_unique(vec![capture], "other-protocol")
}

/// One page in several content codings.
fn encoded(stage: &mut Stage<'_>) -> Vec<Capture> {
    let mut captures = same_again(stage);
    for capture in &mut captures {
        capture.coding = *stage.random.pick(&[
            Coding::Identity,
            Coding::Gzip,
            Coding::Deflate,
            Coding::Brotli,
            Coding::Zstd,
        ]);
    }
    cast(&mut captures, Role::Duplicate, "encoded");
    captures
}

/// Two captures of one URL of which only the start is stored: nothing to judge by.
fn truncated(stage: &mut Stage<'_>) -> Vec<Capture> {
    let mut captures = same_again(stage);
    captures.truncate(2);
    for capture in &mut captures {
        capture.wholeness = Wholeness::Truncated;
        capture.framing = Framing::Length;
        capture.truth.page = None;
    }
    cast(&mut captures, Role::Unjudged, "truncated");
    captures
}

fn segmented(stage: &mut Stage<'_>) -> Vec<Capture> {
    let mut capture = stage.fresh();
    capture.wholeness = Wholeness::Segmented;
    capture.framing = Framing::Length;
    all_unique(vec![capture], "segmented")
}

/// A page that was also stored without its HTTP envelope.
fn stored_as_resource(stage: &mut Stage<'_>) -> Vec<Capture> {
    let mut captures = copies(stage);
    for capture in &mut captures[1..] {
        capture.kind = Kind::Resource;
        capture.framing = Framing::Length;
        capture.status = 0;
    }
    cast(&mut captures, Role::Duplicate, "resource");
    captures
}

/// Declared digests of several sorts, one of them another payload's.
fn declared_oddly(stage: &mut Stage<'_>) -> Vec<Capture> {
    let mut captures = copies(stage);
    for (capture, declared) in
        captures[1..]
            .iter_mut()
            .zip([Declared::Sha256, Declared::Sha1Hex, Declared::Absent])
    {
        capture.declared = declared;
    }
    cast(&mut captures, Role::Duplicate, "declared-oddly");
    let mut wrong = stage.fresh();
    wrong.declared = Declared::Wrong;
    wrong.truth.planted = "declared-wrong".to_owned();
    captures.push(wrong);
    captures
}

/// One page at many unrelated URLs of one host: a parked site, an error page with status 200.
pub(crate) fn boilerplate(stage: &mut Stage<'_>, n_urls: usize) -> Vec<Capture> {
    let time = stage.now();
    let (host, body) = (format!("parked{}.example", stage.next_scene), stage.page());
    let mut captures = Vec::new();
    for n in 0..n_urls {
        let class = stage.class();
        let url = format!("http://{host}{}-{n}", stage.path());
        let time = time + i64::try_from(n).unwrap_or(0);
        let mut capture = stage.capture(url, class, time, body);
        capture.truth.page = None;
        captures.push(capture);
    }
    // Fewer than the default limit are copies of one page.
    assert!(n_urls > 50, "boilerplate starts at 51 URLs");
    all_unique(captures, "boilerplate")
}

/// A URL that is another page at each fetch: a clock, a counter, an advertisement.
pub(crate) fn unstable(stage: &mut Stage<'_>) -> Vec<Capture> {
    let mut captures = changed(stage);
    let host = format!("unstable{}.example", stage.next_scene % 40);
    for capture in &mut captures {
        let (scheme, rest) = capture.url.split_once("://").unwrap_or(("http", ""));
        let path = rest.split_once('/').map_or("", |(_, path)| path);
        capture.url = format!("{scheme}://{host}/{path}");
    }
    cast(&mut captures, Role::Version, "unstable");
    captures
}
