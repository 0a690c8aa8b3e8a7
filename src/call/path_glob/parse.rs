//! Reads the text of a path glob.

use super::super::glob::{self, Atom, Part};
use super::{Alternative, Base, PathGlobError};

/// Most choices that the braces of one glob may come to.
const CHOICE_LIMIT: usize = 256;
impl Alternative {
    /// Reads one choice of the braces; `whole` is the glob as written.
    pub(super) fn parse(choice: &str, whole: &str) -> Result<Self, PathGlobError> {
        let error = |message: String, hint: Option<String>| PathGlobError { message, offset: 0, hint };
        let (mut base, rest) = if choice == "~" {
            (Base::Home, "")
        } else if let Some(rest) = choice.strip_prefix("~/") {
            (Base::Home, rest)
        } else if let Some(rest) = choice.strip_prefix('/') {
            (Base::System, rest)
        } else if choice == "**" || choice.starts_with("**/") {
            (Base::Floating, choice)
        } else {
            (Base::Root { up: 0 }, choice)
        };
        let is_folder = rest.ends_with('/');
        let mut parts: Vec<Part> = Vec::new();
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        match &mut base {
                            Base::Root { up } => *up += 1,
                            Base::System => {}
                            Base::Home | Base::Floating => {
                                return Err(error(format!("`{whole}` leads above where it begins"), None));
                            }
                        }
                    }
                }
                "**" => {
                    if parts.last() != Some(&Part::Dirs) {
                        parts.push(Part::Dirs);
                    }
                }
                name => parts.push(parse_name(name, whole)?),
            }
        }
        if is_folder && parts.last() != Some(&Part::Dirs) {
            parts.push(Part::Dirs);
        }
        if base == Base::System && parts.first() == Some(&Part::Dirs) {
            base = Base::Floating;
        }
        let literal = parts.iter().take_while(|part| matches!(part, Part::Literal(_))).count();
        Ok(Self { base, parts, literal })
    }
}

fn parse_name(name: &str, whole: &str) -> Result<Part, PathGlobError> {
    let offset = whole.find(name).unwrap_or(0);
    let error = |message: String, hint: Option<String>| PathGlobError { message, offset, hint };
    let chars: Vec<char> = name.chars().collect();
    let mut atoms = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '*' if chars.get(at) == Some(&'*') => {
                return Err(error(
                    "`**` must stand alone between slashes".to_owned(),
                    Some("write `**/*` for every file below, `*` within one name".to_owned()),
                ));
            }
            '*' => atoms.push(Atom::Star),
            '?' => atoms.push(Atom::One),
            '[' => match glob::parse_class(&chars, at) {
                Some((class, end)) => {
                    if let Atom::Class { ranges, .. } = &class
                        && ranges.iter().any(|(low, high)| low > high)
                    {
                        return Err(error("range in brackets runs backwards".to_owned(), None));
                    }
                    atoms.push(class);
                    at = end;
                }
                None => return Err(error("bracket that does not close".to_owned(), None)),
            },
            '\\' => match chars.get(at) {
                Some(&next) => {
                    atoms.push(Atom::Char(next));
                    at += 1;
                }
                None => return Err(error("backslash at the end".to_owned(), None)),
            },
            c => atoms.push(Atom::Char(c)),
        }
    }
    if atoms.iter().all(|atom| matches!(atom, Atom::Char(_))) {
        Ok(Part::Literal(glob::skeleton(&atoms)))
    } else {
        Ok(Part::Name(atoms))
    }
}

/// Writes out the braces of `text`.
pub(super) fn expand(text: &str, depth: usize, choices: &mut Vec<String>) -> Result<(), PathGlobError> {
    let error =
        |offset: usize, message: &str| PathGlobError { message: message.to_owned(), offset, hint: None };
    if depth > 32 {
        return Err(error(0, "braces nested too deep"));
    }
    let (mut open, mut level, mut cuts) = (None, 0_usize, Vec::new());
    let (mut is_escaped, mut in_class) = (false, false);
    for (at, c) in text.char_indices() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match c {
            '\\' => is_escaped = true,
            '[' if !in_class && text[at..].contains(']') => in_class = true,
            ']' => in_class = false,
            _ if in_class => {}
            '{' => {
                if level == 0 {
                    open = Some(at);
                }
                level += 1;
            }
            ',' if level == 1 => cuts.push(at),
            '}' => {
                if level == 0 {
                    return Err(error(at, "closing brace without an opening one"));
                }
                level -= 1;
                if level == 0
                    && let Some(open) = open
                {
                    let (before, after) = (&text[..open], &text[at + 1..]);
                    let mut from = open + 1;
                    for cut in cuts.iter().copied().chain([at]) {
                        expand(&format!("{before}{}{after}", &text[from..cut]), depth + 1, choices)?;
                        from = cut + 1;
                    }
                    return Ok(());
                }
            }
            _ => {}
        }
    }
    if let Some(open) = open {
        return Err(error(open, "brace that does not close"));
    }
    if choices.len() >= CHOICE_LIMIT {
        return Err(error(0, "braces come to more than 256 choices"));
    }
    choices.push(text.to_owned());
    Ok(())
}
