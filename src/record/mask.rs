//! Secrets taken out of what is written down.
//!
//! Only the secret itself is replaced, by characters of the same number of bytes that mean nothing to a shell:
//! a masked command line has the same words at the same places, so judging it gives the same verdict. A value that
//! is a variable (`--token "$TOKEN"`) is no secret and stays.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// What a secret is replaced by.
#[derive(Clone, Copy)]
enum Shape {
    /// Letters by `x` and `X`, digits by `0`, the rest kept: for long random tokens, so that a rule which looks for
    /// such a token still finds one.
    Token,
    /// Everything by `x`, but for what a shell could take for a pattern or a path.
    Plain,
}

/// Names that say that their value is a secret; what stands before them does not matter (`DB_PASSWORD`).
const SECRET_NAME: &str = "(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|apikey|access[_-]?key|\
                           secret[_-]?key|private[_-]?key|auth[_-]?key|credential|credentials)";

/// Beginnings of tokens that are secrets wherever they stand, each with what follows it.
const PREFIXED: &str = concat!(
    r"\b(?:gh[pousr]_(?P<a>[A-Za-z0-9\\\n]{16,})",
    r"|github_pat_(?P<b>[A-Za-z0-9_\\\n]{16,})",
    r"|glpat-(?P<c>[A-Za-z0-9_-]{12,})",
    r"|xox[abeprs]-(?P<d>[A-Za-z0-9-]{10,})",
    r"|(?:sk|rk|pk)_(?:live|test)_(?P<e>[A-Za-z0-9]{10,})",
    r"|sk-(?:ant-|proj-|or-)?(?P<f>[A-Za-z0-9_-]{16,})",
    r"|(?:AKIA|ASIA|AROA)(?P<g>[A-Z0-9]{16})",
    r"|AIza(?P<h>[A-Za-z0-9_-]{30,})",
    r"|npm_(?P<i>[A-Za-z0-9]{20,})",
    r"|pypi-(?P<j>[A-Za-z0-9_-]{20,})",
    r"|hf_(?P<k>[A-Za-z0-9]{20,})",
    r"|dop_v1_(?P<l>[a-f0-9]{32,})",
    r"|SG\.(?P<m>[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
    r"|ya29\.(?P<n>[A-Za-z0-9_-]{16,})",
    r"|eyJ(?P<o>[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]+))",
);

static PATTERNS: LazyLock<Vec<(Regex, Shape)>> = LazyLock::new(|| {
    let value = r#"(?P<s>[^\s"'`$|;&<>()/.~\\-][^\s"'`$|;&<>()]*)"#;
    let texts = [
        (PREFIXED.to_owned(), Shape::Token),
        (r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<s>.*?)(?:-----END|\z)".to_owned(), Shape::Token),
        (
            r#"(?i)\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|negotiate)\s+)?(?P<s>[^\s"'`$\\]+)"#
                .to_owned(),
            Shape::Plain,
        ),
        (r"(?i)\b(?:bearer|basic)\s+(?P<s>[A-Za-z0-9._~+/=-]{16,})".to_owned(), Shape::Plain),
        (
            r#"(?i)\b(?:(?:x-)?api-key|x-auth-token|private-token|job-token|set-cookie|cookie)\s*:\s*(?P<s>[^\s"'`$\\]+)"#
                .to_owned(),
            Shape::Plain,
        ),
        (r#"(?i)\b[a-z][a-z0-9+.-]*://[^\s/@:"'`]*:(?P<s>[^\s/@"'`$]+)@"#.to_owned(), Shape::Plain),
        (format!(r#"(?i)(?:^|[\s"'=])--?(?:[a-z0-9]+[_-])*{SECRET_NAME}(?:=|\s+)["']?{value}"#), Shape::Plain),
        (r#"\bsshpass\s+-p\s*["']?(?P<s>[^\s"'`$\\]+)"#.to_owned(), Shape::Plain),
        (r#"\bmysql(?:dump|admin)?\b[^|;&\n]*?\s-p["']?(?P<s>[^\s"'`$\\]+)"#.to_owned(), Shape::Plain),
        (
            r#"\bcurl\b[^|;&\n]*?\s(?:-u|--user)[\s=]*["']?[^\s:"'`$]+:(?P<s>[^\s"'`$\\]+)"#.to_owned(),
            Shape::Plain,
        ),
        (format!(r#"(?i)[a-z0-9_.-]*{SECRET_NAME}\s?=\s?["']?{value}"#), Shape::Plain),
        (format!(r#"(?i)\\?"[a-z0-9_.-]*{SECRET_NAME}\\?"\s*:\s*\\?"(?P<s>[^"\\$]+)"#), Shape::Plain),
        (format!(r#"(?im)(?:^|["'])[\t ]*(?:- )?[a-z0-9_.-]*{SECRET_NAME}\s*:\s+["']?{value}"#), Shape::Plain),
    ];
    // INVARIANT: every pattern compiles; the test `all_patterns_compile` counts them.
    texts.into_iter().filter_map(|(text, shape)| Regex::new(&text).ok().map(|regex| (regex, shape))).collect()
});

static SECRET_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(&format!(r"(?i)^(?:[a-z0-9_.-]*{SECRET_NAME}|(?:proxy-)?authorization)$")).ok()
});

/// `text` with the secrets in it replaced by as many meaningless bytes.
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    mask(text, &mut Vec::new())
}

fn mask<'a>(text: &'a str, found: &mut Vec<String>) -> Cow<'a, str> {
    // Shorter than the shortest thing that any pattern takes for a secret with its name.
    if text.len() < 5 {
        return Cow::Borrowed(text);
    }
    let mut masked = Cow::Borrowed(text);
    let mut tokens: Vec<Range<usize>> = Vec::new();
    for (regex, shape) in PATTERNS.iter() {
        let mut ranges = Vec::new();
        for captures in regex.captures_iter(&masked) {
            ranges.extend(captures.iter().skip(1).flatten().map(|group| group.range()));
            if let (Shape::Token, Some(whole)) = (shape, captures.get(0)) {
                tokens.push(whole.range());
            }
        }
        for range in ranges {
            if masked.get(range.clone()).is_none_or(is_word_that_is_no_secret) {
                continue;
            }
            // A token keeps its shape and its prefix, whatever name stands before it.
            let parts = match shape {
                Shape::Token => vec![range],
                Shape::Plain => without(range, &tokens),
            };
            for part in parts {
                let Some(secret) = masked.get(part.clone()) else { continue };
                let replacement = replace(secret, *shape);
                if replacement != secret {
                    found.push(secret.to_owned());
                    // INVARIANT: a replacement has as many bytes as what it replaces, so other ranges stay right.
                    masked.to_mut().replace_range(part, &replacement);
                }
            }
        }
        if let Shape::Token = shape {
            tokens.sort_by_key(|token| token.start);
        }
    }
    masked
}

/// What of `range` lies outside the tokens, which are in order.
fn without(range: Range<usize>, tokens: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = range.start;
    for token in tokens.iter().filter(|token| token.start < range.end && token.end > range.start) {
        if token.start > start {
            parts.push(start..token.start);
        }
        start = start.max(token.end);
    }
    if start < range.end {
        parts.push(start..range.end);
    }
    parts
}

/// Masks every text in `value`, names of fields included; under a field whose name says so, the whole text.
pub fn mask_value(value: &mut Value) {
    mask_fields(value, &mut Vec::new());
}

fn mask_fields(value: &mut Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = mask(text, found) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_fields(item, found)),
        Value::Object(map) => {
            if map.keys().any(|key| matches!(mask_secrets(key), Cow::Owned(_))) {
                *map = std::mem::take(map)
                    .into_iter()
                    .map(|(key, value)| (mask_secrets(&key).into_owned(), value))
                    .collect();
            }
            for (key, value) in map.iter_mut() {
                let is_secret = SECRET_KEY.as_ref().is_some_and(|regex| regex.is_match(key));
                match value {
                    Value::String(text) if is_secret && !text.starts_with('$') => {
                        let masked = replace(text, Shape::Plain);
                        if masked != *text {
                            found.push(std::mem::replace(text, masked));
                        }
                    }
                    other => mask_fields(other, found),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Secrets that were seen so far: they are masked wherever they turn up again without the words that gave them
/// away, such as in a path that a call touches or in the output of a program.
#[derive(Debug, Default)]
pub(super) struct Masker {
    known: Vec<String>,
}

/// Shortest secret that is looked for elsewhere, in bytes; shorter ones stand in too many words.
const KNOWN_LENGTH: usize = 6;

/// Secrets that are remembered.
const KNOWN_COUNT: usize = 1_000;

impl Masker {
    /// Masks an event as it is written. `calls` names its fields that hold a call: in these a secret without a digit
    /// is masked only where it was found, since the same word elsewhere may be a branch or a file that is judged.
    pub(super) fn mask(&mut self, value: &mut Value, calls: &[&str]) {
        let mut found = Vec::new();
        mask_fields(value, &mut found);
        found.retain(|secret| secret.len() >= KNOWN_LENGTH);
        let is_telling = |secret: &String| secret.bytes().any(|byte| byte.is_ascii_digit());
        for secret in found.iter().filter(|secret| is_telling(secret)) {
            if !self.known.contains(secret) && self.known.len() < KNOWN_COUNT {
                self.known.push(secret.clone());
            }
        }
        let here: Vec<String> = found.into_iter().filter(|secret| !is_telling(secret)).collect();
        if let Value::Object(map) = value {
            for (key, field) in map.iter_mut() {
                replace_known(field, &self.known);
                if !calls.contains(&key.as_str()) {
                    replace_known(field, &here);
                }
            }
        }
    }
}

/// Masks in `texts` the secrets that stand in `source`, such as the arguments that paths and subjects come from.
pub(super) fn mask_secrets_of(source: &Value, texts: &mut [&mut String]) {
    let mut found = Vec::new();
    mask_fields(&mut source.clone(), &mut found);
    found.retain(|secret| secret.len() >= KNOWN_LENGTH);
    for text in texts {
        found.iter().for_each(|secret| replace_words(text, secret));
    }
}

fn replace_known(value: &mut Value, known: &[String]) {
    match value {
        Value::String(text) => {
            known.iter().for_each(|secret| replace_words(text, secret));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace_known(item, known)),
        Value::Object(map) => {
            if map.keys().any(|key| known.iter().any(|secret| key.contains(secret.as_str()))) {
                *map = std::mem::take(map)
                    .into_iter()
                    .map(|(mut key, value)| {
                        known.iter().for_each(|secret| replace_words(&mut key, secret));
                        (key, value)
                    })
                    .collect();
            }
            map.values_mut().for_each(|item| replace_known(item, known));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Masks `secret` where it stands by itself: inside a longer word, a digest for example, it is chance.
fn replace_words(text: &mut String, secret: &str) {
    let is_inside = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(secret)).map(|at| from + at) {
        let end = at + secret.len();
        let bytes = text.as_bytes();
        if !is_inside(at.checked_sub(1).and_then(|before| bytes.get(before))) && !is_inside(bytes.get(end)) {
            text.replace_range(at..end, &replace(secret, Shape::Plain));
        }
        from = end;
    }
}

fn is_word_that_is_no_secret(text: &str) -> bool {
    const WORDS: [&str; 13] = [
        "true",
        "false",
        "null",
        "none",
        "yes",
        "no",
        "=",
        "==",
        "bearer",
        "basic",
        "token",
        "digest",
        "negotiate",
    ];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn replace(secret: &str, shape: Shape) -> String {
    let mut replacement = String::with_capacity(secret.len());
    let mut is_escaped = false;
    for character in secret.chars() {
        if is_escaped || character == '\\' {
            // An escape stays whole: the text may be JSON or a shell line.
            is_escaped = !is_escaped;
            replacement.push(character);
            continue;
        }
        match (shape, character) {
            (_, '\n' | '\r' | '*' | '?' | '[' | ']' | '{' | '}' | '/' | '~') => replacement.push(character),
            (Shape::Token, 'A'..='Z') => replacement.push('X'),
            (Shape::Token, '0'..='9') => replacement.push('0'),
            (Shape::Token, other) if other.is_ascii() && !other.is_ascii_alphanumeric() => {
                replacement.push(other)
            }
            (Shape::Token | Shape::Plain, other) => {
                replacement.extend(std::iter::repeat_n('x', other.len_utf8()));
            }
        }
    }
    replacement
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_patterns_compile() {
        assert_eq!(PATTERNS.len(), 13);
        assert!(SECRET_KEY.is_some());
    }

    #[test]
    fn secrets_of_many_kinds_are_gone() {
        let rows = [
            ("git push https://x:s3cr3tPart@example.org/r.git", "s3cr3tPart"),
            ("export GITHUB_TOKEN=ghp_1234567890abcdefGHIJ", "1234567890abcdefGHIJ"),
            ("curl -H 'Authorization: Bearer abc.def-123' https://example.org", "abc.def-123"),
            ("curl -H \"Authorization: Basic dXNlcjpodW50ZXIy\" x", "dXNlcjpodW50ZXIy"),
            ("curl -u admin:hunter2 https://example.org", "hunter2"),
            ("mysql -u root -phunter2 db", "hunter2"),
            ("sshpass -p hunter2 ssh host", "hunter2"),
            ("login --password hunter2", "hunter2"),
            ("login --db-password=hunter2 --verbose", "hunter2"),
            ("DB_PASSWORD='hunter2 and more' make", "hunter2"),
            ("cat > .env <<E\nAPI_KEY=zzz111yyy\nE", "zzz111yyy"),
            ("{\"password\": \"hunter2\"}", "hunter2"),
            ("{\\\"client_secret\\\": \\\"hunter2\\\"}", "hunter2"),
            ("db:\n  password: hunter2\n", "hunter2"),
            ("aws AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nQQ==\n-----END RSA PRIVATE KEY-----", "MIIabc"),
        ];
        for (text, secret) in rows {
            let masked = mask_secrets(text);
            assert!(!masked.contains(secret), "{text} -> {masked}");
            assert_eq!(masked.len(), text.len(), "{text} -> {masked}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "git commit -m 'count tokens'",
            "cargo test --features token",
            "curl -H \"Authorization: Bearer $TOKEN\" x",
            "login --password \"$PASS\"",
            "TOKEN=$(cat /run/token) make",
            "TOKEN_FILE=/run/secrets/token make",
            "PASSWORD=/etc/shadow; cat $PASSWORD",
            "max_tokens=4096",
            "docker run -u 1000:1000 image",
            "ssh://git@example.org:22/x",
            "rm -rf /",
            "",
        ] {
            assert_eq!(mask_secrets(text), text);
        }
    }

    #[test]
    fn a_token_keeps_its_shape() {
        assert_eq!(mask_secrets("ghp_abCD12abCD12abCD12"), "ghp_xxXX00xxXX00xxXX00");
        assert_eq!(mask_secrets("TOKEN=a1.ghp_abCD12abCD12abCD12/b2"), "TOKEN=xxxghp_xxXX00xxXX00xxXX00/xx");
    }

    #[test]
    fn fields_with_telling_names_are_masked_whole() {
        let mut value =
            json!({"password": "a b", "list": [{"api_key": "k"}], "n": {"token": 5}, "tokens": "7"});
        mask_value(&mut value);
        assert_eq!(
            value,
            json!({"password": "xxx", "list": [{"api_key": "x"}], "n": {"token": 5}, "tokens": "7"})
        );
    }

    #[test]
    fn a_secret_is_known_again_without_the_words_that_gave_it_away() {
        let mut masker = Masker::default();
        let mut event = json!({"given": "login --password hunter2", "paths": ["/w/hunter2"], "hunter2": 1});
        masker.mask(&mut event, &["given"]);
        assert_eq!(
            event,
            json!({"given": "login --password xxxxxxx", "paths": ["/w/xxxxxxx"], "hunter2": 1})
        );
        let mut output = json!({"output": {"head": "you said hunter2"}});
        masker.mask(&mut output, &[]);
        assert_eq!(output, json!({"output": {"head": "you said xxxxxxx"}}));
        let mut branch = json!({"given": "TOKEN=master git push origin master", "paths": ["master"]});
        masker.mask(&mut branch, &["given"]);
        assert_eq!(branch, json!({"given": "TOKEN=xxxxxx git push origin master", "paths": ["xxxxxx"]}));
    }

    proptest::proptest! {
        #[test]
        fn masking_keeps_length_and_is_done_after_once(text in "(?s).{0,80}|(--password |TOKEN=|://a:|ghp_)[ -~]{0,40}") {
            let once = mask_secrets(&text).into_owned();
            proptest::prop_assert_eq!(once.len(), text.len());
            proptest::prop_assert_eq!(mask_secrets(&once).into_owned(), once);
        }
    }
}
