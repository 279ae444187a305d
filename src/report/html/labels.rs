//! Where the names of points stand, so that none covers another, or a point.

/// A rectangle, y downward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

/// What is to be named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub(super) x: f64,
    pub(super) y: f64,
    /// Ends of the line through it, which a name better does not cover.
    pub(super) line: (f64, f64),
    /// Of its name.
    pub(super) width: f64,
}

/// Of a point, from its middle.
const POINT_RADIUS: f64 = 7.0;
/// Names are this high.
pub(super) const HEIGHT: f64 = 15.0;
/// How far a name may be from its point.
const DISTANCES: [f64; 12] = [
    4.0, 12.0, 22.0, 34.0, 48.0, 64.0, 82.0, 102.0, 124.0, 148.0, 176.0, 210.0,
];
/// Directions in which a name can lie; right and left first, as these read best.
const DIRECTIONS: [(f64, f64); 12] = [
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.87, -0.5),
    (0.87, 0.5),
    (-0.87, -0.5),
    (-0.87, 0.5),
    (0.5, -0.87),
    (0.5, 0.87),
    (-0.5, -0.87),
    (-0.5, 0.87),
    (0.0, -1.0),
    (0.0, 1.0),
];
/// How far the ends of a line reach up and down.
const LINE_REACH: f64 = 5.0;
/// What it costs to cover a line, as distance.
const LINE_COST: f64 = 40.0;

impl Frame {
    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_within(&self, bounds: &Self) -> bool {
        self.left >= bounds.left
            && self.right <= bounds.right
            && self.top >= bounds.top
            && self.bottom <= bounds.bottom
    }

    /// The place in it that is nearest to a point.
    #[must_use]
    pub(super) fn nearest(&self, x: f64, y: f64) -> (f64, f64) {
        (
            x.clamp(self.left, self.right),
            y.clamp(self.top, self.bottom),
        )
    }
}

/// A frame for each name, in the order of the points; `None` where there is no room left. `gap` is a line that belongs to no point.
#[must_use]
pub(super) fn place(points: &[Named], bounds: &Frame, gap: Frame) -> Vec<Option<Frame>> {
    let discs: Vec<Frame> = points.iter().map(disc).collect();
    let lines: Vec<Frame> = points.iter().map(line).chain([gap]).collect();
    let mut frames: Vec<Option<Frame>> = vec![None; points.len()];
    for (index, point) in points.iter().enumerate() {
        let best = candidates(point)
            .filter(|(frame, _)| {
                frame.is_within(bounds)
                    && !discs.iter().any(|disc| disc.overlaps(frame))
                    && !frames.iter().flatten().any(|placed| placed.overlaps(frame))
            })
            .map(|(frame, distance)| {
                let covered = lines.iter().filter(|line| line.overlaps(&frame)).count();
                (frame, distance + covered as f64 * LINE_COST)
            })
            .min_by(|a, b| a.1.total_cmp(&b.1));
        frames[index] = best.map(|(frame, _)| frame);
    }
    frames
}

fn disc(point: &Named) -> Frame {
    Frame {
        left: point.x - POINT_RADIUS,
        top: point.y - POINT_RADIUS,
        right: point.x + POINT_RADIUS,
        bottom: point.y + POINT_RADIUS,
    }
}

fn line(point: &Named) -> Frame {
    Frame {
        left: point.line.0 - 1.0,
        top: point.y - LINE_REACH,
        right: point.line.1 + 1.0,
        bottom: point.y + LINE_REACH,
    }
}

/// Frames around a point, with their distance.
fn candidates(point: &Named) -> impl Iterator<Item = (Frame, f64)> + use<'_> {
    DISTANCES.into_iter().flat_map(move |distance| {
        DIRECTIONS.into_iter().map(move |(right, down)| {
            let reach = POINT_RADIUS + distance;
            let (x, y) = (point.x + right * reach, point.y + down * reach);
            let left = match right {
                0.3.. => x,
                ..-0.3 => x - point.width,
                _ => x - point.width / 2.0,
            };
            let top = y - HEIGHT / 2.0 + down * HEIGHT / 2.0;
            let frame = Frame {
                left,
                top,
                right: left + point.width,
                bottom: top + HEIGHT,
            };
            (frame, distance)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Frame = Frame {
        left: 0.0,
        top: 0.0,
        right: 880.0,
        bottom: 440.0,
    };

    const GAP: Frame = Frame {
        left: 699.0,
        right: 701.0,
        ..BOUNDS
    };

    fn check(points: &[Named]) {
        let frames = place(points, &BOUNDS, GAP);
        for (index, frame) in frames.iter().enumerate() {
            let frame = frame.expect("there is room");
            assert!(frame.is_within(&BOUNDS));
            for other in frames[..index].iter().flatten() {
                assert!(!other.overlaps(&frame), "{other:?} {frame:?}");
            }
            for point in points {
                assert!(!disc(point).overlaps(&frame), "{point:?} {frame:?}");
            }
        }
    }

    #[test]
    fn no_name_covers_another_or_a_point() {
        let at = |x: f64, y: f64| Named {
            x,
            y,
            line: (x - 30.0, x + 30.0),
            width: 150.0,
        };
        check(&[at(400.0, 200.0)]);
        check(&[at(400.0, 200.0); 20]);
        check(&[
            at(0.0, 0.0),
            at(880.0, 440.0),
            at(0.0, 440.0),
            at(880.0, 0.0),
        ]);
        let row: Vec<Named> = (0..25_u8)
            .map(|n| at(f64::from(n) * 35.0, 200.0 + f64::from(n % 3)))
            .collect();
        check(&row);
    }

    #[test]
    fn without_room_a_name_is_left_out() {
        let wide = Named {
            x: 10.0,
            y: 10.0,
            line: (0.0, 20.0),
            width: 2000.0,
        };
        assert_eq!(place(&[wide], &BOUNDS, GAP), [None]);
    }

    #[test]
    fn no_line_is_covered_where_there_is_room() {
        let point = Named {
            x: 500.0,
            y: 200.0,
            line: (400.0, 600.0),
            width: 150.0,
        };
        let beside_gap = Named {
            x: 670.0,
            line: (670.0, 670.0),
            ..point
        };
        for frame in place(&[point, beside_gap], &BOUNDS, GAP) {
            let frame = frame.expect("there is room");
            assert!(!line(&point).overlaps(&frame), "{frame:?}");
            assert!(!GAP.overlaps(&frame), "{frame:?}");
        }
    }
}
