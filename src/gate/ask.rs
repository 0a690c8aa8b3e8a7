//! What happens to a call that needs a person.

/// The setting `on_ask`.
///
/// There is no third way and never a wait: nobody can be there, whatever the terminal or the environment look
/// like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnAsk {
    /// The call is not done and is recorded as an ask.
    #[default]
    Deny,
}

/// Why a value of `on_ask` is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OnAskError {
    /// Parking a run is to come.
    #[error(
        "`on_ask: stage` would park the run until a person decides, which is not built yet; write `on_ask: deny`"
    )]
    Stage,
    /// Not a word of the setting.
    #[error("`on_ask: {0}` is not known; write `on_ask: deny`")]
    Unknown(String),
}

impl OnAsk {
    /// Reads the setting.
    ///
    /// # Errors
    /// `stage`, since parking is not built yet, and unknown words.
    pub fn parse(word: &str) -> Result<Self, OnAskError> {
        match word {
            "deny" => Ok(Self::Deny),
            "stage" => Err(OnAskError::Stage),
            other => Err(OnAskError::Unknown(other.to_owned())),
        }
    }
}
