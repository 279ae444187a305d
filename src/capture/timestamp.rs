//! A point in time as archives state it: UTC, up to nanoseconds, or unknown.

use std::ops::Range;

/// Seconds and nanoseconds since 1970-01-01T00:00:00Z, or unknown.
///
/// Unknown sorts last. A coarser date (`2024`) stands for its first instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
}

impl Default for Timestamp {
    fn default() -> Self {
        Self::UNKNOWN
    }
}

impl Timestamp {
    /// No date, or one that cannot be read.
    pub const UNKNOWN: Self = Self {
        seconds: i64::MAX,
        nanos: 0,
    };

    /// A known time. `nanos` is below 1,000,000,000.
    #[must_use]
    pub fn new(seconds: i64, nanos: u32) -> Self {
        Self { seconds, nanos }
    }

    /// Whether the time is known.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.seconds != i64::MAX
    }

    /// Seconds since the epoch; meaningless if unknown.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds of the second.
    #[must_use]
    pub fn nanos(self) -> u32 {
        self.nanos
    }

    /// Reads `WARC-Date`: W3C-DTF of any precision from the year to fractions of a second.
    ///
    /// What is no such date, or no day of the calendar (ClueWeb has `2009-03-65T…`), is unknown. Three liberties, all seen in archives:
    /// no zone is UTC, 14 or 17 digits are read as in an index, and digits beyond the nanosecond are cut.
    #[must_use]
    pub fn parse_w3cdtf(text: &[u8]) -> Self {
        let text = text.trim_ascii();
        let all_digits = text.iter().all(u8::is_ascii_digit);
        if all_digits && matches!(text.len(), 14 | 17) {
            return Self::parse_digits(text);
        }
        let mut rest = Rest(text);
        w3cdtf(&mut rest)
            .filter(|_| rest.0.is_empty())
            .unwrap_or(Self::UNKNOWN)
    }

    /// Reads the timestamp of an index line or ARC header: `YYYYMMDDhhmmss`, or 17 digits with milliseconds.
    ///
    /// A prefix that ends with a whole field (4, 6, 8, 10 or 12 digits, as in early ARC files) stands for its first instant; any other length is unknown.
    #[must_use]
    pub fn parse_digits(text: &[u8]) -> Self {
        match text.try_into() {
            Ok(digits) => Self::of_14_digits(digits),
            Err(_) => Self::digit_by_digit(text),
        }
    }

    /// As nearly all indexes have it, to the second; two digits are one number, and four of these are made at once.
    fn of_14_digits(digits: &[u8; 14]) -> Self {
        let both = [digits.first_chunk(), digits.last_chunk()];
        let both = both.map(|eight| eight.and_then(|eight| two_digit_numbers(*eight)));
        let [
            Some([century, year, month, _]),
            Some([day, hour, minute, second]),
        ] = both
        else {
            return Self::UNKNOWN;
        };
        let civil = Civil {
            year: century * 100 + year,
            month,
            day,
            hour,
            minute,
            second,
        };
        let seconds = civil.instant(0);
        seconds.map_or(Self::UNKNOWN, |seconds| Self::new(seconds, 0))
    }

    /// The same of any length, digit by digit.
    fn digit_by_digit(text: &[u8]) -> Self {
        let is_whole = matches!(text.len(), 4 | 6 | 8 | 10 | 12 | 14 | 17);
        if !is_whole || !text.iter().all(u8::is_ascii_digit) {
            return Self::UNKNOWN;
        }
        // What is left out is the first.
        let mut digits = *b"00000101000000000";
        digits[..text.len()].copy_from_slice(text);
        let number = |range: Range<usize>| {
            let digits = digits[range].iter();
            digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0'))
        };
        let civil = Civil {
            year: number(0..4),
            month: number(4..6),
            day: number(6..8),
            hour: number(8..10),
            minute: number(10..12),
            second: number(12..14),
        };
        let nanos = u32::try_from(number(14..17) * 1_000_000).expect("it is below a second");
        civil
            .instant(0)
            .map_or(Self::UNKNOWN, |seconds| Self::new(seconds, nanos))
    }

    /// Appends RFC 3339 in UTC, the fraction without trailing zeros; nothing if unknown.
    pub fn write_rfc3339(self, out: &mut Vec<u8>) {
        let Some((civil, nanos)) = self
            .is_known()
            .then(|| (civil_of(self.seconds), self.nanos))
        else {
            return;
        };
        let mut text = *b"0000-00-00T00:00:00.000000000";
        let mut start = 0;
        if (0..10_000).contains(&civil.year) {
            put_number(&mut text[..4], civil.year);
        } else {
            // RFC 3339 has four digits; of other years, as ISO 8601 has them, sign and digits come before the rest.
            out.extend_from_slice(format!("{:05}", civil.year).as_bytes());
            start = 4;
        }
        for (place, value) in [
            (5..7, civil.month),
            (8..10, civil.day),
            (11..13, civil.hour),
            (14..16, civil.minute),
            (17..19, civil.second),
        ] {
            put_number(&mut text[place], value);
        }
        let mut len = 19;
        if nanos != 0 {
            put_number(&mut text[20..], i64::from(nanos));
            let n_zeros = text.iter().rev().take_while(|digit| **digit == b'0');
            len = text.len() - n_zeros.count();
        }
        out.extend_from_slice(&text[start..len]);
        out.push(b'Z');
    }
}

/// A date of the proleptic Gregorian calendar and a time of day.
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

const DAY: i64 = 24 * 60 * 60;
/// The first seconds of the years 0000 and 10000: RFC 3339 can print nothing beyond.
const PRINTABLE: Range<i64> = -62_167_219_200..253_402_300_800;

impl Civil {
    /// Seconds since the epoch, `offset` seconds east of UTC; `None` for what is on no calendar.
    fn instant(&self, offset: i64) -> Option<i64> {
        let in_range = (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second <= 60;
        if !in_range {
            return None;
        }
        let time = (self.hour * 60 + self.minute) * 60 + self.second - offset;
        let seconds = days_since_epoch(self.year, self.month, self.day) * DAY + time;
        // A leap second is the last of a UTC day; it counts as the first of the next one.
        if self.second == 60 && seconds % DAY != 0 {
            return None;
        }
        PRINTABLE.contains(&seconds).then_some(seconds)
    }
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01. Years are counted from March, so that the leap day is the last of its year.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_since_epoch`], with the time of day.
fn civil_of(seconds: i64) -> Civil {
    let days = seconds.div_euclid(DAY) + 719_468;
    let time = seconds.rem_euclid(DAY);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = (month_from_march + 2) % 12 + 1;
    let year = year_of_era + days.div_euclid(146_097) * 400;
    Civil {
        year: if month <= 2 { year + 1 } else { year },
        month,
        day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
        hour: time / 3_600,
        minute: time / 60 % 60,
        second: time % 60,
    }
}

/// The numbers of two digits each that eight digits are; `None` if one is no digit.
fn two_digit_numbers(digits: [u8; 8]) -> Option<[i64; 4]> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let values = u64::from_le_bytes(digits) ^ (ONES * u64::from(b'0'));
    // A digit is below 16, and so it is with 6 more.
    let with_six = (values & (ONES * 0x7f)) + ONES * 6;
    if (values | with_six) & (ONES * 0xf0) != 0 {
        return None;
    }
    let numbers = (values * 10 + (values >> 8)).to_le_bytes();
    Some([0, 2, 4, 6].map(|place| i64::from(numbers[place])))
}

/// The text that is still to be read.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    /// Exactly `len` digits.
    fn number(&mut self, len: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(len)?;
        let value = digits.iter().try_fold(0, |value: i64, byte| {
            byte.is_ascii_digit()
                .then(|| value * 10 + i64::from(byte - b'0'))
        })?;
        self.0 = rest;
        Some(value)
    }

    /// One of `marks`, if it comes next.
    fn mark(&mut self, marks: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        let found = marks.contains(first).then_some(*first)?;
        self.0 = rest;
        Some(found)
    }

    /// Digits of a fraction, as nanoseconds.
    fn fraction(&mut self) -> Option<u32> {
        let len = self
            .0
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (digits, rest) = self.0.split_at(len);
        self.0 = rest;
        let nth = |index| digits.get(index).map_or(0, |digit| u32::from(digit - b'0'));
        (len > 0).then(|| (0..9).fold(0, |nanos, index| nanos * 10 + nth(index)))
    }
}

fn w3cdtf(rest: &mut Rest<'_>) -> Option<Timestamp> {
    let mut civil = Civil {
        year: rest.number(4)?,
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
    };
    let mut nanos = 0;
    let mut offset = 0;
    if rest.mark(b"-").is_some() {
        civil.month = rest.number(2)?;
        if rest.mark(b"-").is_some() {
            civil.day = rest.number(2)?;
            if rest.mark(b"Tt").is_some() {
                (civil.hour, civil.minute, civil.second, nanos) = time_of_day(rest)?;
                offset = zone(rest)?;
            }
        }
    }
    Some(Timestamp::new(civil.instant(offset)?, nanos))
}

fn time_of_day(rest: &mut Rest<'_>) -> Option<(i64, i64, i64, u32)> {
    let hour = rest.number(2)?;
    rest.mark(b":")?;
    let minute = rest.number(2)?;
    if rest.mark(b":").is_none() {
        return Some((hour, minute, 0, 0));
    }
    let second = rest.number(2)?;
    let nanos = match rest.mark(b".,") {
        Some(_) => rest.fraction()?,
        None => 0,
    };
    Some((hour, minute, second, nanos))
}

/// Seconds east of UTC.
fn zone(rest: &mut Rest<'_>) -> Option<i64> {
    let sign = match rest.mark(b"Zz+-") {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Some(0),
    };
    let hours = rest.number(2)?;
    // ISO 8601 admits `+0200`, and some crawlers write it.
    rest.mark(b":");
    let minutes = rest.number(2)?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

/// Writes a number, not negative, in as many digits as `text` has bytes.
fn put_number(text: &mut [u8], value: i64) {
    let mut left = value.unsigned_abs();
    for digit in text.iter_mut().rev() {
        *digit = b'0' + (left % 10).to_le_bytes()[0];
        left /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn printed(timestamp: Timestamp) -> String {
        let mut out = Vec::new();
        timestamp.write_rfc3339(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn reads_every_precision_of_w3cdtf() {
        for (text, expected) in [
            ("2024", "2024-01-01T00:00:00Z"),
            ("2024-02", "2024-02-01T00:00:00Z"),
            ("2024-02-29", "2024-02-29T00:00:00Z"),
            ("2024-05-01T12:30Z", "2024-05-01T12:30:00Z"),
            ("2024-05-01T12:30:09Z", "2024-05-01T12:30:09Z"),
            ("2024-05-01T12:00:00.5Z", "2024-05-01T12:00:00.5Z"),
            ("2024-05-01T12:00:00.500Z", "2024-05-01T12:00:00.5Z"),
            (
                "2024-05-01T12:00:00.123456789Z",
                "2024-05-01T12:00:00.123456789Z",
            ),
            (
                "2024-05-01T12:00:00.1234567899Z",
                "2024-05-01T12:00:00.123456789Z",
            ),
            ("2024-05-01T00:30+02:00", "2024-04-30T22:30:00Z"),
            ("2024-05-01T12:00:00-0330", "2024-05-01T15:30:00Z"),
            ("2024-05-01t12:00:00z", "2024-05-01T12:00:00Z"),
            ("2024-05-01T12:00:00", "2024-05-01T12:00:00Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
            ("20240501123009", "2024-05-01T12:30:09Z"),
            (" 2024-05-01 ", "2024-05-01T00:00:00Z"),
            ("0000-01-01", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(
                printed(Timestamp::parse_w3cdtf(text.as_bytes())),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn no_date_of_the_calendar_is_unknown() {
        for text in [
            "",
            "-",
            "2009-03-65T08:34:32-0700",
            "2023-02-29",
            "1900-02-29T00:00:00Z",
            "2024-13",
            "2024-00-01",
            "2024-01-00",
            "2024-05-01T24:00:00Z",
            "2024-05-01T12:60Z",
            "2024-05-01T12:00:60Z",
            "2024-05-01T12:00:00.Z",
            "2024-05-01T12:00:00+25:00",
            "2024-05-01T12:00:00Zjunk",
            "2024-05-01T12Z",
            "2024-05-01 12:00:00Z",
            "2024-5-1",
            "0000-01-01T00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "Wed, 01 May 2024 12:00:00 GMT",
            "99999999999999999999",
        ] {
            assert_eq!(
                Timestamp::parse_w3cdtf(text.as_bytes()),
                Timestamp::UNKNOWN,
                "{text}"
            );
        }
    }

    #[test]
    fn reads_digits_of_indexes() {
        for (text, expected) in [
            ("20240501120009", "2024-05-01T12:00:09Z"),
            ("20240501120009500", "2024-05-01T12:00:09.5Z"),
            ("20240501120009007", "2024-05-01T12:00:09.007Z"),
            ("202405011200", "2024-05-01T12:00:00Z"),
            ("20240501", "2024-05-01T00:00:00Z"),
            ("2024", "2024-01-01T00:00:00Z"),
            ("", ""),
            ("202", ""),
            ("2024050112000", ""),
            ("2024050112000950", ""),
            ("20240532120009", ""),
            ("2024-5-1120009", ""),
            ("20240501120009Z", ""),
        ] {
            assert_eq!(
                printed(Timestamp::parse_digits(text.as_bytes())),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn unknown_sorts_last() {
        assert!(Timestamp::parse_w3cdtf(b"9999-12-31") < Timestamp::UNKNOWN);
    }

    #[test]
    fn prints_times_beyond_four_digits_of_year() {
        let printed_of = |seconds| printed(Timestamp::new(seconds, 0));
        assert_eq!(printed_of(-62_167_219_201), "-0001-12-31T23:59:59Z");
        assert_eq!(printed_of(253_402_300_800), "10000-01-01T00:00:00Z");
    }

    /// The slow twin: counts days one by one from 1970.
    fn date_by_counting(days: i64) -> (i64, i64, i64) {
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for _ in 0..days {
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        (year, month, day)
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_as_the_same(seconds in PRINTABLE, nanos in 0u32..1_000_000_000) {
            let timestamp = Timestamp::new(seconds, nanos);
            prop_assert_eq!(Timestamp::parse_w3cdtf(printed(timestamp).as_bytes()), timestamp);
        }

        #[test]
        fn days_agree_with_counting(days in 0i64..60_000) {
            let (year, month, day) = date_by_counting(days);
            prop_assert_eq!(days_since_epoch(year, month, day), days);
            let civil = civil_of(days * DAY + DAY - 1);
            prop_assert_eq!((civil.year, civil.month, civil.day), (year, month, day));
        }

        #[test]
        fn fourteen_digits_are_read_as_one_by_one(digits in "[0-9]{14}|(19|20)[0-9]{2}[01][0-9][0-3][0-9][0-2][0-9][0-5][0-9][0-6][0-9]", at in 0_usize..14, byte: u8, is_spoilt: bool) {
            let mut digits: [u8; 14] = digits.into_bytes().try_into().unwrap();
            if is_spoilt {
                digits[at] = byte;
            }
            prop_assert_eq!(Timestamp::of_14_digits(&digits), Timestamp::digit_by_digit(&digits));
        }

        #[test]
        fn digits_read_as_the_same_with_punctuation(digits in "(19|20)[0-9]{2}([01][0-9]([0-3][0-9]([0-2][0-9]([0-5][0-9]([0-6][0-9]([0-9]{3})?)?)?)?)?)?") {
            let marks = [(14, "."), (12, ":"), (10, ":"), (8, "T"), (6, "-"), (4, "-")];
            let mut text = digits.clone();
            if digits.len() == 10 {
                text.push_str("00");
            }
            for (at, mark) in marks {
                if at < text.len() {
                    text.insert_str(at, mark);
                }
            }
            let expected = Timestamp::parse_w3cdtf(text.as_bytes());
            prop_assert_eq!(Timestamp::parse_digits(digits.as_bytes()), expected, "{}", text);
        }

        #[test]
        fn any_bytes_are_read(text in "[0-9TZ:.+-]{0,30}|\\PC{0,30}") {
            for timestamp in [Timestamp::parse_w3cdtf(text.as_bytes()), Timestamp::parse_digits(text.as_bytes())] {
                prop_assert!(timestamp == Timestamp::UNKNOWN || PRINTABLE.contains(&timestamp.seconds));
            }
        }
    }
}
