//! What a rule's `host` key says, and whether a host fits it.

use crate::shell::Fit;

use super::HostTarget;
use super::glob::{self, Atom};
use super::host::{clean_host, default_port};

/// A checked host pattern: `github.com`, `*.example.com`, `*`, `localhost:8080`, `https://api.example.com`,
/// `[::1]:80`, `10.0.0.0/8`.
///
/// Names are compared label by label: `github.com` is not `github.com.evil.example`. `*` at the front of a name
/// stands for one or more labels, elsewhere it stays within a label; alone it is every host.
#[derive(Debug, Clone)]
pub struct HostGlob {
    text: String,
    scheme: Option<String>,
    name: Name,
    port: Option<u16>,
}

#[derive(Debug, Clone)]
enum Name {
    Any,
    Exact(String),
    Labels { front_is_open: bool, labels: Vec<Vec<Atom>> },
    Network { address: std::net::IpAddr, bits: u8 },
}

/// What is wrong with a host pattern, as a fragment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HostGlobError {
    /// What.
    pub message: String,
}

impl HostGlob {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Empty patterns, paths, user names, ports that are no numbers, empty labels.
    pub fn parse(text: &str) -> Result<Self, HostGlobError> {
        let wrong = |message: &str| Err(HostGlobError { message: message.to_owned() });
        if text.is_empty() || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return wrong("empty host, or a space in it");
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_ascii_lowercase()).filter(|scheme| scheme != "*"), rest),
            None => (None, text),
        };
        if let Some(scheme) = &scheme
            && !scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        {
            return wrong("scheme that is none");
        }
        if rest.contains('@') {
            return wrong("a host pattern has no user name");
        }
        if let Some((address, bits)) = rest.split_once('/') {
            let network =
                address.trim_matches(['[', ']']).parse::<std::net::IpAddr>().ok().zip(bits.parse().ok());
            return match network {
                Some((address, bits)) if bits <= if address.is_ipv4() { 32 } else { 128 } => Ok(Self {
                    text: text.to_owned(),
                    scheme,
                    name: Name::Network { address, bits },
                    port: None,
                }),
                _ => wrong("a host pattern has no path; networks are written `10.0.0.0/8`"),
            };
        }
        let (host, port) = split_port(rest)?;
        let port = match port {
            None | Some("*") => None,
            Some(port) => match port.parse() {
                Ok(port) => Some(port),
                Err(_) => return wrong("port that is no number"),
            },
        };
        let name = parse_name(host)?;
        Ok(Self { text: text.to_owned(), scheme, name, port })
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The one host that it is about, if it names one, whatever its scheme and port.
    pub fn exact(&self) -> Option<&str> {
        match &self.name {
            Name::Exact(name) => Some(name),
            Name::Any | Name::Labels { .. } | Name::Network { .. } => None,
        }
    }

    /// Whether `target` fits; what is not known of it gives `Maybe`.
    pub fn fit(&self, target: &HostTarget) -> Fit {
        let scheme = match (&self.scheme, &target.scheme) {
            (None, _) => Fit::Yes,
            (Some(own), Some(scheme)) => yes_or_no(own == scheme),
            (Some(_), None) => Fit::Maybe,
        };
        let port = match (self.port, target.port) {
            (None, _) => Fit::Yes,
            (Some(own), Some(port)) => yes_or_no(own == port),
            // Without scheme and port: a web address as likely as not.
            (Some(_), None) => Fit::Maybe,
        };
        let name = match (&self.name, &target.host) {
            (Name::Any, _) => Fit::Yes,
            (_, None) => Fit::Maybe,
            (Name::Exact(own), Some(host)) => yes_or_no(own == host),
            (Name::Labels { front_is_open, labels }, Some(host)) => {
                yes_or_no(takes_labels(*front_is_open, labels, host))
            }
            (Name::Network { address, bits }, Some(host)) => yes_or_no(in_network(*address, *bits, host)),
        };
        scheme.min(port).min(name)
    }
}

fn yes_or_no(is_fit: bool) -> Fit {
    if is_fit { Fit::Yes } else { Fit::No }
}

fn split_port(text: &str) -> Result<(&str, Option<&str>), HostGlobError> {
    if let Some(inner) = text.strip_prefix('[') {
        let Some((host, rest)) = inner.split_once(']') else {
            return Err(HostGlobError { message: "bracket that does not close".to_owned() });
        };
        return match rest {
            "" => Ok((host, None)),
            rest => match rest.strip_prefix(':') {
                Some(port) => Ok((host, Some(port))),
                None => Err(HostGlobError { message: "text after the bracket".to_owned() }),
            },
        };
    }
    if text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Ok((text, None));
    }
    Ok(match text.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    })
}

fn parse_name(host: &str) -> Result<Name, HostGlobError> {
    let wrong = |message: String| Err(HostGlobError { message });
    if matches!(host, "*" | "**") {
        return Ok(Name::Any);
    }
    if !host.contains(['*', '?']) {
        return match clean_host(host) {
            Some(name) if !name.is_empty() && !name.split('.').any(str::is_empty) => Ok(Name::Exact(name)),
            _ => wrong(format!("`{host}` is no host")),
        };
    }
    let lower = host.to_lowercase();
    let name = lower.strip_suffix('.').unwrap_or(&lower);
    let mut labels: Vec<&str> = name.split('.').collect();
    if labels.iter().any(|label| label.is_empty()) || name != lower && labels.len() == 1 {
        return wrong(format!("empty label in `{host}`"));
    }
    if labels.iter().any(|label| label.contains(['/', '\\', '[', ']', '{', '}', ':'])) {
        return wrong(format!("`{host}` is no host; wildcards are `*` and `?`"));
    }
    let front_is_open = matches!(labels.first(), Some(&("*" | "**")));
    if front_is_open {
        labels.remove(0);
    }
    let labels = labels
        .into_iter()
        .map(|label| {
            let mut atoms = Vec::new();
            glob::parse_lenient(label, &mut atoms);
            atoms
        })
        .collect();
    Ok(Name::Labels { front_is_open, labels })
}

fn takes_labels(front_is_open: bool, labels: &[Vec<Atom>], host: &str) -> bool {
    let names: Vec<&str> = host.split('.').collect();
    let Some(front) = names.len().checked_sub(labels.len()) else { return false };
    let is_long_enough = if front_is_open { front >= 1 } else { front == 0 };
    is_long_enough && labels.iter().zip(&names[front..]).all(|(atoms, name)| glob::takes(atoms, name))
}

fn in_network(address: std::net::IpAddr, bits: u8, host: &str) -> bool {
    let Ok(host) = host.parse::<std::net::IpAddr>() else { return false };
    let bytes = |address: std::net::IpAddr| match address {
        std::net::IpAddr::V4(address) => address.octets().to_vec(),
        std::net::IpAddr::V6(address) => address.octets().to_vec(),
    };
    let (own, other) = (bytes(address), bytes(host));
    own.len() == other.len()
        && (0..usize::from(bits)).all(|bit| {
            let mask = 0x80_u8 >> (bit % 8);
            own.get(bit / 8).map(|byte| byte & mask) == other.get(bit / 8).map(|byte| byte & mask)
        })
}

impl HostTarget {
    /// The port that is contacted, as far as scheme or text tell.
    pub fn known_port(&self) -> Option<u16> {
        self.port.or_else(|| self.scheme.as_deref().and_then(default_port))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn hosts_fit_by_label() {
        for (pattern, text, expected) in [
            ("github.com", "https://github.com/a", Fit::Yes),
            ("github.com", "https://github.com.evil.example/a", Fit::No),
            ("github.com", "https://notgithub.com/", Fit::No),
            ("github.com", "https://api.github.com/", Fit::No),
            ("GitHub.com", "git@github.com:a/b", Fit::Yes),
            ("*.github.com", "https://api.github.com/", Fit::Yes),
            ("*.github.com", "https://a.b.github.com/", Fit::Yes),
            ("*.github.com", "https://github.com/", Fit::No),
            ("*.github.com", "https://api.github.com.evil.example/", Fit::No),
            ("api-*.example.com", "https://api-3.example.com/", Fit::Yes),
            ("api-*.example.com", "https://api-3.x.example.com/", Fit::No),
            ("*", "https://anything.example/", Fit::Yes),
            ("localhost:8080", "http://localhost:8080/x", Fit::Yes),
            ("localhost:8080", "http://localhost:9090/x", Fit::No),
            ("localhost:80", "http://localhost/x", Fit::Yes),
            ("localhost:80", "localhost", Fit::Maybe),
            ("https://*", "http://example.com/", Fit::No),
            ("https://example.com", "https://example.com:8443/", Fit::Yes),
            ("https://example.com", "example.com", Fit::Maybe),
            ("127.0.0.1", "http://2130706433/", Fit::Yes),
            ("127.0.0.0/8", "http://0x7f000001/", Fit::Yes),
            ("10.0.0.0/8", "http://11.0.0.1/", Fit::No),
            ("[::1]:80", "http://[0:0:0:0:0:0:0:1]/", Fit::Yes),
            ("::1", "http://[::1]:3000/", Fit::Yes),
            ("169.254.169.254", "http://[::ffff:169.254.169.254]/", Fit::Yes),
        ] {
            let glob = HostGlob::parse(pattern).unwrap();
            assert_eq!(glob.fit(&HostTarget::parse(text).unwrap()), expected, "{pattern} {text}");
        }
        assert_eq!(HostGlob::parse("a.example").unwrap().fit(&HostTarget::unknown("$X")), Fit::Maybe);
        assert_eq!(HostGlob::parse("*").unwrap().fit(&HostTarget::unknown("$X")), Fit::Yes);
    }

    #[test]
    fn bad_patterns_do_not_load() {
        for pattern in
            ["", "a b", "user@host", "https://host/path", "host:port", "a..b", "*.", "[::1", "10.0.0.0/40"]
        {
            assert!(HostGlob::parse(pattern).is_err(), "{pattern}");
        }
    }
}
