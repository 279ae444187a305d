//! Parity policies against what the libraries gave, recorded in `url-vectors/peer-runs`.

use std::fs;

use crawl_dedupe::policy::plan::Parity;
use crawl_dedupe::uri::parity;
use proptest::prelude::*;

use crate::shared;

const LIBRARIES: [(&str, Parity); 3] = [
    ("surt", Parity::Surt),
    ("w3_canon", Parity::W3lib),
    ("uc_semantic", Parity::UrlcanonSemantic),
];

#[test]
fn keys_equal_the_recorded_outputs() {
    let Some(shared) = shared::dir() else {
        return;
    };
    let path = shared.join("data/url-vectors/peer-runs/inputs-103.json");
    let text = fs::read(path).expect("the recorded outputs are there");
    let runs: Vec<serde_json::Value> = serde_json::from_slice(&text).expect("they are JSON");
    assert_eq!(runs.len(), 103);
    for run in &runs {
        for (column, library) in LIBRARIES {
            let input = run["input"].as_str().expect("an input is text");
            let recorded = run["outputs"][column].as_str().expect("so is an output");
            check(library, input, recorded);
            // A key ending in `~` is what the second pass gave where it differs.
            if let Some(again) = run["outputs"][format!("{column}~")].as_str() {
                check(library, recorded, again);
            }
        }
    }
}

fn check(library: Parity, input: &str, recorded: &str) {
    let mut key = b"left over".to_vec();
    let outcome = parity::write(library, input.as_bytes(), &mut key);
    match recorded.strip_prefix("ERR ") {
        Some(_exception) => {
            assert!(outcome.is_err(), "{library:?} {input}");
            assert_eq!(key, input.as_bytes(), "{library:?} {input}");
        }
        None => assert_eq!(
            key.escape_ascii().to_string(),
            recorded.as_bytes().escape_ascii().to_string(),
            "{library:?} {input}"
        ),
    }
}

proptest! {
    #[test]
    fn every_byte_string_has_one_key(
        input in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            "(http|ftp|//|[:/?#@.%&=\\[\\]]|%[0-9a-f]{2}|www|é|\\.|[a-z0-9]){0,20}".prop_map(String::into_bytes),
        ],
    ) {
        for (_, library) in LIBRARIES {
            let (mut first, mut second) = (Vec::new(), b"left over".to_vec());
            let outcome = parity::write(library, &input, &mut first);
            prop_assert_eq!(outcome, parity::write(library, &input, &mut second));
            prop_assert_eq!(first, second);
        }
    }
}
