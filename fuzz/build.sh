#!/bin/sh
# Builds the targets as `cargo fuzz build -s none` does, where cargo-fuzz is not installed. Needs a nightly toolchain.
set -eu
cd "$(dirname "$0")"
RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=16 -Cdebug-assertions --cfg fuzzing" \
    cargo +nightly build --release --target x86_64-unknown-linux-gnu "$@"
