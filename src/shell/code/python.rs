//! x
use super::{CodeReading, Word};
pub(super) fn read(_t: &str, _a: &[Word], _r: &mut CodeReading) {}
