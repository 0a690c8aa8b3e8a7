#![no_main]
//! `cargo +nightly fuzz run policy fixtures/fuzz/corpus/policy`

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| gatewright_fuzz::policy(bytes));
