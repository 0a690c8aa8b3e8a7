//! Redirects: files, here-documents, here-strings.

use shuck_ast::{Redirect as Syntax, RedirectKind as Kind, RedirectTarget};

use super::super::command::{Directory, Input, Redirect, RedirectKind};
use super::super::effect::{Access, Effect, EffectKind};
use super::super::word::{Piece, Word};
use super::parts::Parts;
use super::scope::Scope;
use super::source::Source;
use super::{Place, Reader, Stored, UnreadableKind};

/// Where the standard output goes, if not where it would go.
#[derive(Debug)]
pub(super) enum Output {
    /// A file; `true` if it is added to.
    File(Word, bool),
    /// Nowhere that matters: `/dev/null`, another descriptor.
    Away,
}

impl Reader<'_> {
    /// Reads redirects into `place`: files are added to its redirects, its input is replaced.
    ///
    /// `own` collects the redirects of a simple command; those of groups are passed on to what is in them.
    pub(super) fn redirects(
        &mut self,
        redirects: &[Syntax],
        source: &Source<'_>,
        scope: &mut Scope,
        place: &mut Place,
        mut own: Option<&mut Vec<Redirect>>,
    ) -> Option<Output> {
        let mut output = None;
        let before = place.clone();
        for redirect in redirects {
            let is_input = descriptor(redirect, source).unwrap_or(0) == 0;
            let raw = match &redirect.target {
                RedirectTarget::Heredoc(document) => {
                    let text = self.here_document(document, source, scope, &before);
                    if is_input {
                        place.input = Input::Text(text);
                    }
                    continue;
                }
                RedirectTarget::Word(word) => word,
            };
            if redirect.kind == Kind::HereString {
                let mut text = self.value(raw, source, scope, &before);
                super::field::push(&mut text.pieces, Piece::Text("\n".to_owned()));
                if is_input {
                    place.input = Input::Text(text);
                }
                continue;
            }
            let mut targets = Vec::new();
            self.word(raw, source, scope, &before, &mut targets);
            let span = source.place_of(redirect.span);
            for mut target in targets {
                target.span = source.place_of(raw.span);
                self.redirect(redirect, target, scope, place, &mut own, &mut output, span);
            }
        }
        output
    }

    #[expect(clippy::too_many_arguments, reason = "the accumulators of the one loop that calls it")]
    fn redirect(
        &mut self,
        redirect: &Syntax,
        target: Word,
        scope: &Scope,
        place: &mut Place,
        own: &mut Option<&mut Vec<Redirect>>,
        output: &mut Option<Output>,
        span: Option<(usize, usize)>,
    ) {
        let is_output = redirect.fd.unwrap_or(1) == 1 && redirect.fd_var.is_none();
        let is_input = redirect.fd.unwrap_or(0) == 0 && redirect.fd_var.is_none();
        let known = target.value();
        let is_descriptor = known.is_some_and(|text| {
            !text.is_empty() && text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())
        });
        let kind = match redirect.kind {
            Kind::Input => RedirectKind::Read,
            Kind::Append => RedirectKind::Append,
            Kind::Output | Kind::Clobber | Kind::ReadWrite | Kind::OutputBoth => RedirectKind::Write,
            Kind::DupOutput if is_descriptor => {
                if is_output && known != Some("1") {
                    *output = Some(Output::Away);
                }
                return;
            }
            Kind::DupInput => {
                if is_input && known != Some("0") {
                    place.input = Input::Pipe;
                }
                return;
            }
            // `>&word` is `&>word`
            Kind::DupOutput => RedirectKind::Write,
            Kind::HereDoc | Kind::HereDocStrip | Kind::HereString => return,
        };
        if kind == RedirectKind::Read && is_input {
            place.input = match known.and_then(|path| self.files.get(path)) {
                Some(stored) if known.is_some_and(|path| path.starts_with("/dev/fd/")) => {
                    match stored.as_slice() {
                        [Stored::Text(text)] => Input::Text(text.clone()),
                        _ => Input::Pipe,
                    }
                }
                _ => Input::File(target.clone()),
            };
        }
        let is_nothing = known.is_some_and(is_device);
        if kind != RedirectKind::Read && (is_output || redirect.kind == Kind::OutputBoth) {
            *output = Some(if is_nothing {
                Output::Away
            } else {
                Output::File(target.clone(), kind == RedirectKind::Append)
            });
        }
        if is_nothing {
            return;
        }
        if !target.pieces.is_empty() {
            self.note_unknown_path(&target, access(kind), span, None);
        }
        let entry = Redirect { kind, target };
        match own {
            Some(own) => own.push(entry),
            None => {
                // A group's redirect happens once, whatever is in the group.
                self.redirect_effect(&entry, &scope.directory, self.reading.commands.len());
                place.redirects.push(entry);
            }
        }
    }

    /// The effect of a redirect of the command with this index.
    pub(super) fn redirect_effect(&mut self, redirect: &Redirect, directory: &Directory, command: usize) {
        self.reading.effects.push(Effect {
            command,
            kind: EffectKind::Path { access: access(redirect.kind), recursive: false },
            word: redirect.target.clone(),
            directory: directory.clone(),
            redirect: true,
        });
    }

    /// A path that is written or deleted and not known is something that could not be read.
    pub(super) fn note_unknown_path(
        &mut self,
        path: &Word,
        access: Access,
        span: Option<(usize, usize)>,
        command: Option<usize>,
    ) {
        if path.has_unknown() {
            let verb = match access {
                Access::Read => "reads",
                Access::Write => "writes",
                Access::Delete => "deletes",
            };
            let what = format!("{verb} a path that is not known: {}", path.shown());
            self.unreadable_of(UnreadableKind::Path(access), what, path.span.or(span), command);
        }
    }

    fn here_document(
        &mut self,
        document: &shuck_ast::Heredoc,
        source: &Source<'_>,
        scope: &mut Scope,
        place: &Place,
    ) -> Word {
        let (start, end) = (document.body.span.start.offset(), document.body.span.end.offset());
        let Some(body) = source.text.get(start..end) else { return Word::default() };
        self.spend(8 + body.len() / 8);
        let span = source.place(start, end);
        let stripped: String;
        let (text, base) = if document.delimiter.strip_tabs {
            stripped = body.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect();
            (stripped.as_str(), None)
        } else {
            (body, source.base.map(|base| base + start))
        };
        let delimiter =
            source.slice(document.delimiter.raw.span).or_else(|| source.slice(document.delimiter.span));
        // The parser's own answer is wrong for the second of two documents.
        let is_quoted = match delimiter {
            Some(text) if !text.is_empty() => text.contains(['\'', '"', '\\']),
            _ => document.delimiter.quoted,
        };
        if is_quoted {
            if source.holes.is_empty() {
                return Word { span, ..Word::known(text) };
            }
            return Word { span, ..literal(text, source) };
        }
        if base.is_none() && document.delimiter.strip_tabs {
            let inner = Source { text, base, span, holes: source.holes.clone() };
            return self.here_text(&inner, Parts::None, (0, text.len()), scope, place);
        }
        self.here_text(source, Parts::Heredoc(&document.body.parts), (start, end), scope, place)
    }

    /// Keeps what a command printed into a file, for when that file is run. Answers with what is left to print.
    pub(super) fn store(
        &mut self,
        output: Option<Output>,
        printed: Option<Word>,
        directory: &Directory,
        is_captured: bool,
        first: usize,
    ) -> Option<Word> {
        match output {
            None => return printed,
            Some(Output::Away) => {}
            Some(Output::File(path, is_added)) => {
                let stored = match printed {
                    Some(text) => Stored::Text(text),
                    None => Stored::Foreign(self.origin(first), first..self.reading.commands.len()),
                };
                self.remember(&path, directory, stored, is_added);
            }
        }
        is_captured.then(Word::default)
    }

    /// Remembers the content of a file that the line writes.
    pub(super) fn remember(&mut self, path: &Word, directory: &Directory, stored: Stored, is_added: bool) {
        let Some(key) = super::nested::key(path, directory) else { return };
        let size = match &stored {
            Stored::Text(text) => text
                .pieces
                .iter()
                .map(|piece| if let Piece::Text(text) = piece { text.len() } else { 8 })
                .sum(),
            Stored::Foreign(..) => 8,
        };
        if !self.spend(size) {
            return;
        }
        let entries = self.files.entry(key).or_default();
        let is_full = entries.len() >= 8;
        match (entries.last_mut(), stored) {
            (Some(Stored::Text(before)), Stored::Text(text)) if is_added => {
                for piece in text.pieces {
                    super::field::push(&mut before.pieces, piece);
                }
            }
            (_, stored) if !is_full => entries.push(stored),
            (Some(last), _) => *last = Stored::Foreign("the line".to_owned(), 0..0),
            (None, _) => {}
        }
    }
}

/// Quoted text with its holes.
fn literal(text: &str, source: &Source<'_>) -> Word {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (index, character) in text.char_indices() {
        if let Some(hole) = source.hole(character) {
            super::field::push(
                &mut pieces,
                Piece::Text(text.get(from..index).unwrap_or_default().to_owned()),
            );
            pieces.push(hole.clone());
            from = index + character.len_utf8();
        }
    }
    super::field::push(&mut pieces, Piece::Text(text.get(from..).unwrap_or_default().to_owned()));
    Word { pieces, span: None }
}

/// The descriptor of a here-document or here-string, which the parser may have left to the word before it.
fn descriptor(redirect: &Syntax, source: &Source<'_>) -> Option<i32> {
    redirect.fd.or_else(|| {
        let before = source.text.get(..redirect.span.start.offset())?;
        let digits = before.len() - before.trim_end_matches(|digit: char| digit.is_ascii_digit()).len();
        let (rest, digits) = before.split_at_checked(before.len() - digits)?;
        if rest.ends_with(|before: char| !before.is_whitespace() && !matches!(before, ';' | '&' | '|' | '('))
        {
            return None;
        }
        digits.parse().ok()
    })
}

fn access(kind: RedirectKind) -> Access {
    match kind {
        RedirectKind::Read => Access::Read,
        RedirectKind::Write | RedirectKind::Append => Access::Write,
    }
}

/// Files that are no files.
pub(super) fn is_device(path: &str) -> bool {
    matches!(
        path,
        "/dev/null" | "/dev/zero" | "/dev/tty" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/full"
    ) || path.starts_with("/dev/fd/")
}
