//! What data cannot say about programs that talk to hosts and databases.

use super::super::effect::Access;
use super::super::invocation::{Language, Nested};
use super::super::table::Special;
use super::super::word::Word;
use super::options::Scan;
use super::words::{base_name, join, split_once, without_prefix};

/// Applies one of the specials of this file.
pub(super) fn apply(special: Special, scan: &mut Scan<'_>) {
    match special {
        Special::Sql => sql(scan),
        Special::Wget => wget(scan),
        Special::Socat => socat(scan),
        _ => {}
    }
}

/// What the statements given to a database client do, as derived options `--sql-drop`, `--sql-delete` and so on.
fn sql(scan: &mut Scan<'_>) {
    let texts: Vec<(Word, usize)> = scan
        .invocation
        .nested
        .iter()
        .filter_map(|nested| match nested {
            Nested::Code { language: Language::Sql, code, .. } => Some((code.clone(), 0)),
            _ => None,
        })
        .collect();
    for (code, word) in texts {
        for verb in super::super::code::sql_verbs(&code.shown()) {
            scan.derive(&format!("--sql-{verb}"), word);
        }
    }
}

/// Where `wget` leaves its file.
fn wget(scan: &mut Scan<'_>) {
    if scan.has("--output-document") || scan.has("--spider") {
        return;
    }
    let names: Vec<Word> =
        scan.invocation.operands.iter().filter_map(|operand| base_name(&operand.word)).collect();
    let place = scan.value("--directory-prefix").cloned();
    for name in names {
        let path = super::words::under(place.as_ref(), &name);
        scan.path(Access::Write, scan.has("--recursive"), &path);
    }
}

fn socat(scan: &mut Scan<'_>) {
    let operands: Vec<Word> = scan.invocation.operands.iter().map(|operand| operand.word.clone()).collect();
    for word in operands {
        let Some((kind, rest)) = split_once(&word, ':') else { continue };
        match kind.to_ascii_uppercase().as_str() {
            "EXEC" | "SYSTEM" => {
                scan.nest(Nested::Code { language: Language::Shell, code: rest, arguments: Vec::new() });
            }
            "FILE" | "GOPEN" | "OPEN" | "CREATE" => {
                let path = split_once(&rest, ',').map_or(rest.clone(), |(path, _)| Word::known(path));
                scan.path(Access::Write, false, &path);
            }
            _ => scan.contact(&rest),
        }
    }
}

/// `ssh HOST COMMAND`: here if the host is this machine, elsewhere otherwise.
pub(super) fn ssh(scan: &mut Scan<'_>) {
    let operands: Vec<Word> = scan.invocation.operands.iter().map(|operand| operand.word.clone()).collect();
    let Some((host, command)) = operands.split_first() else { return };
    scan.contact(host);
    if command.is_empty() {
        return;
    }
    let name = host.value().map(|text| text.rsplit('@').next().unwrap_or(text));
    let is_here = matches!(name, Some("localhost" | "127.0.0.1" | "::1" | "0.0.0.0" | "ip6-localhost"));
    let language = if is_here { Language::Shell } else { Language::Opaque };
    scan.nest(Nested::Code { language, code: join(command, " "), arguments: Vec::new() });
}

/// `-O` takes the name from the URL; `file://` reads.
pub(super) fn curl(scan: &mut Scan<'_>) {
    let urls: Vec<Word> = scan
        .invocation
        .operands
        .iter()
        .map(|operand| operand.word.clone())
        .chain(
            scan.invocation
                .options
                .iter()
                .filter(|option| option.name == "--url")
                .filter_map(|o| o.value.clone()),
        )
        .collect();
    let keeps_name = scan.has("--remote-name") || scan.has("--remote-name-all");
    let place = scan.value("--output-dir").cloned();
    for url in urls {
        if url.known_prefix().starts_with("file://") {
            scan.path(Access::Read, false, &without_prefix(&url, "file://".len()));
        }
        if keeps_name && let Some(name) = base_name(&url) {
            let name = match name.value() {
                Some(text) => Word::known(text.split(['?', '#']).next().unwrap_or(text)),
                None => name,
            };
            let path = super::words::under(place.as_ref(), &name);
            scan.path(Access::Write, false, &path);
        }
    }
}

/// Passwords from files.
pub(super) fn openssl(scan: &mut Scan<'_>) {
    let values: Vec<Word> =
        scan.invocation.options.iter().filter_map(|option| option.value.clone()).collect();
    for value in values {
        if value.known_prefix().starts_with("file:") {
            scan.path(Access::Read, false, &without_prefix(&value, "file:".len()));
        }
    }
}

/// A request without a method is a `POST` as soon as it carries fields.
pub(super) fn gh_api(scan: &mut Scan<'_>) {
    let has_fields = ["--field", "--raw-field", "--input"].iter().any(|name| scan.has(name));
    let method = scan.value("--method").and_then(Word::value).map(str::to_ascii_uppercase);
    let name = match method.as_deref() {
        Some("GET" | "HEAD") => return,
        None if !has_fields => return,
        Some("DELETE") => "--api-delete",
        _ => "--api-write",
    };
    scan.derive(name, 0);
}
