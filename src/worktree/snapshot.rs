//! Proof that the user's repository stayed as it was: everything that matters, before and after.
//!
//! Taken with calls that write nothing and run nothing. Contents are kept as digests, never as text, since
//! config files can hold tokens.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{RepoPath, Repository, WorktreeError, os_from};

/// A part of the repository that can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Settings, of the repository and of the user, includes followed.
    Config,
    /// Hooks, wherever settings put them.
    Hooks,
    /// Branches, tags, stash, notes, replacements, and what HEAD names.
    Refs,
    /// The list of worktrees.
    Worktrees,
    /// The index: what would be committed next.
    Index,
    /// Files of the checkout, ignored ones excepted.
    Files,
    /// Locks in the git directory.
    Locks,
    /// Everything else in the git directory but objects, logs and messages: excludes, attributes, alternates,
    /// grafts, submodules.
    GitDirectory,
}

impl Area {
    /// Whether a change here can make git run something, or show another history: never a user's everyday work
    /// during a run.
    pub fn is_grave(self) -> bool {
        matches!(self, Area::Config | Area::Hooks | Area::GitDirectory)
    }
}

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Which part.
    pub area: Area,
    /// What changed, as a sentence without a stop.
    pub what: String,
}

/// The state of a repository at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    parts: BTreeMap<Area, BTreeMap<String, String>>,
}

/// Names in the git directory that change with everyday work and decide nothing.
const EVERYDAY: [&str; 13] = [
    "objects",
    "logs",
    "refs",
    "packed-refs",
    "index",
    "lfs",
    "annex",
    "COMMIT_EDITMSG",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "AUTO_MERGE",
    "gc.log",
    "gitk.cache",
];

impl Snapshot {
    /// Looks at the repository.
    ///
    /// # Errors
    /// When git fails or files cannot be read.
    pub fn take(repository: &Repository) -> Result<Snapshot, WorktreeError> {
        let mut snapshot = Snapshot::default();
        snapshot.add_config(repository)?;
        snapshot.add_git_directory(repository);
        snapshot.add_refs(repository)?;
        snapshot.add_worktrees(repository)?;
        snapshot.add_index_and_files(repository)?;
        Ok(snapshot)
    }

    /// What differs in `later`. Refs named in `expected` may have been created, with exactly that commit.
    pub fn compare(&self, later: &Snapshot, expected: &[(String, super::ObjectId)]) -> Vec<Difference> {
        let mut differences = Vec::new();
        let none = BTreeMap::new();
        let areas: std::collections::BTreeSet<Area> =
            self.parts.keys().chain(later.parts.keys()).copied().collect();
        for area in areas {
            let old = self.parts.get(&area).unwrap_or(&none);
            let new = later.parts.get(&area).unwrap_or(&none);
            let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for name in names {
                let how = match (old.get(name), new.get(name)) {
                    (Some(one), Some(other)) if one == other => continue,
                    (Some(_), Some(_)) => "changed",
                    (Some(_), None) => "is gone",
                    (None, None) => continue,
                    (None, Some(value)) => {
                        let is_ours = area == Area::Refs
                            && expected.iter().any(|(reference, id)| {
                                *name == ref_name(reference) && *value == id.to_string()
                            });
                        if is_ours {
                            continue;
                        }
                        "is new"
                    }
                };
                differences.push(Difference { area, what: format!("{name} {how}") });
            }
        }
        differences
    }

    /// One digest over everything, for a report.
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for (area, part) in &self.parts {
            for (name, value) in part {
                hasher.update(format!("{area:?}\0{name}\0{value}\0"));
            }
        }
        hex(&hasher.finalize())
    }

    fn add(&mut self, area: Area, name: impl Into<String>, value: impl Into<String>) {
        self.parts.entry(area).or_default().insert(name.into(), value.into());
    }

    fn add_config(&mut self, repository: &Repository) -> Result<(), WorktreeError> {
        // Read again: what was read at the start is what we compare with.
        let config = super::git_config::GitConfig::read(
            &repository.git,
            &repository.user,
            repository.git_dir(),
            repository.root(),
        )?;
        let mut files: std::collections::BTreeSet<PathBuf> =
            config.entries().iter().filter_map(|entry| entry.origin.clone()).collect();
        files.extend(repository.user.personal_files());
        files.extend(["config", "config.worktree"].map(|name| repository.common_dir().join(name)));
        files.insert(repository.git_dir().join("config.worktree"));
        let home = repository.user.home.as_deref();
        for file in files {
            if let Some(value) = digest_of(&file) {
                self.add(
                    Area::Config,
                    format!("the settings file {}", shown(&file, repository, home)),
                    value,
                );
            }
        }
        // Each key by itself, so that a report can name it; values only as digests.
        let mut keys: BTreeMap<String, Sha256> = BTreeMap::new();
        for entry in config.entries() {
            let hasher =
                keys.entry(format!("the {} setting {}", entry.scope, entry.key.escape_debug())).or_default();
            hasher.update(entry.value.as_deref().unwrap_or("\0"));
            hasher.update([0]);
        }
        for (name, hasher) in keys {
            self.add(Area::Config, name, hex(&hasher.finalize()));
        }
        if let Some(path) = config.value("core.hookspath") {
            let folder = match (path.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => repository.root().join(path),
            };
            self.add_directory(Area::Hooks, &folder, &|file| {
                format!("the hook {}", shown(file, repository, home))
            });
        }
        Ok(())
    }

    fn add_git_directory(&mut self, repository: &Repository) {
        let mut directories = vec![repository.common_dir().to_owned()];
        if repository.git_dir() != repository.common_dir() {
            directories.push(repository.git_dir().to_owned());
        }
        for directory in directories {
            let name = |file: &Path| shown(file, repository, None);
            self.add_git_entries(&directory, 0, &name);
        }
    }

    fn add_git_entries(&mut self, directory: &Path, depth: usize, name: &dyn Fn(&Path) -> String) {
        let Ok(entries) = fs::read_dir(directory) else { return };
        let is_top = directory.join("HEAD").exists() && directory.join("objects").exists() || depth == 0;
        for entry in entries.flatten() {
            let path = entry.path();
            let file = entry.file_name();
            let file = file.to_string_lossy();
            if file.ends_with(".lock") {
                self.add(Area::Locks, format!("the lock {}", name(&path)), "");
                continue;
            }
            if file.starts_with("fsmonitor--daemon") || file.starts_with("sharedindex.") {
                continue;
            }
            let is_everyday = EVERYDAY.contains(&file.as_ref()) || file == "HEAD" || file == "config";
            if is_top && is_everyday {
                let extra = path.join("info");
                if file == "objects" {
                    self.add_directory(Area::GitDirectory, &extra, &|file| name(file));
                }
                if depth > 0 && file == "config" {
                    self.add(
                        Area::Config,
                        format!("the settings file {}", name(&path)),
                        digest_of(&path).unwrap_or_default(),
                    );
                }
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && file == "hooks" && is_top {
                self.add_directory(Area::Hooks, &path, &|file| format!("the hook {}", name(file)));
            } else if kind.is_dir() && depth < 12 {
                // Worktrees and submodules have git directories of their own below this one.
                if !(is_everyday && directory.parent().is_some_and(|up| up.ends_with("worktrees"))) {
                    self.add_git_entries(&path, depth + 1, name);
                }
            } else if !(is_everyday
                && path.parent().and_then(Path::parent).is_some_and(|up| up.ends_with("worktrees")))
            {
                self.add(Area::GitDirectory, name(&path), digest_of(&path).unwrap_or_default());
            }
        }
    }

    /// Every file below a directory, with content and mode; at most ten thousand.
    fn add_directory(&mut self, area: Area, directory: &Path, name: &dyn Fn(&Path) -> String) {
        let mut waiting = vec![directory.to_owned()];
        let mut count = 0;
        while let Some(directory) = waiting.pop() {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                count += 1;
                if count > 10_000 {
                    return;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                    _ => self.add(area, name(&entry.path()), digest_of(&entry.path()).unwrap_or_default()),
                }
            }
        }
    }

    fn add_refs(&mut self, repository: &Repository) -> Result<(), WorktreeError> {
        let format = "--format=%(objectname) %(refname)";
        let list = repository.read("for-each-ref").arg(format).bytes()?;
        for line in list.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = String::from_utf8_lossy(line);
            if let Some((id, name)) = line.split_once(' ') {
                self.add(Area::Refs, ref_name(name), id);
            }
        }
        let head = fs::read(repository.git_dir().join("HEAD")).unwrap_or_default();
        self.add(Area::Refs, "HEAD", String::from_utf8_lossy(&head).trim_end());
        // The stash is a ref whose older entries live in its log alone.
        let stash = fs::read(repository.common_dir().join("logs/refs/stash")).unwrap_or_default();
        if !stash.is_empty() {
            self.add(Area::Refs, "the list of stashes", hex(&Sha256::digest(&stash)));
        }
        Ok(())
    }

    fn add_worktrees(&mut self, repository: &Repository) -> Result<(), WorktreeError> {
        let list = repository.read("worktree").args(["list", "--porcelain"]).bytes()?;
        let text = String::from_utf8_lossy(&list);
        for entry in text.split("\n\n").filter(|entry| !entry.trim().is_empty()) {
            let (first, rest) = entry.split_once('\n').unwrap_or((entry, ""));
            // Where its HEAD is belongs to the refs and moves with everyday work.
            let rest: Vec<&str> = rest.lines().filter(|line| !line.starts_with("HEAD ")).collect();
            self.add(Area::Worktrees, format!("the {}", first.escape_debug()), rest.join("\n"));
        }
        Ok(())
    }

    fn add_index_and_files(&mut self, repository: &Repository) -> Result<(), WorktreeError> {
        // What the index says, not its bytes: those also change when somebody runs `git status`.
        let list = repository.read_checkout("ls-files").args(["-z", "--stage", "-v"]).bytes()?;
        let mut paths = Vec::new();
        for entry in list.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
            let path = RepoPath::new(&entry[tab + 1..]);
            self.add(Area::Index, format!("the index entry {path}"), String::from_utf8_lossy(&entry[..tab]));
            paths.push(path);
        }
        let new = repository.read_checkout("ls-files").args(["-z", "--others", "--exclude-standard"]);
        let exclude = excludes_of(repository);
        let new = new.setting(exclude).bytes()?;
        paths.extend(new.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new));
        for path in paths {
            let file = repository.root().join(os_from(path.as_bytes()));
            let value = match fs::symlink_metadata(&file) {
                Ok(meta) if meta.is_dir() => "directory".to_owned(),
                Ok(meta) => format!(
                    "{:o} {} {}.{} {}.{} {}",
                    meta.mode(),
                    meta.size(),
                    meta.mtime(),
                    meta.mtime_nsec(),
                    meta.ctime(),
                    meta.ctime_nsec(),
                    meta.ino()
                ),
                Err(_) => continue,
            };
            self.add(Area::Files, format!("the file {path}"), value);
        }
        Ok(())
    }
}

/// The user's personal excludes as a setting of a call, so that their editor's litter is no finding.
fn excludes_of(repository: &Repository) -> std::ffi::OsString {
    let mut setting = std::ffi::OsString::from("core.excludesFile=");
    match repository.config.value("core.excludesfile") {
        Some(path) => setting.push(path),
        None => setting.push(
            repository
                .user
                .config_folder()
                .map_or_else(|| PathBuf::from("/dev/null"), |folder| folder.join("ignore")),
        ),
    }
    setting
}

fn ref_name(full: &str) -> String {
    let kind = |prefix: &str, word: &str| {
        full.strip_prefix(prefix).map(|name| format!("{word} {}", name.escape_debug()))
    };
    kind("refs/heads/", "the branch")
        .or_else(|| kind("refs/tags/", "the tag"))
        .or_else(|| kind("refs/remotes/", "the remote branch"))
        .or_else(|| kind("refs/replace/", "the replacement of"))
        .or_else(|| (full == "refs/stash").then(|| "the stash".to_owned()))
        .unwrap_or_else(|| format!("the ref {}", full.escape_debug()))
}

/// A path as the user knows it: from the top of the checkout, or from home, or whole.
fn shown(file: &Path, repository: &Repository, home: Option<&Path>) -> String {
    let text = if let Ok(inside) = file.strip_prefix(repository.root()) {
        inside.display().to_string()
    } else if let Some(inside) = home.and_then(|home| file.strip_prefix(home).ok()) {
        format!("~/{}", inside.display())
    } else {
        file.display().to_string()
    };
    text.escape_debug().to_string()
}

/// Content and mode of a file; of a link its target; of something large its size and time.
fn digest_of(file: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(file).ok()?;
    let mode = meta.permissions().mode();
    if meta.file_type().is_symlink() {
        let target = fs::read_link(file).ok()?;
        // What a link leads to can change under it.
        let content = fs::read(file).map(|bytes| hex(&Sha256::digest(bytes))).unwrap_or_default();
        return Some(format!("link {} {content}", target.display()));
    }
    if !meta.is_file() {
        return Some(format!("{mode:o}"));
    }
    if meta.size() > 4 * 1024 * 1024 {
        return Some(format!("{mode:o} {} {}.{}", meta.size(), meta.mtime(), meta.mtime_nsec()));
    }
    match fs::read(file) {
        Ok(bytes) => Some(format!("{mode:o} {}", hex(&Sha256::digest(bytes)))),
        Err(_) => Some(format!("{mode:o} unreadable")),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
