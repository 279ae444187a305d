//! Lengths that lie, bytes that belong to no record, records that are cut.

use super::*;

#[test]
fn takes_the_member_end_for_true_where_a_length_lies() {
    let b = response("b", "200 OK", b"more");
    let block = http("200 OK", b"a body of some length");
    let n = i64::try_from(block.len()).unwrap();
    for length in [-5, -1, 1, 3, 5, 6, 1000] {
        let a = lying("response", &uri("a"), &(n + length).to_string(), &block);
        members(&[&a, &b], "r a:21 !0+? end1 r b:4 end1");
    }
    for length in ["", "-1", "x", "9223372036854775808"] {
        let a = lying("response", &uri("a"), length, &block);
        members(&[&a, &b], "r a:21 !0+? end1 r b:4 end1");
    }
}

#[test]
fn goes_on_at_the_next_record_where_a_length_lies() {
    let b = response("b", "200 OK", b"more");
    let block = http("200 OK", b"a body of some length");
    let n = i64::try_from(block.len()).unwrap();
    for length in [-5, -1] {
        let a = lying("response", &uri("a"), &(n + length).to_string(), &block);
        let lost = a.len();
        let bytes = 21 + length;
        plain_in_pieces(
            &[&a[..], &b].concat(),
            &format!("r a:Cut:{bytes} !0+{lost} r b:4"),
        );
    }
    for length in [1, 3] {
        let a = lying("response", &uri("a"), &(n + length).to_string(), &block);
        let lost = a.len();
        plain_in_pieces(
            &[&a[..], &b].concat(),
            &format!("r a:Cut:21 !0+{lost} r b:4"),
        );
    }
    for length in ["5", "-1", "x", "", "100", "9223372036854775808", "400"] {
        let length = length
            .parse()
            .map_or(length.to_owned(), |more: i64| match more {
                1..1000 => (n + more).to_string(),
                _ => length.to_owned(),
            });
        let a = lying("response", &uri("a"), &length, &block);
        let lost = a.len();
        plain(
            &[&a[..], &b, &b].concat(),
            &format!("r a:Cut:21 !0+{lost} r b:4 r b:4"),
        );
    }
}

#[test]
fn takes_nuls_at_the_end_of_a_block_for_a_part_of_it() {
    let b = response("b", "200 OK", b"more");
    let block = http("200 OK", b"body\0\0");
    for less in [1, 2] {
        let a = lying(
            "response",
            &uri("a"),
            &(block.len() - less).to_string(),
            &block,
        );
        members(&[&a, &b], "r a:6 !0+? end1 r b:4 end1");
        let lost = a.len();
        plain_in_pieces(
            &[&a[..], &b].concat(),
            &format!("r a:Cut:6 !0+{lost} r b:4"),
        );
    }
}

#[test]
fn names_what_belongs_to_no_record() {
    let a = response("a", "200 OK", b"body");
    let n = a.len();
    plain_in_pieces(
        &[&a[..], b"garbage WARC/ \nWARC/1.x\r\n more\n", &a].concat(),
        &format!("r a:4 !{n}+31 r a:4"),
    );
    plain_in_pieces(&[&a[..], b"garbage"].concat(), &format!("r a:4 !{n}+7"));
    plain_in_pieces(&[b"garbage", &a[..]].concat(), "!0+7 r a:4");
    plain_in_pieces(&[&a[..], b"WA"].concat(), &format!("r a:4 !{n}+2"));
    // A header without a field of WARC's counts where it starts a line, wherever the pieces are cut.
    let bare = b"WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    plain_in_pieces(&[&b"garbage\n"[..], bare].concat(), "!0+8 r");
    members(
        &[&a, b"garbage in a member", &a],
        "r a:4 end1 !100+? r a:4 end1",
    );
}

#[test]
fn a_block_without_length_ends_at_a_record_that_pieces_of_a_map_cut() {
    let bad = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: x\r\n\r\n";
    let text = [&bad[..], &bad[..]].concat();
    let n = bad.len();
    for size in n - 3..n + 20 {
        let mut log = Log::default();
        let mut reader = Reader::over_map(FileId(0), &text, VERIFY);
        for (index, bytes) in text.chunks(size).enumerate() {
            let offset = (index * size) as u64;
            reader.push(Piece::Bytes { bytes, offset }, &mut |event| {
                log.take(&event);
            });
        }
        reader.finish(&mut |event| log.take(&event));
        let expected = format!("r !0+{n} r !{n}+{n}");
        assert_eq!(log.text.trim_end(), expected, "in pieces of {size}");
    }
}

#[test]
fn a_block_without_length_ends_at_a_record_that_pieces_of_a_stream_cut() {
    let bad = b"WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: x\r\n\r\nWARC/1.x\nWARC/\nWA\n";
    let text = [&bad[..], &bad[..], b"WARC/"].concat();
    let n = bad.len();
    for size in 1..n + 20 {
        let log = read_stream(&text, size);
        let expected = format!("r !0+{n} r !{n}+{}", n + 5);
        assert_eq!(log.text.trim_end(), expected, "in pieces of {size}");
    }
}

#[test]
fn marks_a_record_cut_where_the_input_ends() {
    let a = response("a", "200 OK", b"a body of some length");
    let n = a.len();
    for cut in [5, 20] {
        let bytes = 25 - cut;
        let expected = format!("r a:Cut:{bytes} !0+{}", n - cut);
        plain_in_pieces(&a[..n - cut], &expected);
    }
    plain_in_pieces(&a[..n - 60], &format!("r !0+{}", n - 60));
    assert_eq!(plain_in_pieces(&a[..n - 4], "r a:21"), ["record-spacing"]);
    plain_in_pieces(b"WARC/1.1\r\n", "r !0+10");
}

#[test]
fn finds_the_record_that_stands_where_another_was_cut() {
    let a = response("a", "200 OK", b"a body of some length");
    let b = response("b", "200 OK", b"more");
    for cut in 1..a.len() {
        let log = read_map(&[&a[..cut], &b].concat());
        assert!(log.text.ends_with("r b:4 "), "cut at {cut}: {}", log.text);
        assert!(
            log.text.contains('!') || cut + 4 >= a.len(),
            "cut at {cut}: {}",
            log.text
        );
    }
}

#[test]
fn cuts_the_record_in_which_bytes_were_lost() {
    let a = response("a", "200 OK", b"a body of some length");
    let mut log = Log::default();
    let mut reader = Reader::new(FileId(0), Framing::Members, VERIFY);
    for end in [a.len() - 10, a.len(), 30] {
        let bytes = &a[..end];
        reader.push(Piece::Bytes { bytes, offset: 0 }, &mut |event| {
            log.take(&event);
        });
        let lost = Piece::Lost {
            offset: 0,
            length: Some(50),
            what: "damaged",
        };
        reader.push(lost, &mut |event| log.take(&event));
    }
    reader.push(
        Piece::Bytes {
            bytes: &a,
            offset: 50,
        },
        &mut |event| log.take(&event),
    );
    reader.push(
        Piece::MemberEnd {
            offset: 50,
            length: 9,
        },
        &mut |event| log.take(&event),
    );
    reader.finish(&mut |event| log.take(&event));
    assert_eq!(
        log.text,
        "r a:Cut:15 !0+50 r a:Cut:21 !0+50 r !0+50 r a:21 end1 "
    );
}
