//! What the scanners of several languages share.

use super::super::effect::{Access, EffectKind};

/// What a call does to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Touch {
    /// Reads it.
    Read,
    /// Makes or changes it.
    Write,
    /// Removes it.
    Delete,
    /// Removes all that lies below.
    DeleteTree,
}

/// The effect of a touch.
pub(super) fn path(touch: Touch) -> EffectKind {
    let access = match touch {
        Touch::Read => Access::Read,
        Touch::Write => Access::Write,
        Touch::Delete | Touch::DeleteTree => Access::Delete,
    };
    EffectKind::Path { access, recursive: touch == Touch::DeleteTree }
}
