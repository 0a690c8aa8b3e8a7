//! x
use super::CodeReading;
pub(super) fn read(_t: &str, _r: &mut CodeReading) {}
