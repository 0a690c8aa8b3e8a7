//! Hosts that a call contacts.

/// A host, as far as known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostTarget {
    /// Scheme if known (`https`), lower case.
    pub scheme: Option<String>,
    /// Host name or address, lower case, without brackets; `None` when it is not known.
    pub host: Option<String>,
    /// Port, given or from the scheme.
    pub port: Option<u16>,
    /// As written, secrets masked.
    pub shown: String,
    /// Index of the command that contacts it, for shell tools.
    pub command: Option<usize>,
}
