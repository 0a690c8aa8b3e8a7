//! What php code calls to start, touch and contact.

use super::super::effect::Access::{Delete, Read, Write};
use super::super::invocation::Language;
use super::calls::Action::{self, Contact, Copy, Eval, Link, Move, Opaque, Open, Path, Shell};
use super::calls::Dialect;
use super::lexer::Lexis;

pub(super) const DIALECT: Dialect = Dialect {
    language: Language::Php,
    lexis: Lexis {
        hash_comments: true,
        slash_comments: true,
        triple_quotes: false,
        dollar_in_double: true,
        hash_brace_in_double: false,
        back_quotes_run: true,
        patterns: false,
        quote_words: false,
        sigils: true,
    },
    actions: ACTIONS,
    transparent: &[],
    bare_calls: false,
    reflection: &["call_user_func", "call_user_func_array", "create_function"],
};

const ACTIONS: &[(&str, Action)] = &[
    ("system", Shell),
    ("exec", Shell),
    ("shell_exec", Shell),
    ("passthru", Shell),
    ("popen", Shell),
    ("proc_open", Shell),
    ("pcntl_exec", Opaque),
    ("fopen", Open),
    ("file_put_contents", Path(0, Write, false)),
    ("file_get_contents", Path(0, Read, false)),
    ("readfile", Path(0, Read, false)),
    ("file", Path(0, Read, false)),
    ("unlink", Path(0, Delete, false)),
    ("rmdir", Path(0, Delete, false)),
    ("rename", Move),
    ("copy", Copy),
    ("symlink", Link),
    ("touch", Path(0, Write, false)),
    ("mkdir", Path(0, Write, false)),
    ("chmod", Path(0, Write, false)),
    ("fsockopen", Contact(0)),
    ("curl_init", Contact(0)),
    ("eval", Eval),
    ("assert", Eval),
    ("unserialize", Opaque),
    ("dl", Opaque),
];
