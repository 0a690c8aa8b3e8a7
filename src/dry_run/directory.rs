//! Where recorded calls are judged.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::call::{Context, Links};

/// Directories whose root is remembered; more than that and it is looked up again.
const REMEMBERED: usize = 4_096;

/// Stands for the directory of calls whose log tells none: nothing that is written absolutely lies inside.
const UNKNOWN: &str = "/unknown-directory";

/// What is known of the machine the logs are judged on.
pub struct World<'a> {
    /// The root that the user gives for all calls.
    pub root: Option<PathBuf>,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// The top of the git repository around a directory, if both exist here.
    pub top_level: &'a dyn Fn(&Path) -> Option<PathBuf>,
    /// Links of this machine.
    pub links: &'a dyn Links,
}

/// The roots found so far.
#[derive(Debug, Default)]
pub(super) struct Directories {
    roots: HashMap<PathBuf, PathBuf>,
}

impl Directories {
    /// Where a call made in `cwd` is judged; `None` when neither the log nor the user tells.
    pub(super) fn context(&mut self, cwd: Option<&Path>, world: &World<'_>) -> Option<Context> {
        let (root, cwd) = match (&world.root, cwd) {
            (Some(root), None) => (root.clone(), root.clone()),
            (Some(root), Some(cwd)) => (root.clone(), root.join(cwd)),
            (None, Some(cwd)) if cwd.is_absolute() => (self.root_of(cwd, world), cwd.to_owned()),
            (None, Some(_) | None) => return None,
        };
        Some(Context { root, cwd, home: world.home.clone() })
    }

    /// Where a call is judged whose directory nobody knows.
    pub(super) fn unknown(world: &World<'_>) -> Context {
        Context { root: UNKNOWN.into(), cwd: UNKNOWN.into(), home: world.home.clone() }
    }

    fn root_of(&mut self, cwd: &Path, world: &World<'_>) -> PathBuf {
        if let Some(root) = self.roots.get(cwd) {
            return root.clone();
        }
        if self.roots.len() >= REMEMBERED {
            self.roots.clear();
        }
        let root = (world.top_level)(cwd).unwrap_or_else(|| cwd.to_owned());
        self.roots.insert(cwd.to_owned(), root.clone());
        root
    }
}
