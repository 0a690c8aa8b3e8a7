//! Programs that start a command inside a container.

use super::super::invocation::Nested;
use super::options::Scan;
use super::words::unknown;

/// What is started sees a directory that is not known from here.
pub(super) fn apply(scan: &mut Scan<'_>) {
    for nested in &mut scan.invocation.nested {
        if let Nested::Command { directory, .. } = nested {
            *directory = Some(unknown("the container's directory", false));
        }
    }
}
