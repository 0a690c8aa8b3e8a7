//! Turns the roles of operands and values into effects and into what is started in turn.

use super::super::command::Input;
use super::super::effect::{Access, EffectKind};
use super::super::invocation::{Language, Nested};
use super::super::table::{Argument, Role};
use super::super::word::Word;
use super::options::Scan;
use super::words::{base_name, join, split_once, under, unknown, without_prefix};

/// Applies the roles of all operands and of all values of options.
pub(super) fn apply(scan: &mut Scan<'_>) {
    canonical_keys(scan);
    let recursive = is_recursive(scan);
    let roles = operand_roles(scan);
    let input = scan.current().shape(|name| scan.has(name)).and_then(|shape| shape.input);

    // Values of options.
    let mut code: Vec<(Language, Vec<Word>)> = Vec::new();
    let mut target: Option<Word> = None;
    for at in 0..scan.invocation.options.len() {
        let Some(role) = scan.roles.get(at).copied() else { break };
        let Some(value) = scan.invocation.options.get(at).and_then(|option| option.value.clone()) else {
            continue;
        };
        match role {
            Role::Code(language) => match code.iter_mut().find(|(other, _)| *other == language) {
                Some((_, parts)) => parts.push(value),
                None => code.push((language, vec![value])),
            },
            Role::Script(language) => scan.nest(Nested::Script {
                language,
                path: under(scan.directory.as_ref(), &value),
                arguments: Vec::new(),
                in_this_shell: false,
            }),
            Role::Target => target = Some(value),
            Role::Command => {
                // The value is the program, what follows belongs to it (`fd -x rm`).
                let from = scan.invocation.options.get(at).map_or(scan.words.len(), |option| option.word + 1);
                let rest = scan.words.get(from..).unwrap_or_default();
                let mut words = if rest.first() == Some(&value) { Vec::new() } else { vec![value] };
                words.extend(rest.iter().take_while(|word| word.value() != Some(";")).cloned());
                if scan.current().name == "fd" {
                    words = words
                        .iter()
                        .map(|word| {
                            if word.known_prefix() == "{}" {
                                unknown("what fd finds", false)
                            } else {
                                word.clone()
                            }
                        })
                        .collect();
                    words.push(unknown("what fd finds", true));
                }
                let directory = scan.directory.clone();
                scan.nest(Nested::Command { words, assignments: Vec::new(), directory, takes_input: false });
            }
            Role::Data
            | Role::Read
            | Role::Write
            | Role::Delete
            | Role::Dir
            | Role::Url
            | Role::RemoteRead
            | Role::RemoteWrite
            | Role::Repository
            | Role::AtFile
            | Role::Form
            | Role::Config
            | Role::ConfigKey
            | Role::ShellWords
            | Role::Rest => plain(scan, role, &value, false),
        }
    }
    let operands: Vec<Word> = scan.invocation.operands.iter().map(|operand| operand.word.clone()).collect();
    for (language, parts) in code {
        scan.nest(Nested::Code { language, code: join(&parts, "\n"), arguments: operands.clone() });
    }

    // Operands.
    for at in 0..operands.len() {
        let (Some(role), Some(word)) = (roles.get(at).copied(), operands.get(at)) else { break };
        let rest = || operands.get(at + 1..).unwrap_or_default().to_vec();
        match role {
            Role::Code(language) => {
                scan.nest(Nested::Code { language, code: word.clone(), arguments: rest() });
            }
            Role::Script(language) if word.value() == Some("-") => {
                scan.nest(Nested::Input { language, input: None::<Input> });
                break;
            }
            Role::Script(language) => {
                let path = under(scan.directory.as_ref(), word);
                let in_this_shell = scan.current().name == "source";
                scan.nest(Nested::Script { language, path, arguments: rest(), in_this_shell });
                break;
            }
            Role::Command => {
                let from = scan.invocation.operands.get(at).map_or(scan.words.len(), |operand| operand.index);
                let words = scan.words.get(from..).unwrap_or_default();
                // `exec place -- command`
                let words = match words.split_first() {
                    Some((first, rest)) if first.value() == Some("--") => rest.to_vec(),
                    _ => words.to_vec(),
                };
                let (assignments, directory) = (scan.taken_assignments(), scan.directory.clone());
                scan.nest(Nested::Command { words, assignments, directory, takes_input: false });
                break;
            }
            Role::ShellWords => {
                let words: Vec<Word> = operands.get(at..).unwrap_or_default().to_vec();
                scan.nest(Nested::Code {
                    language: Language::Shell,
                    code: join(&words, " "),
                    arguments: Vec::new(),
                });
                break;
            }
            Role::Rest => break,
            Role::Target => {
                target = Some(word.clone());
                mark(scan, at, Access::Write);
            }
            Role::Read | Role::Write | Role::Delete => {
                let access = match role {
                    Role::Write => Access::Write,
                    Role::Delete => Access::Delete,
                    _ => Access::Read,
                };
                mark(scan, at, access);
                plain(scan, role, word, recursive);
            }
            Role::Data
            | Role::Dir
            | Role::Url
            | Role::RemoteRead
            | Role::RemoteWrite
            | Role::Repository
            | Role::AtFile
            | Role::Form
            | Role::Config
            | Role::ConfigKey => plain(scan, role, word, recursive),
        }
    }
    if let Some(target) = target {
        copy_to(scan, &target, &operands, &roles, recursive);
    }
    // What these change is named by files of the folder, not by their words.
    if matches!(
        scan.chain.first().map(|program| program.name),
        Some("patch" | "make" | "ninja" | "npm" | "pnpm" | "just")
    ) && let Some(directory) = scan.directory.clone()
    {
        scan.invocation
            .effects
            .push((EffectKind::Path { access: Access::Write, recursive: false }, directory));
    }
    let is_given = roles
        .iter()
        .any(|role| matches!(role, Role::Script(_) | Role::Code(_) | Role::Command | Role::ShellWords));
    if !is_given && let Some(language) = input {
        scan.nest(Nested::Input { language, input: None });
    }
}

/// Writes configuration keys the way they are compared: section and name without regard to case.
pub(super) fn canonical_keys(scan: &mut Scan<'_>) {
    for (at, role) in scan.roles.iter().enumerate() {
        if *role == Role::Config
            && let Some(option) = scan.invocation.options.get_mut(at)
            && let Some(value) = &mut option.value
        {
            *value = lower_key(value);
        }
    }
    let roles = operand_roles(scan);
    for (at, role) in roles.iter().enumerate() {
        if matches!(role, Role::Config | Role::ConfigKey)
            && let Some(operand) = scan.invocation.operands.get_mut(at)
        {
            let span = operand.word.span;
            operand.word = Word { span, ..lower_key(&operand.word) };
        }
    }
}

fn lower_key(word: &Word) -> Word {
    let prefix = word.known_prefix();
    let (key, rest) = match split_once(word, '=') {
        Some((key, rest)) => (key.to_owned(), Some(rest)),
        None if word.value().is_some() => (prefix.to_owned(), None),
        None => return word.clone(),
    };
    // The middle of `section.middle.name` keeps its case.
    let lowered = match (key.find('.'), key.rfind('.')) {
        (Some(first), Some(last)) if first < last => {
            let (head, middle, tail) = (&key[..first], &key[first..last], &key[last..]);
            format!("{}{middle}{}", head.to_ascii_lowercase(), tail.to_ascii_lowercase())
        }
        _ => key.to_ascii_lowercase(),
    };
    match rest {
        Some(rest) => join(&[Word::known(format!("{lowered}=")), rest], ""),
        None => Word::known(lowered),
    }
}

/// Whether path effects of this call extend to all that lies below.
pub(super) fn is_recursive(scan: &Scan<'_>) -> bool {
    scan.chain
        .iter()
        .any(|program| program.always_recursive || program.recursive.iter().any(|name| scan.has(name)))
}

/// The role of each operand.
pub(super) fn operand_roles(scan: &Scan<'_>) -> Vec<Role> {
    let count = scan.invocation.operands.len();
    let Some(shape) = scan.current().shape(|name| scan.has(name)) else { return vec![Role::Data; count] };
    let present: Vec<&Argument> =
        shape.args.iter().filter(|argument| !argument.unless.iter().any(|name| scan.has(name))).collect();
    let role = |argument: &Argument| {
        let holds = argument.only_if.is_empty() || argument.only_if.iter().any(|name| scan.has(name));
        // Text that an in-place edit would write is still read without it.
        match (holds, argument.role) {
            (true, role) => role,
            (false, Role::Write) => Role::Read,
            (false, _) => Role::Data,
        }
    };
    let repeat = present.iter().position(|argument| argument.repeats);
    let (front, middle, back) = match repeat {
        Some(at) => (&present[..at], Some(present[at]), &present[at + 1..]),
        None => (&present[..], None, &present[present.len()..]),
    };
    let mut roles: Vec<Role> = front.iter().take(count).map(|argument| role(argument)).collect();
    let left = count - roles.len();
    let at_end = left.min(back.len());
    for _ in 0..left - at_end {
        roles.push(middle.map_or(Role::Data, &role));
    }
    // With too few operands the last ones count: `cp a` has no source.
    roles.extend(back[back.len() - at_end..].iter().map(|argument| role(argument)));
    roles
}

fn mark(scan: &mut Scan<'_>, at: usize, access: Access) {
    if let Some(operand) = scan.invocation.operands.get_mut(at) {
        operand.access = Some(access);
    }
}

/// The effect of one word with a role that needs no context.
pub(super) fn plain(scan: &mut Scan<'_>, role: Role, word: &Word, recursive: bool) {
    match role {
        Role::Read => scan.path(Access::Read, recursive, word),
        Role::Write => scan.path(Access::Write, recursive, word),
        Role::Delete => scan.path(Access::Delete, recursive, word),
        Role::Url => scan.contact(word),
        Role::RemoteRead | Role::RemoteWrite => {
            if is_remote(word) {
                // What `docker cp` calls remote is a container.
                let is_container = matches!(
                    scan.chain.first().map(|program| program.name),
                    Some("docker" | "podman" | "nerdctl" | "kubectl" | "oc")
                );
                if !is_container {
                    scan.contact(word);
                }
            } else {
                let access = if role == Role::RemoteRead { Access::Read } else { Access::Write };
                scan.path(access, recursive, word);
            }
        }
        Role::Repository => super::git::repository(scan, word),
        Role::AtFile => {
            if word.known_prefix().starts_with('@') {
                scan.path(Access::Read, false, &without_prefix(word, 1));
            }
        }
        Role::Form => {
            if let Some((_, value)) = split_once(word, '=')
                && value.known_prefix().starts_with(['@', '<'])
            {
                let path = without_prefix(&value, 1);
                let path = match split_once(&path, ';') {
                    Some((path, _)) => Word::known(path),
                    None => path,
                };
                scan.path(Access::Read, false, &path);
            }
        }
        Role::Data
        | Role::Target
        | Role::Dir
        | Role::Config
        | Role::ConfigKey
        | Role::Code(_)
        | Role::Script(_)
        | Role::Command
        | Role::ShellWords
        | Role::Rest => {}
    }
}

/// `host:path`, `user@host:path`, `scheme://…`.
pub(super) fn is_remote(word: &Word) -> bool {
    let prefix = word.known_prefix();
    if prefix.contains("://") {
        return true;
    }
    match prefix.find([':', '/']) {
        Some(at) => prefix.get(at..).is_some_and(|rest| rest.starts_with(':')),
        // `user@$HOST:path`, `$HOST:path`
        None => word
            .pieces
            .iter()
            .skip(1)
            .any(|piece| matches!(piece, super::Piece::Text(text) if text.starts_with(':'))),
    }
}

/// What lands at `target`: the file itself, or the folder's entry of each source's name.
fn copy_to(scan: &mut Scan<'_>, target: &Word, operands: &[Word], roles: &[Role], recursive: bool) {
    if is_remote(target) && matches!(scan.current().name, "scp" | "rsync") {
        scan.contact(target);
        return;
    }
    let moved = roles.contains(&Role::Delete);
    let sources = || {
        operands
            .iter()
            .zip(roles)
            .filter(|(_, role)| matches!(role, Role::Read | Role::Delete | Role::RemoteRead))
    };
    // A folder for certain is not itself replaced; what lands in it is listed by name below.
    let is_folder = target.value().is_some_and(|text| text.ends_with('/')) || sources().count() > 1;
    // What `rsync` is given with a slash at its end lands there itself.
    let is_spread =
        |word: &Word| scan.current().name == "rsync" && word.value().is_none_or(|text| text.ends_with('/'));
    let are_named = sources().all(|(word, _)| base_name(word).is_some() && !is_spread(word));
    if !(is_folder && are_named) {
        scan.path(Access::Write, recursive, target);
    }
    for (word, role) in operands.iter().zip(roles) {
        if !matches!(role, Role::Read | Role::Delete | Role::RemoteRead) {
            continue;
        }
        // What comes from `host:file` is called `file` here.
        let word = if is_remote(word) {
            split_once(word, ':').map_or_else(|| word.clone(), |(_, rest)| rest)
        } else {
            word.clone()
        };
        if let Some(name) = base_name(&word) {
            scan.path(Access::Write, recursive || moved, &under(Some(target), &name));
        }
    }
}

impl Scan<'_> {
    /// A path is touched; `-` is a stream and the empty word no path.
    pub(super) fn path(&mut self, access: Access, recursive: bool, word: &Word) {
        if matches!(word.value(), Some("" | "-")) {
            return;
        }
        let word = under(self.directory.as_ref(), word);
        self.invocation.effects.push((EffectKind::Path { access, recursive }, word));
    }

    /// A host or URL is contacted.
    pub(super) fn contact(&mut self, word: &Word) {
        if word.value() != Some("") {
            self.invocation.effects.push((EffectKind::Contact, word.clone()));
        }
    }

    /// Something is started or evaluated in turn.
    pub(super) fn nest(&mut self, nested: Nested) {
        self.invocation.nested.push(nested);
    }
}
