//! What perl code calls to start, touch and contact.

use super::super::effect::Access::{Delete, Write};
use super::super::invocation::Language;
use super::calls::Action::{self, Contact, Copy, Eval, Link, Move, Opaque, Path, Paths, PerlOpen, Shell};
use super::calls::Dialect;
use super::lexer::Lexis;

pub(super) const DIALECT: Dialect = Dialect {
    language: Language::Perl,
    lexis: Lexis {
        hash_comments: true,
        slash_comments: false,
        triple_quotes: false,
        dollar_in_double: true,
        hash_brace_in_double: false,
        back_quotes_run: true,
        patterns: true,
        quote_words: true,
        sigils: true,
    },
    actions: ACTIONS,
    transparent: &["join"],
    bare_calls: true,
    reflection: &[],
};

const ACTIONS: &[(&str, Action)] = &[
    ("system", Shell),
    ("exec", Shell),
    ("readpipe", Shell),
    ("open", PerlOpen),
    ("sysopen", Path(1, Write, false)),
    ("unlink", Paths(Delete, false)),
    ("rmdir", Paths(Delete, false)),
    ("rmtree", Paths(Delete, true)),
    ("remove_tree", Paths(Delete, true)),
    ("File::Path::rmtree", Paths(Delete, true)),
    ("File::Path::remove_tree", Paths(Delete, true)),
    ("mkdir", Path(0, Write, false)),
    ("rename", Move),
    ("symlink", Link),
    ("link", Copy),
    ("truncate", Path(0, Write, false)),
    ("chmod", Path(1, Write, false)),
    ("kill", Opaque),
    ("eval", Eval),
    ("syscall", Opaque),
    ("socket", Opaque),
    ("getstore", Contact(0)),
    ("gethostbyname", Contact(0)),
];
