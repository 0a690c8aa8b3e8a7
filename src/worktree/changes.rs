//! What the agent left, compared with the base: computed by us, from the files alone.
//!
//! The agent's index, its commits and its settings do not count. Base entries come from the base tree, everything
//! else from our own walk, so that `skip-worktree`, `assume-unchanged`, a moved HEAD or a planted `info/exclude`
//! hide nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::convert::{Conversions, Scratch};
use super::ignore::IgnoreRules;
use super::walk::{Kind, Seen, SpecialKind, Top};
use super::{Base, Fork, ObjectId, RepoPath, WorktreeError};

const GITLINK: u32 = 0o160000;
const LINK: u32 = 0o120000;
const EXECUTABLE: u32 = 0o100755;
const PLAIN: u32 = 0o100644;

/// How much of a worktree is looked at.
#[derive(Clone, Copy, Debug)]
pub struct ChangeLimits {
    /// Files and directories in all.
    pub entries: u64,
    /// Bytes of one file; a larger one that is new or changed is a [`Notice::TooLarge`].
    pub file_bytes: u64,
}

impl Default for ChangeLimits {
    fn default() -> ChangeLimits {
        ChangeLimits { entries: 1_000_000, file_bytes: 64 * 1024 * 1024 }
    }
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content is another.
    Modified,
    /// It is gone.
    Deleted,
    /// Only the executable bit is another.
    Mode,
    /// It was a file and is a link, or the like.
    Type,
}

/// A path on one side of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// Git's mode: `0o100644`, `0o100755`, `0o120000` (link), `0o160000` (submodule).
    pub mode: u32,
    /// The blob, or the commit of a submodule.
    pub id: ObjectId,
    /// Size of the blob; 0 for a submodule.
    pub bytes: u64,
}

/// One changed path. Renames are a deletion and an addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: RepoPath,
    /// What happened.
    pub kind: ChangeKind,
    /// How it was in the base.
    pub before: Option<Side>,
    /// How it is now.
    pub after: Option<Side>,
}

/// Something in the worktree that a commit cannot hold, or that should not be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A `.git`, or what some system takes for it, below the top.
    NestedRepository(RepoPath),
    /// A pipe, socket or device; not part of the tree.
    Special(RepoPath, SpecialKind),
    /// A new or changed file beyond the size limit; not part of the tree.
    TooLarge(RepoPath, u64),
    /// A file or directory that could not be read; not part of the tree.
    Unreadable(RepoPath),
    /// A new or changed link that leads out of the tree, with its target.
    OutwardLink(RepoPath, String),
    /// A changed file that the named filter program would have handled; it was not run.
    Unfiltered(RepoPath, String),
    /// A file inside a submodule; submodules are kept as in the base.
    InSubmodule(RepoPath),
    /// The worktree's own `.git` is gone.
    Detached,
}

impl Notice {
    /// Whether the tree lacks something that is in the worktree, so that it must not be taken for the whole.
    pub fn is_incomplete(&self) -> bool {
        !matches!(self, Notice::OutwardLink(..) | Notice::Detached | Notice::NestedRepository(_))
    }

    /// The path it is about.
    pub fn path(&self) -> Option<&RepoPath> {
        match self {
            Notice::NestedRepository(path)
            | Notice::Special(path, _)
            | Notice::TooLarge(path, _)
            | Notice::Unreadable(path)
            | Notice::OutwardLink(path, _)
            | Notice::Unfiltered(path, _)
            | Notice::InSubmodule(path) => Some(path),
            Notice::Detached => None,
        }
    }
}

impl std::fmt::Display for Notice {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Notice::NestedRepository(path) => {
                write!(out, "{path} would be a repository inside the repository")
            }
            Notice::Special(path, SpecialKind::Fifo) => write!(out, "{path} is a named pipe"),
            Notice::Special(path, SpecialKind::Socket) => write!(out, "{path} is a socket"),
            Notice::Special(path, SpecialKind::Device) => write!(out, "{path} is a device"),
            Notice::TooLarge(path, bytes) => write!(out, "{path} is too large ({bytes} bytes)"),
            Notice::Unreadable(path) => write!(out, "{path} cannot be read"),
            Notice::OutwardLink(path, target) => {
                write!(out, "{path} is a link that leaves the tree ({})", target.escape_debug())
            }
            Notice::Unfiltered(path, filter) => {
                write!(out, "{path} belongs to the filter {}, which was not run", filter.escape_debug())
            }
            Notice::InSubmodule(path) => write!(out, "{path} lies in a submodule"),
            Notice::Detached => write!(out, "the worktree's link to its repository is gone"),
        }
    }
}

/// What the agent left.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The base it is compared with.
    pub base: Base,
    /// The tree with all changes; equal to the base's when nothing changed.
    pub tree: ObjectId,
    /// Changed paths, sorted.
    pub list: Vec<Change>,
    /// New files left out because a rule of the base, or the user's own, ignores them. Directories that hold
    /// nothing else stand for their content and end with `/`.
    pub ignored: Vec<RepoPath>,
    /// New files left out because a rule that is itself new or changed ignores them; in the same form.
    pub newly_ignored: Vec<RepoPath>,
    /// What cannot be in a commit, or should not.
    pub notices: Vec<Notice>,
}

impl Changes {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

type Entries = BTreeMap<RepoPath, (u32, ObjectId)>;

impl Fork {
    /// Computes what the worktree holds now, and stores its tree.
    ///
    /// Call it when nothing of the agent runs any more; a file that changes while it is read is taken as read.
    ///
    /// # Errors
    /// When the worktree is gone or too large, or objects cannot be written.
    pub fn changes(&self, limits: &ChangeLimits) -> Result<Changes, WorktreeError> {
        let store = self.open_store()?;
        let base = list_tree(&store, self.base.tree)?;
        let top = Top::open(&self.work())?;
        let seen = top.walk(limits.entries)?;
        Survey { fork: self, store: &store, top: &top, base: &base, limits, notices: Vec::new() }
            .compare(seen)
    }

    /// Lists what `tree` changes against the base.
    ///
    /// # Errors
    /// When objects are missing.
    pub fn compare_tree(&self, tree: ObjectId) -> Result<Vec<Change>, WorktreeError> {
        let store = self.open_store()?;
        compare(&store, &list_tree(&store, self.base.tree)?, &list_tree(&store, tree)?)
    }

    /// The content of a blob of the base or of a result, for checks on content.
    ///
    /// # Errors
    /// When there is no such blob.
    pub fn blob(&self, id: ObjectId) -> Result<Vec<u8>, WorktreeError> {
        let store = self.open_store()?;
        let blob = store.find_blob(id.0).map_err(WorktreeError::objects("read a file of the tree"))?;
        Ok(blob.content().to_owned())
    }

    /// The content of a path in the base; `None` when it has no such file.
    ///
    /// # Errors
    /// When objects are missing.
    pub fn base_file(&self, path: &str) -> Result<Option<Vec<u8>>, WorktreeError> {
        file_in(&self.open_store()?, self.base.tree, path)
    }
}

fn file_in(store: &git2::Repository, tree: ObjectId, path: &str) -> Result<Option<Vec<u8>>, WorktreeError> {
    let failed = || WorktreeError::objects("read a file of the tree");
    let tree = store.find_tree(tree.0).map_err(failed())?;
    match tree.get_path(std::path::Path::new(path)) {
        Ok(entry) if entry.kind() == Some(git2::ObjectType::Blob) => {
            Ok(Some(store.find_blob(entry.id()).map_err(failed())?.content().to_owned()))
        }
        Ok(_) => Ok(None),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        Err(error) => Err(failed()(error)),
    }
}

struct Survey<'a> {
    fork: &'a Fork,
    store: &'a git2::Repository,
    top: &'a Top,
    base: &'a Entries,
    limits: &'a ChangeLimits,
    notices: Vec<Notice>,
}

impl Survey<'_> {
    fn compare(mut self, seen: Seen) -> Result<Changes, WorktreeError> {
        if !seen.has_dot_git {
            self.notices.push(Notice::Detached);
        }
        self.notices.extend(seen.nested.iter().cloned().map(Notice::NestedRepository));
        self.notices.extend(seen.unreadable.iter().cloned().map(Notice::Unreadable));

        let (known, new): (Vec<_>, Vec<_>) =
            seen.entries.iter().cloned().partition(|(path, _)| self.base.contains_key(path));
        let new = self.outside_submodules(new);
        let (new, ignored, newly_ignored) = self.without_ignored(new, &seen)?;

        let mut result: Entries = self
            .base
            .iter()
            .filter(|(path, (mode, _))| *mode == GITLINK && seen.directories.contains(*path))
            .map(|(path, side)| (path.clone(), *side))
            .collect();
        // What cannot be read is kept as it was: the tree must not show a deletion that nobody made.
        for directory in &seen.unreadable {
            let inside =
                self.base.iter().filter(|(path, _)| path.parents().any(|up| up == directory.as_bytes()));
            result.extend(inside.map(|(path, side)| (path.clone(), *side)));
        }
        self.store_all(known.into_iter().chain(new), &mut result)?;

        let tree = self.write_tree(&result)?;
        let list = compare(self.store, self.base, &result)?;
        self.look_at_links(&list)?;
        self.notices.sort_by(|one, other| one.path().cmp(&other.path()));
        Ok(Changes { base: self.fork.base, tree, list, ignored, newly_ignored, notices: self.notices })
    }

    fn outside_submodules(&mut self, new: Vec<(RepoPath, Kind)>) -> Vec<(RepoPath, Kind)> {
        let is_submodule =
            |path: &[u8]| self.base.get(&RepoPath::new(path)).is_some_and(|(mode, _)| *mode == GITLINK);
        let (inside, outside): (Vec<_>, Vec<_>) =
            new.into_iter().partition(|(path, _)| path.parents().any(is_submodule));
        self.notices.extend(inside.into_iter().map(|(path, _)| Notice::InSubmodule(path)));
        outside
    }

    #[expect(clippy::type_complexity, reason = "three lists that are taken apart at once")]
    fn without_ignored(
        &self,
        new: Vec<(RepoPath, Kind)>,
        seen: &Seen,
    ) -> Result<(Vec<(RepoPath, Kind)>, Vec<RepoPath>, Vec<RepoPath>), WorktreeError> {
        let paths: Vec<RepoPath> = new.iter().map(|(path, _)| path.clone()).collect();
        let mut base_rules = Vec::new();
        for (path, (mode, id)) in self.base {
            if path.name() == b".gitignore" && (*mode == PLAIN || *mode == EXECUTABLE) {
                base_rules.push((path.clone(), self.fork.blob(*id)?));
            }
        }
        let ignored = self.ask_rules("ignore-base", &base_rules, &paths)?;
        let rest: Vec<RepoPath> = paths.into_iter().filter(|path| !ignored.contains(path)).collect();
        let own_rules = self.files_named(b".gitignore", seen)?;
        let newly = if own_rules == base_rules {
            Default::default()
        } else {
            // The rule file itself stays: the reviewer must see it.
            let rest: Vec<RepoPath> = rest.into_iter().filter(|path| path.name() != b".gitignore").collect();
            self.ask_rules("ignore-own", &own_rules, &rest)?
        };
        let kept =
            new.into_iter().filter(|(path, _)| !ignored.contains(path) && !newly.contains(path)).collect();
        let summary = |set| summarise(&set, seen);
        Ok((kept, summary(ignored), summary(newly)))
    }

    fn ask_rules(
        &self,
        name: &str,
        rules: &[(RepoPath, Vec<u8>)],
        paths: &[RepoPath],
    ) -> Result<std::collections::BTreeSet<RepoPath>, WorktreeError> {
        let scratch = Scratch::create(self.fork.place(), name)?;
        let rules_of = IgnoreRules {
            git: &self.fork.repository.git,
            store: &self.fork.store(),
            scratch: scratch.path(),
        };
        rules_of.ignored(rules, paths)
    }

    /// Plain files of this name in the worktree, with their content.
    fn files_named(&self, name: &[u8], seen: &Seen) -> Result<Vec<(RepoPath, Vec<u8>)>, WorktreeError> {
        let mut files = Vec::new();
        for (path, kind) in &seen.entries {
            if path.name() == name
                && matches!(kind, Kind::File { .. })
                && let Ok(Some(bytes)) = self.top.read(path, 1024 * 1024)
            {
                files.push((path.clone(), bytes));
            }
        }
        Ok(files)
    }

    fn store_all(
        &mut self,
        entries: impl Iterator<Item = (RepoPath, Kind)>,
        result: &mut Entries,
    ) -> Result<(), WorktreeError> {
        let scratch = Scratch::create(self.fork.place(), "convert")?;
        let config = &self.fork.repository.config;
        let entries: Vec<_> = entries.collect();
        let mut attributes = Vec::new();
        for (path, kind) in &entries {
            if path.name() == b".gitattributes"
                && matches!(kind, Kind::File { .. })
                && let Ok(Some(bytes)) = self.top.read(path, 1024 * 1024)
            {
                attributes.push((path.clone(), bytes));
            }
        }
        let store = self.fork.store();
        let conversions = Conversions {
            git: &self.fork.repository.git,
            store: &store,
            scratch: scratch.path(),
            attributes,
            converts_line_ends: config
                .value("core.autocrlf")
                .is_some_and(|value| !value.eq_ignore_ascii_case("false")),
        };
        let keeps_modes =
            config.value("core.filemode").is_some_and(|value| value.eq_ignore_ascii_case("false"));
        let mut waiting: Vec<(RepoPath, u32, Vec<u8>)> = Vec::new();
        let mut waiting_bytes = 0;
        for (path, kind) in entries {
            let before = self.base.get(&path).copied();
            let (mode, bytes) = match kind {
                Kind::Special(kind) => {
                    self.notices.push(Notice::Special(path, kind));
                    continue;
                }
                Kind::Link => (LINK, self.top.link(&path)?),
                Kind::File { is_executable, bytes } => {
                    let mode = match before {
                        Some((mode, _)) if keeps_modes && mode != LINK => mode,
                        _ if is_executable => EXECUTABLE,
                        _ => PLAIN,
                    };
                    match self.top.read(&path, self.limits.file_bytes) {
                        Ok(Some(bytes)) => (mode, bytes),
                        Ok(None) => {
                            self.keep_large(path, bytes, before, result)?;
                            continue;
                        }
                        Err(_) => {
                            result.extend(before.map(|side| (path.clone(), side)));
                            self.notices.push(Notice::Unreadable(path));
                            continue;
                        }
                    }
                }
            };
            let id = git2::Oid::hash_object(git2::ObjectType::Blob, &bytes)
                .map_err(WorktreeError::objects("hash a file of the worktree"))?;
            if before.is_some_and(|(_, old)| old.0 == id) {
                result.insert(path, (mode, ObjectId(id)));
            } else if mode != LINK && conversions.may_apply(&bytes) {
                waiting_bytes += bytes.len();
                waiting.push((path, mode, bytes));
                if waiting_bytes > 64 * 1024 * 1024 {
                    convert(&conversions, &mut waiting, result)?;
                    waiting_bytes = 0;
                }
            } else {
                self.write_blob(&bytes)?;
                result.insert(path, (mode, ObjectId(id)));
            }
        }
        convert(&conversions, &mut waiting, result)?;
        let changed: Vec<RepoPath> = result
            .iter()
            .filter(|(path, side)| self.base.get(*path) != Some(side))
            .map(|(path, _)| path.clone())
            .collect();
        for (path, filter) in conversions.filtered(&changed)? {
            self.notices.push(Notice::Unfiltered(path, filter));
        }
        Ok(())
    }

    /// A file beyond the limit: fine when it is the base's own, otherwise noticed and kept as it was.
    fn keep_large(
        &mut self,
        path: RepoPath,
        bytes: u64,
        before: Option<(u32, ObjectId)>,
        result: &mut Entries,
    ) -> Result<(), WorktreeError> {
        if let Some((mode, id)) = before {
            result.insert(path.clone(), (mode, id));
            let file = self.fork.work().join(path.as_path());
            let same = git2::Oid::hash_file(git2::ObjectType::Blob, file).is_ok_and(|now| now == id.0);
            if same {
                return Ok(());
            }
        }
        self.notices.push(Notice::TooLarge(path, bytes));
        Ok(())
    }

    fn write_blob(&self, bytes: &[u8]) -> Result<(), WorktreeError> {
        self.store.blob(bytes).map(drop).map_err(WorktreeError::objects("store a file of the worktree"))
    }

    fn write_tree(&self, result: &Entries) -> Result<ObjectId, WorktreeError> {
        if result == self.base {
            return Ok(self.fork.base.tree);
        }
        write_tree(self.store, result)
    }

    fn look_at_links(&mut self, list: &[Change]) -> Result<(), WorktreeError> {
        for change in list {
            if let Some(after) = change.after
                && after.mode == LINK
            {
                let target = self.fork.blob(after.id)?;
                if leads_out(&change.path, &target) {
                    let target = String::from_utf8_lossy(&target).into_owned();
                    self.notices.push(Notice::OutwardLink(change.path.clone(), target));
                }
            }
        }
        Ok(())
    }
}

fn convert(
    conversions: &Conversions<'_>,
    waiting: &mut Vec<(RepoPath, u32, Vec<u8>)>,
    result: &mut Entries,
) -> Result<(), WorktreeError> {
    let modes: Vec<u32> = waiting.iter().map(|(_, mode, _)| *mode).collect();
    let files: Vec<(RepoPath, Vec<u8>)> =
        std::mem::take(waiting).into_iter().map(|(path, _, bytes)| (path, bytes)).collect();
    let ids = conversions.store(&files)?;
    for (((path, _), mode), id) in files.into_iter().zip(modes).zip(ids) {
        result.insert(path, (mode, id));
    }
    Ok(())
}

/// Whether a link at `path` points at something outside the tree, by its text alone. `.git` counts as outside.
fn leads_out(path: &RepoPath, target: &[u8]) -> bool {
    if target.first() == Some(&b'/') {
        return true;
    }
    let mut depth = path.parents().count();
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            name => {
                if super::path::is_git_name(name) {
                    return true;
                }
                depth += 1;
            }
        }
    }
    false
}

/// Every blob, link and submodule of a tree.
pub(super) fn list_tree(store: &git2::Repository, tree: ObjectId) -> Result<Entries, WorktreeError> {
    let failed = || WorktreeError::objects("read a tree");
    let mut entries = Entries::new();
    let mut waiting = vec![(RepoPath::default(), tree.0)];
    while let Some((at, id)) = waiting.pop() {
        let tree = store.find_tree(id).map_err(failed())?;
        for entry in &tree {
            let path = at.join(entry.name_bytes());
            if entry.kind() == Some(git2::ObjectType::Tree) {
                waiting.push((path, entry.id()));
            } else {
                entries.insert(path, (entry.filemode() as u32, ObjectId(entry.id())));
            }
        }
    }
    Ok(entries)
}

/// Writes a tree with exactly these entries.
pub(super) fn write_tree(store: &git2::Repository, entries: &Entries) -> Result<ObjectId, WorktreeError> {
    let failed = || WorktreeError::objects("write the resulting tree");
    let mut index = git2::Index::new().map_err(failed())?;
    let time = git2::IndexTime::new(0, 0);
    for (path, (mode, id)) in entries {
        let entry = git2::IndexEntry {
            ctime: time,
            mtime: time,
            dev: 0,
            ino: 0,
            mode: *mode,
            uid: 0,
            gid: 0,
            file_size: 0,
            id: id.0,
            flags: 0,
            flags_extended: 0,
            path: path.as_bytes().to_owned(),
        };
        index.add(&entry).map_err(failed())?;
    }
    Ok(ObjectId(index.write_tree_to(store).map_err(failed())?))
}

fn compare(store: &git2::Repository, base: &Entries, now: &Entries) -> Result<Vec<Change>, WorktreeError> {
    let odb = store.odb().map_err(WorktreeError::objects("open the object store of the run"))?;
    let side = |(mode, id): (u32, ObjectId)| -> Result<Side, WorktreeError> {
        let bytes = if mode == GITLINK {
            0
        } else {
            odb.read_header(id.0).map_err(WorktreeError::objects("read a file of the tree"))?.0 as u64
        };
        Ok(Side { mode, id, bytes })
    };
    let mut list = Vec::new();
    for (path, old) in base {
        if now.get(path) == Some(old) {
            continue;
        }
        let before = Some(side(*old)?);
        let after = now.get(path).map(|new| side(*new)).transpose()?;
        let kind = match after {
            None => ChangeKind::Deleted,
            Some(new) if new.mode & 0o170000 != old.0 & 0o170000 => ChangeKind::Type,
            Some(new) if new.id == old.1 => ChangeKind::Mode,
            Some(_) => ChangeKind::Modified,
        };
        list.push(Change { path: path.clone(), kind, before, after });
    }
    for (path, new) in now.iter().filter(|(path, _)| !base.contains_key(*path)) {
        list.push(Change {
            path: path.clone(),
            kind: ChangeKind::Added,
            before: None,
            after: Some(side(*new)?),
        });
    }
    list.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(list)
}

/// Paths as a person would list them: a directory in which everything is ignored stands for its content.
fn summarise(ignored: &std::collections::BTreeSet<RepoPath>, seen: &Seen) -> Vec<RepoPath> {
    let mut mixed: std::collections::BTreeSet<&[u8]> = Default::default();
    for (path, _) in seen.entries.iter().filter(|(path, _)| !ignored.contains(path)) {
        mixed.extend(path.parents());
    }
    let mut list: Vec<RepoPath> = ignored
        .iter()
        .map(|path| match path.parents().find(|up| !mixed.contains(up)) {
            Some(directory) => RepoPath::new([directory, b"/"].concat()),
            None => path.clone(),
        })
        .collect();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave_the_tree() {
        for (path, target, out) in [
            ("a", "b", false),
            ("a/b", "../c", false),
            ("a", "../c", true),
            ("a/b", "../../c", true),
            ("a", "/etc/passwd", true),
            ("a/b/c", "x/../../../y", false),
            ("a/b", "x/../../../y", true),
            ("a", ".git/config", true),
        ] {
            assert_eq!(leads_out(&RepoPath::new(path), target.as_bytes()), out, "{path} -> {target}");
        }
    }
}
