//! Numbers in words that a reader cannot take for more, or for less, than they are.

use indicatif::HumanCount;

/// A count, with marks between the thousands.
#[must_use]
pub(super) fn count(count: u64) -> String {
    HumanCount(count).to_string()
}

/// `one merge`, `2 merges`.
#[must_use]
pub(super) fn counted(n: u64, singular: &str, plural: &str) -> String {
    match n {
        1 => format!("1 {singular}"),
        _ => format!("{} {plural}", count(n)),
    }
}

/// A share in percent, to two digits: only none is 0 %, only all is 100 %.
#[must_use]
pub(super) fn share(share: f64) -> String {
    percent(share, f64::round)
}

/// An upper bound: never rounded down.
#[must_use]
pub(super) fn at_most(share: f64) -> String {
    percent(share, |scaled| (scaled - 1e-9).ceil())
}

/// A lower bound: never rounded up.
#[must_use]
pub(super) fn at_least(share: f64) -> String {
    percent(share, |scaled| (scaled + 1e-9).floor())
}

fn percent(share: f64, round: impl Fn(f64) -> f64) -> String {
    if share <= 0.0 {
        return "0\u{a0}%".to_owned();
    }
    if share >= 1.0 {
        return "100\u{a0}%".to_owned();
    }
    // What is close to all is told by the digits of what is missing.
    let smaller = share.min(1.0 - share) * 100.0;
    let decimals: usize = match smaller {
        10.0.. => 0,
        1.0.. => 1,
        0.1.. => 2,
        0.01.. => 3,
        0.001.. => 4,
        0.0001.. => 5,
        _ => 6,
    };
    let scale = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6][decimals];
    let rounded = round(share * 100.0 * scale) / scale;
    let text = format!("{rounded:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    match text {
        "0" => "less than 0.000001\u{a0}%".to_owned(),
        "100" => "almost 100\u{a0}%".to_owned(),
        _ => format!("{text}\u{a0}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_none_is_none_and_only_all_is_all() {
        for (number, text) in [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.142_35, "14 %"),
            (0.075, "7.5 %"),
            (0.999, "99.9 %"),
            (0.999_96, "99.996 %"),
            (0.000_812, "0.081 %"),
            (0.003, "0.3 %"),
            (1e-12, "less than 0.000001 %"),
            (1.0 - 1e-12, "almost 100 %"),
        ] {
            assert_eq!(share(number).replace('\u{a0}', " "), text, "{number}");
        }
    }

    #[test]
    fn bounds_are_rounded_away_from_what_they_claim() {
        let plain = |text: String| text.replace('\u{a0}', " ");
        assert_eq!(plain(at_most(0.074_02)), "7.5 %");
        assert_eq!(plain(at_most(0.075)), "7.5 %");
        assert_eq!(plain(at_least(0.925_99)), "92.5 %");
        assert_eq!(plain(at_least(0.925)), "92.5 %");
        assert_eq!(plain(at_least(1e-12)), "less than 0.000001 %");
    }
}
