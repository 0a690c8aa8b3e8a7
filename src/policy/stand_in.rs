//! Path and host globs until the room `call` brings its own.

use globset::{GlobBuilder, GlobMatcher};

use crate::call::{Context, HostTarget, PathPattern, PathTarget};
use crate::shell::{Access, Fit, Piece};

#[derive(Debug)]
pub struct GlobFault {
    pub message: String,
    pub offset: usize,
    pub hint: Option<String>,
}

#[derive(Debug)]
pub struct PathGlob(Option<GlobMatcher>, String);

impl PathGlob {
    pub fn parse(text: &str) -> Result<Self, GlobFault> {
        if text == "outside_repo" {
            return Ok(Self(None, text.to_owned()));
        }
        GlobBuilder::new(text)
            .literal_separator(true)
            .build()
            .map(|glob| Self(Some(glob.compile_matcher()), text.to_owned()))
            .map_err(|error| GlobFault { message: error.kind().to_string(), offset: 0, hint: None })
    }
    pub fn text(&self) -> &str {
        &self.1
    }
    pub fn is_outside_repo(&self) -> bool {
        self.0.is_none()
    }
    pub fn fit(&self, target: &PathTarget, context: &Context) -> Fit {
        self.fit_path(&target.lexical, target.access, target.recursive, context)
    }
    pub fn fit_path(&self, path: &PathPattern, access: Access, recursive: bool, context: &Context) -> Fit {
        let Some(text) = value(path) else { return if access == Access::Read { Fit::No } else { Fit::Maybe } };
        let relative = text.strip_prefix(&*context.root.to_string_lossy()).map(|rest| rest.trim_start_matches('/'));
        let yes = match &self.0 {
            None => relative.is_none(),
            Some(glob) if self.1.starts_with("**/") || self.1.starts_with('/') => glob.is_match(text),
            Some(glob) => relative.is_some_and(|rest| {
                glob.is_match(rest) || recursive && self.1.starts_with(&format!("{rest}/"))
            }),
        };
        if yes { Fit::Yes } else { Fit::No }
    }
}

pub(super) fn value(path: &PathPattern) -> Option<&str> {
    match path.pieces.as_slice() {
        [Piece::Text(text)] => Some(text),
        _ => None,
    }
}

#[derive(Debug)]
pub struct HostGlob(GlobMatcher);

impl HostGlob {
    pub fn parse(text: &str) -> Result<Self, GlobFault> {
        GlobBuilder::new(text)
            .build()
            .map(|glob| Self(glob.compile_matcher()))
            .map_err(|error| GlobFault { message: error.kind().to_string(), offset: 0, hint: None })
    }
    pub fn fit(&self, target: &HostTarget) -> Fit {
        match &target.host {
            None => Fit::Maybe,
            Some(host) if self.0.is_match(host) => Fit::Yes,
            Some(_) => Fit::No,
        }
    }
}
