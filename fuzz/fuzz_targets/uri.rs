//! The fast normalizer against its slow twin, on every policy; `tests/it/fuzzed.rs` says how.
#![no_main]
#![expect(dead_code, reason = "the tests use more of these modules")]

#[path = "../../tests/it/fuzzed.rs"]
mod fuzzed;
#[path = "../../tests/it/mutations.rs"]
mod mutations;
#[path = "../../tests/it/naive.rs"]
mod naive;
#[path = "../../tests/it/naive_bets.rs"]
mod naive_bets;
#[path = "../../tests/it/plans.rs"]
mod plans;

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzed::run(data));
