#![no_main]
//! `cargo +nightly fuzz run reader fixtures/fuzz/corpus/reader`

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| gatewright_fuzz::reader(bytes));
