//! Hosts that a call contacts.

use crate::shell::{Piece, Word};

use super::secret::mask_secrets;

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

/// Stands for what is not known while an address is taken apart.
const UNKNOWN: char = '\u{0}';

impl HostTarget {
    /// The host of a URL, of `user@host:path`, of `host:port` or of a bare host. `None` when the text names no host
    /// at all: a local path, `file:`, `data:`, the empty text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_marked(&text.replace(UNKNOWN, "%00"), text)
    }

    /// The host that a word of a command names; unknown parts of it make the host unknown.
    pub fn from_word(word: &Word, command: Option<usize>) -> Option<Self> {
        let marked: String = word
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Glob(text) => text.replace(UNKNOWN, "%00"),
                Piece::Name | Piece::Unknown { .. } => UNKNOWN.to_string(),
            })
            .collect();
        Self::parse_marked(&marked, &word.shown()).map(|target| Self { command, ..target })
    }

    /// A host nothing is known of.
    pub fn unknown(shown: &str) -> Self {
        Self { scheme: None, host: None, port: None, shown: mask_secrets(shown).into_owned(), command: None }
    }

    fn parse_marked(marked: &str, shown: &str) -> Option<Self> {
        // Programs that fetch drop blanks around an address, and line breaks and tabs within.
        let text: String = marked.trim().chars().filter(|c| !matches!(c, '\n' | '\r' | '\t')).collect();
        if text.is_empty() {
            return None;
        }
        let (scheme, rest) = split_scheme(&text);
        let scheme = scheme.map(|scheme| scheme.to_ascii_lowercase());
        if matches!(
            scheme.as_deref(),
            Some("file" | "data" | "about" | "javascript" | "blob" | "mailto" | "urn")
        ) {
            return None;
        }
        if scheme.is_none() && matches!(rest.as_bytes().first(), Some(b'/' | b'.' | b'~' | b'-')) {
            return None;
        }
        let mut target = Self::unknown(shown);
        let is_url = scheme.is_some();
        target.scheme = scheme;
        if rest.starts_with(UNKNOWN) && !is_url {
            return Some(target);
        }
        let authority_end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, after) = rest.split_at(authority_end);
        // Readers of addresses differ on these; none of the answers is taken on trust.
        if after.starts_with('\\') || authority.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Some(target);
        }
        let address = authority.rsplit('@').next().unwrap_or(authority);
        let (host, port) = split_port(address);
        if !is_url {
            if authority.contains('@') {
                // `user@host:path` of ssh and its kin; what follows the colon is a path.
                target.scheme = Some("ssh".to_owned());
            } else if port.is_some_and(|port| port.parse::<u16>().is_err()) {
                // `remote:path` and `C:\dir`: a host for programs that copy.
                target.scheme = Some("ssh".to_owned());
            }
        }
        let host = clean_host(host);
        target.host = host.filter(|host| !host.is_empty());
        target.port = port
            .and_then(|port| port.parse().ok())
            .or_else(|| target.scheme.as_deref().and_then(default_port));
        Some(target)
    }
}

fn split_scheme(text: &str) -> (Option<&str>, &str) {
    let Some(colon) = text.find(':') else { return (None, text.strip_prefix("//").unwrap_or(text)) };
    let (scheme, rest) = (&text[..colon], &text[colon + 1..]);
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    if !is_scheme {
        return (None, text.strip_prefix("//").unwrap_or(text));
    }
    if rest.starts_with('/') || rest.starts_with('\\') {
        let is_known = default_port(&scheme.to_ascii_lowercase()).is_some() || rest.starts_with("//");
        if is_known || scheme.eq_ignore_ascii_case("file") {
            // Any number of slashes, of either kind, is taken as two.
            let rest =
                if scheme.eq_ignore_ascii_case("file") { rest } else { rest.trim_start_matches(['/', '\\']) };
            return (Some(scheme), rest);
        }
        return (None, text);
    }
    let is_opaque = ["file", "data", "about", "javascript", "blob", "mailto", "urn"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name));
    let is_web = ["http", "https", "ftp", "ws", "wss"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
    if is_opaque || is_web && !rest.starts_with(|c: char| c.is_ascii_digit()) {
        (Some(scheme), rest)
    } else {
        (None, text)
    }
}

fn split_port(address: &str) -> (&str, Option<&str>) {
    if let Some(inner) = address.strip_prefix('[') {
        return match inner.split_once(']') {
            Some((host, rest)) => (host, rest.strip_prefix(':')),
            None => (address, None),
        };
    }
    match address.split_once(':') {
        // More than one colon without brackets: an IPv6 address.
        Some((_, rest)) if rest.contains(':') && address.parse::<std::net::Ipv6Addr>().is_ok() => {
            (address, None)
        }
        Some((host, port)) => (host, Some(port)),
        None => (address, None),
    }
}

/// A host name in the one form that is compared: lower case, escapes resolved, numbers as addresses, no last dot.
/// `None` when it is not known or is none.
pub(super) fn clean_host(host: &str) -> Option<String> {
    let decoded = decode_percent(host)?;
    if decoded
        .chars()
        .any(|c| c == UNKNOWN || c.is_control() || c.is_whitespace() || "/\\?#@<>^|%".contains(c))
    {
        return None;
    }
    // Full-width and ideographic stops are dots to name resolution.
    let dotted: String = decoded
        .chars()
        .map(|c| if matches!(c, '\u{3002}' | '\u{ff0e}' | '\u{ff61}') { '.' } else { c })
        .collect();
    let lower = dotted.to_lowercase();
    let name = lower.strip_suffix('.').unwrap_or(&lower);
    let name = name.split_once('%').map_or(name, |(address, _zone)| address);
    if let Ok(address) = name.parse::<std::net::Ipv6Addr>() {
        return Some(match address.to_ipv4_mapped() {
            Some(mapped) => mapped.to_string(),
            None => address.to_string(),
        });
    }
    Some(old_address(name).unwrap_or_else(|| name.to_owned()))
}

fn decode_percent(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The old ways to write an IPv4 address: one to four numbers, decimal, octal or hexadecimal.
fn old_address(name: &str) -> Option<String> {
    let number = |text: &str| -> Option<u32> {
        if let Some(hex) = text.strip_prefix("0x") {
            return if hex.is_empty() { Some(0) } else { u32::from_str_radix(hex, 16).ok() };
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) || text.is_empty() {
            return None;
        }
        if text.len() > 1 && text.starts_with('0') {
            u32::from_str_radix(text, 8).ok()
        } else {
            text.parse().ok()
        }
    };
    let parts: Vec<u32> = name.split('.').map(number).collect::<Option<_>>()?;
    let (last, front) = parts.split_last()?;
    if front.len() > 3 || front.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 8 * (4 - front.len() as u32);
    if room < 32 && *last >> room != 0 {
        return None;
    }
    let high =
        front.iter().enumerate().fold(0_u32, |sum, (index, part)| sum | part << (24 - 8 * index as u32));
    Some(std::net::Ipv4Addr::from(high | last).to_string())
}

/// The port a scheme stands for.
pub(super) fn default_port(scheme: &str) -> Option<u16> {
    Some(match scheme {
        "http" | "ws" | "git+http" => 80,
        "https" | "wss" | "git+https" => 443,
        "ftp" => 21,
        "ftps" => 990,
        "ssh" | "sftp" | "scp" | "git+ssh" | "ssh+git" => 22,
        "git" => 9418,
        "rsync" => 873,
        "postgres" | "postgresql" => 5432,
        "mysql" => 3306,
        "redis" => 6379,
        "mongodb" => 27017,
        "amqp" => 5672,
        "ldap" => 389,
        "ldaps" => 636,
        "smtp" => 25,
        "telnet" => 23,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match HostTarget::parse(text) {
            None => "none".to_owned(),
            Some(target) => format!(
                "{} {} {}",
                target.scheme.as_deref().unwrap_or("-"),
                target.host.as_deref().unwrap_or("?"),
                target.port.map_or("-".to_owned(), |port| port.to_string())
            ),
        }
    }

    #[test]
    fn addresses_are_taken_apart() {
        for (text, expected) in [
            ("https://github.com/a/b", "https github.com 443"),
            ("HTTPS://GitHub.COM./a", "https github.com 443"),
            ("https://github.com.evil.example/x", "https github.com.evil.example 443"),
            ("https://user:pw@evil.example/?next=github.com", "https evil.example 443"),
            ("https://github.com@evil.example", "https evil.example 443"),
            ("https://github.com%2eevil.example/", "https github.com.evil.example 443"),
            ("https://%67ithub.com/", "https github.com 443"),
            ("https:///github.com/a", "https github.com 443"),
            ("https:github.com/a", "https github.com 443"),
            ("https://evil.example\\@github.com/", "https ? -"),
            ("http://localhost:8080/health", "http localhost 8080"),
            ("http://[::1]:9000/", "http ::1 9000"),
            ("http://[::ffff:127.0.0.1]/", "http 127.0.0.1 80"),
            ("http://2130706433/", "http 127.0.0.1 80"),
            ("http://0x7f.1/", "http 127.0.0.1 80"),
            ("http://017700000001/", "http 127.0.0.1 80"),
            ("http://169.254.169.254/latest", "http 169.254.169.254 80"),
            ("git@github.com:org/repo.git", "ssh github.com 22"),
            ("deploy@10.0.0.1", "ssh 10.0.0.1 22"),
            ("ssh://git@github.com:2222/x", "ssh github.com 2222"),
            ("example.com:8443", "- example.com 8443"),
            ("localhost:3000/x", "- localhost 3000"),
            ("example.com/path", "- example.com -"),
            ("//cdn.example.com/x", "- cdn.example.com -"),
            ("remote:dir/file", "ssh remote 22"),
            ("file:///etc/passwd", "none"),
            ("data:text/plain,hi", "none"),
            ("./local.txt", "none"),
            ("", "none"),
            ("https://exa\tmple.com/", "https example.com 443"),
            ("http://例え。jp/", "http 例え.jp 80"),
            ("postgres://u:p@db.internal/app", "postgres db.internal 5432"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_part_of_the_host_makes_it_unknown() {
        let unknown = || Piece::Unknown { splits: false, source: "$X".to_owned() };
        let text = |text: &str| Piece::Text(text.to_owned());
        let host = |pieces: Vec<Piece>| {
            HostTarget::from_word(&Word { pieces, span: None }, None).map(|target| target.host)
        };
        assert_eq!(host(vec![text("https://github.com/"), unknown()]), Some(Some("github.com".to_owned())));
        assert_eq!(host(vec![text("https://github.com"), unknown()]), Some(None));
        assert_eq!(host(vec![text("https://"), unknown(), text(".example.com/")]), Some(None));
        assert_eq!(host(vec![unknown()]), Some(None));
        assert_eq!(
            host(vec![text("https://a.example/x"), Piece::Glob("?".to_owned()), text("q=1")]),
            Some(Some("a.example".to_owned()))
        );
    }
}
