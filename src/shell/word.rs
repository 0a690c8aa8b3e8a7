//! One word of a command, after every expansion whose result is known.

use std::borrow::Cow;

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that is certain.
    Text(String),
    /// An unquoted file name pattern as written (`*`, `?`, `[a-z]`): stands for names that exist, never for a slash.
    /// `**` as a whole component stands for any folders, as in what `find` lists.
    Glob(String),
    /// An unknown, non-empty name without a slash, such as the random part that `mktemp` makes.
    Name,
    /// A value that is not known.
    Unknown {
        /// Whether the value may become several words, or none (it stood unquoted).
        splits: bool,
        /// The source text, for people: `$X`, `$(make list)`.
        source: String,
    },
}

/// A word as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The parts in order; neighbouring texts are merged. No parts: the empty word.
    pub pieces: Vec<Piece>,
    /// Byte range in the text that was given to [`super::read`], where the word stands there literally.
    pub span: Option<(usize, usize)>,
}

impl Word {
    /// A word whose value is certain.
    pub fn known(text: impl Into<String>) -> Self {
        let text = text.into();
        let pieces = if text.is_empty() { Vec::new() } else { vec![Piece::Text(text)] };
        Self { pieces, span: None }
    }

    /// The value, if all of it is certain (a glob is not).
    pub fn value(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether any part is a [`Piece::Unknown`].
    pub fn has_unknown(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { .. }))
    }

    /// Whether the word may become several words or none when bash expands it.
    pub fn may_split(&self) -> bool {
        self.splits_by_value() || self.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// Whether a value that is not known decides how many words it becomes.
    pub(super) fn splits_by_value(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Unknown { splits: true, .. }))
    }

    /// The certain text that the word begins with.
    pub fn known_prefix(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// The word for people and for text patterns: known text as it is, the rest as its source.
    pub fn shown(&self) -> Cow<'_, str> {
        match self.value() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(
                self.pieces
                    .iter()
                    .map(|piece| match piece {
                        Piece::Text(text) | Piece::Glob(text) => text.as_str(),
                        Piece::Name => "…",
                        Piece::Unknown { source, .. } => source.as_str(),
                    })
                    .collect(),
            ),
        }
    }
}
