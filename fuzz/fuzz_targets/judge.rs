#![no_main]
//! `cargo +nightly fuzz run judge fixtures/fuzz/corpus/judge`

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| gatewright_fuzz::judge(bytes));
