//! Code in languages that are not looked into: known only when it computes and prints.

use super::super::effect::Access;
use super::super::word::Word;
use super::CodeReading;

/// Names that compute, print or hold values, in Lisps, R, Julia, Haskell, Lua, Elixir and the like. Nothing here starts
/// a program, evaluates text, writes, or reaches the network.
const CALCULATING: &[&str] = &[
    "abs",
    "and",
    "apply",
    "c",
    "ceiling",
    "comp",
    "concat",
    "conj",
    "cons",
    "const",
    "count",
    "cumsum",
    "dec",
    "def",
    "defn",
    "dim",
    "div",
    "do",
    "doall",
    "dorun",
    "doseq",
    "drop",
    "elem",
    "else",
    "end",
    "enum",
    "even",
    "exp",
    "false",
    "filter",
    "first",
    "floor",
    "fn",
    "foldl",
    "foldr",
    "for",
    "format",
    "function",
    "head",
    "if",
    "in",
    "inc",
    "into",
    "io",
    "inspect",
    "join",
    "keys",
    "lambda",
    "lapply",
    "last",
    "len",
    "length",
    "let",
    "line",
    "list",
    "local",
    "log",
    "main",
    "map",
    "mapply",
    "max",
    "mean",
    "median",
    "min",
    "mod",
    "names",
    "ncol",
    "new",
    "newline",
    "nil",
    "not",
    "nrow",
    "null",
    "odd",
    "or",
    "partition",
    "paste",
    "paste0",
    "pr",
    "print",
    "println",
    "prn",
    "product",
    "puts",
    "quantile",
    "quot",
    "range",
    "reduce",
    "rem",
    "rep",
    "rest",
    "return",
    "rev",
    "reverse",
    "round",
    "sapply",
    "second",
    "seq",
    "show",
    "sort",
    "sqrt",
    "str",
    "string",
    "sum",
    "summary",
    "table",
    "tail",
    "take",
    "then",
    "true",
    "tuple",
    "unique",
    "val",
    "vals",
    "var",
    "vec",
    "vector",
    "version",
    "where",
    "while",
    "zip",
    "read.csv",
    "readRDS",
    "nchar",
    "toupper",
    "tolower",
    "upper",
    "lower",
    "sprintf",
    "printf",
    "cat",
    "dotimes",
    "when",
    "cond",
    "case",
    "of",
    "repeat",
];

/// Accepts code of which every name is one that calculates; its literals may be files that it reads. All else is not
/// known.
pub(super) fn read(text: &str, reading: &mut CodeReading) {
    if text.len() > 4096 || !reads(text, reading) {
        reading.effects.clear();
        reading.unreadable("code in a language that is not looked into");
    }
}

fn reads(text: &str, reading: &mut CodeReading) -> bool {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '"' || c == '\'' {
            let Some(end) = rest.get(1..).and_then(|after| after.find(c)) else { return false };
            let literal = rest.get(1..=end).unwrap_or_default();
            if literal.contains(['\\', '#', '$', '`']) {
                return false;
            }
            if literal.contains(['/', '.', '~']) {
                reading.path(Access::Read, false, Word::known(literal));
            }
            rest = rest.get(end + 2..).unwrap_or_default();
        } else if c.is_alphabetic() || c == '_' {
            let end =
                rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            // A single letter is a variable.
            if name.chars().count() > 1 && !CALCULATING.contains(&name) {
                return false;
            }
            rest = after;
        } else if c.is_ascii_digit() {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
            rest = rest.split_at(end).1;
        } else if "`\\@$&|!#/\0".contains(c) {
            return false;
        } else {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::super::invocation::Language;
    use super::super::read_code;
    use super::*;

    fn unreadable(text: &str) -> bool {
        !read_code(Language::Opaque, &Word::known(text), &[]).unreadable.is_empty()
    }

    #[test]
    fn what_calculates_and_prints_is_known() {
        for text in [
            "(->> (range 5) (map inc) prn)",
            "(println (reduce + [1 2 3]))",
            "print(summary(read.csv(\"data/in.csv\")))",
            "print(sum(1:10))",
            "IO",
        ] {
            assert_eq!(unreadable(text), text == "IO", "{text}");
        }
    }

    #[test]
    fn everything_else_is_not() {
        for text in [
            "(clojure.java.shell/sh \"rm\" \"-rf\" \"/\")",
            "(sh \"id\")",
            "(spit \"a\" \"b\")",
            "(eval (read-string x))",
            "system('id')",
            "os.execute('id')",
            "(load-file \"x\")",
            "write.csv(x, 'a')",
            "run(`id`)",
            "(map #(sh %) xs)",
            "print('a\\nb')",
        ] {
            assert!(unreadable(text), "{text}");
        }
    }
}
