//! Arguments of a call, by the names that agents use for them.

use serde_json::{Map, Value};

use super::Refusal;

const PATH: &[&str] = &["path", "file_path", "filePath", "file", "target_file", "absolute_path"];

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    map: Option<&'a Map<String, Value>>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(args: &'a Value) -> Self {
        Self { map: args.as_object() }
    }

    /// The path; several names with different paths are refused, since the rules judged all of them.
    pub(super) fn path(&self) -> Result<Option<&'a str>, Refusal> {
        let mut given = PATH
            .iter()
            .filter_map(|name| self.value(name))
            .map(|value| value.as_str().ok_or_else(|| "the path must be text".to_owned()));
        let Some(first) = given.next().transpose()? else { return Ok(None) };
        for other in given {
            if other? != first {
                return Err("several different paths are given".to_owned());
            }
        }
        Ok(Some(first))
    }

    pub(super) fn required_path(&self) -> Result<&'a str, Refusal> {
        self.path()?.ok_or_else(|| "`path` is missing".to_owned())
    }

    /// The first of these names that is there, as text.
    pub(super) fn text(&self, names: &[&str]) -> Result<Option<&'a str>, Refusal> {
        match names.iter().find_map(|name| self.value(name)) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("`{}` must be text", names.first().unwrap_or(&""))),
        }
    }

    pub(super) fn required_text(&self, names: &[&str]) -> Result<&'a str, Refusal> {
        self.text(names)?.ok_or_else(|| format!("`{}` is missing", names.first().unwrap_or(&"")))
    }

    pub(super) fn count(&self, names: &[&str]) -> Result<Option<u64>, Refusal> {
        match names.iter().find_map(|name| self.value(name)) {
            None => Ok(None),
            Some(value) => value
                .as_u64()
                .or_else(|| value.as_str().and_then(|text| text.parse().ok()))
                .map(Some)
                .ok_or_else(|| format!("`{}` must be a whole number", names.first().unwrap_or(&""))),
        }
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.value(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn list(&self, name: &str) -> Option<&'a [Value]> {
        self.value(name)?.as_array().map(Vec::as_slice)
    }

    fn value(&self, name: &str) -> Option<&'a Value> {
        self.map?.get(name).filter(|value| !value.is_null())
    }
}
