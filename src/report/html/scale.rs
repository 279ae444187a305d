//! From shares to places on an axis: logarithmic, since rules differ by orders of magnitude, with a place for none.

/// An axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// Powers of ten at both ends.
    from: i32,
    to: i32,
    /// Places of the ends.
    start: f64,
    end: f64,
    /// The place of none.
    none: f64,
}

impl Scale {
    /// An axis for these shares, those of 0 apart; `start` and `end` are its ends, `none` the place of 0.
    #[must_use]
    pub(super) fn of(
        shares: impl Iterator<Item = f64>,
        (start, end): (f64, f64),
        none: f64,
    ) -> Self {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for share in shares.filter(|share| *share > 0.0) {
            (low, high) = (low.min(share), high.max(share));
        }
        let (from, to) = if low > high {
            (-4, -1)
        } else {
            let from = decade(low.log10().floor());
            (from, decade(high.log10().ceil()).max(from + 1))
        };
        Self {
            from,
            to,
            start,
            end,
            none,
        }
    }

    /// The place of a share.
    #[must_use]
    pub(super) fn place(self, share: f64) -> f64 {
        if share <= 0.0 {
            return self.none;
        }
        let part = (share.log10() - f64::from(self.from)) / f64::from(self.to - self.from);
        self.start + part.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Shares that get a mark and a number.
    #[must_use]
    pub(super) fn ticks(self) -> Vec<f64> {
        let steps: &[f64] = match self.to - self.from {
            ..=1 => &[1.0, 2.0, 5.0],
            2 => &[1.0, 3.0],
            _ => &[1.0],
        };
        let all = (self.from..=self.to)
            .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
        all.filter(|share| *share <= 10_f64.powi(self.to) * 1.0001)
            .collect()
    }
}

/// A power of ten between a millionth of a percent and all.
#[expect(clippy::cast_possible_truncation, reason = "it is between -8 and 0")]
fn decade(power: f64) -> i32 {
    power.clamp(-8.0, 0.0) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covers_what_it_is_made_for() {
        let scale = Scale::of([0.0, 0.004, 0.3].into_iter(), (100.0, 400.0), 50.0);
        assert_eq!(scale.place(0.0), 50.0);
        assert_eq!(scale.place(0.001).round(), 100.0);
        assert_eq!(scale.place(0.1).round(), 300.0);
        assert_eq!(scale.place(1.0).round(), 400.0);
        assert_eq!(scale.ticks().len(), 4);
        let scale = Scale::of([0.2].into_iter(), (100.0, 0.0), 120.0);
        assert_eq!(scale.place(0.1).round(), 100.0);
        assert_eq!(scale.ticks().len(), 4);
        assert!(scale.place(0.2).is_finite());
        let empty = Scale::of([0.0].into_iter(), (0.0, 1.0), -1.0);
        assert!(!empty.ticks().is_empty());
        let all = Scale::of([1.0].into_iter(), (0.0, 1.0), -1.0);
        assert!(all.place(1.0).is_finite());
    }
}
