//! The only write into the user's repository: one pack, one ref.

use std::fs;
use std::path::Path;

use super::{Fork, ObjectId, Repository, WorktreeError};

/// Full name of the ref that a run's commit gets.
pub fn result_ref(run: &str) -> String {
    format!("refs/heads/gatewright/{run}")
}

impl Repository {
    /// Checks, before any work is done, that the ref of a run could be created.
    ///
    /// # Errors
    /// [`WorktreeError::NameTaken`] when it exists or a branch stands in its way.
    pub fn check_result_ref(&self, run: &str) -> Result<(), WorktreeError> {
        let reference = result_ref(run);
        let taken = |why: String| Err(WorktreeError::NameTaken { reference: reference.clone(), why });
        if !git2::Reference::is_valid_name(&reference) {
            return taken("git does not allow this name".into());
        }
        let list = self.read("for-each-ref").args(["--format=%(refname)", "refs/heads/gatewright"]).text()?;
        for name in list.lines() {
            if name == reference {
                return taken("it exists already".into());
            }
            if reference.starts_with(&format!("{name}/")) {
                return taken(format!("the branch {} is in the way", name.trim_start_matches("refs/heads/")));
            }
            if name.starts_with(&format!("{reference}/")) {
                return taken(format!("{name} is in the way"));
            }
        }
        Ok(())
    }
}

impl Fork {
    /// Moves `commit` and what is new below it into the user's repository and names it `reference`, which must
    /// not exist. Nothing of the user's settings runs, hooks on ref changes included.
    ///
    /// # Errors
    /// When the pack is refused or the ref exists. Objects that were moved before a failure are unreachable and
    /// go with the user's next clean-up.
    pub fn transfer(&self, commit: ObjectId, reference: &str) -> Result<(), WorktreeError> {
        let pack = self.place().join("result.pack");
        self.write_pack(commit, &pack)?;
        let file = fs::File::open(&pack).map_err(WorktreeError::io("read", &pack))?;
        // `--strict` looks into every object and checks that what it names exists: the user's repository never
        // takes in something broken or something with a `.git` in its paths.
        self.repository.read("index-pack").args(["--stdin", "--strict"]).stdin_file(file).bytes()?;
        fs::remove_file(&pack).map_err(WorktreeError::io("remove", pack))?;
        self.create_ref(commit, reference)
    }

    /// One pack with the commit and everything that the base does not have.
    fn write_pack(&self, commit: ObjectId, pack: &Path) -> Result<(), WorktreeError> {
        let failed = || WorktreeError::objects("pack the commit");
        let store = self.open_store()?;
        let mut builder = store.packbuilder().map_err(failed())?;
        builder.insert_object(commit.0, None).map_err(failed())?;
        let tree = store.find_commit(commit.0).and_then(|commit| commit.tree()).map_err(failed())?;
        let base = store.find_tree(self.base.tree.0).map_err(failed())?;
        let mut waiting = vec![(tree, Some(base))];
        while let Some((tree, base)) = waiting.pop() {
            if base.as_ref().is_some_and(|base| base.id() == tree.id()) {
                continue;
            }
            builder.insert_object(tree.id(), None).map_err(failed())?;
            for entry in &tree {
                let old = base
                    .as_ref()
                    .and_then(|base| base.iter().find(|old| old.name_bytes() == entry.name_bytes()));
                if old.as_ref().is_some_and(|old| old.id() == entry.id()) {
                    continue;
                }
                match entry.kind() {
                    Some(git2::ObjectType::Tree) => {
                        let old = old.and_then(|old| store.find_tree(old.id()).ok());
                        waiting.push((store.find_tree(entry.id()).map_err(failed())?, old));
                    }
                    Some(git2::ObjectType::Blob) => {
                        builder.insert_object(entry.id(), None).map_err(failed())?
                    }
                    // A submodule's commit is not ours to carry.
                    _ => {}
                }
            }
        }
        let mut bytes = git2::Buf::new();
        builder.write_buf(&mut bytes).map_err(failed())?;
        fs::write(pack, &*bytes).map_err(WorktreeError::io("write", pack))
    }

    fn create_ref(&self, commit: ObjectId, reference: &str) -> Result<(), WorktreeError> {
        // libgit2 runs no hook of any kind, so it is asked first. It does not open every repository that git
        // does (another owner, an extension it does not know); for those git makes the ref, with hooks off.
        let flags = git2::RepositoryOpenFlags::NO_SEARCH
            | git2::RepositoryOpenFlags::BARE
            | git2::RepositoryOpenFlags::NO_DOTGIT;
        let common = self.repository.common_dir();
        let Ok(repository) =
            git2::Repository::open_ext(common, flags, std::iter::empty::<&std::ffi::OsStr>())
        else {
            return self.create_ref_by_git(commit, reference);
        };
        let ours = git2::Config::open(&self.store().join("config"))
            .map_err(WorktreeError::objects("read a config"))?;
        repository.set_config(&ours).map_err(WorktreeError::objects("set a config"))?;
        match repository.reference(reference, commit.0, false, "") {
            Ok(_) => Ok(()),
            Err(error) => Err(WorktreeError::NameTaken {
                reference: reference.to_owned(),
                why: error.message().to_owned(),
            }),
        }
    }

    fn create_ref_by_git(&self, commit: ObjectId, reference: &str) -> Result<(), WorktreeError> {
        let call = self.repository.read("update-ref").arg("--stdin");
        let outcome = call.stdin(format!("create {reference} {commit}\n")).outcome()?;
        if outcome.code != 0 {
            let why = outcome.stderr.trim().to_owned();
            return Err(WorktreeError::NameTaken { reference: reference.to_owned(), why });
        }
        Ok(())
    }
}
