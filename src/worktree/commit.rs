//! The one commit, built beside git: no hook, no editor, no signing program, no template has a say.

use serde::{Deserialize, Serialize};

use super::{Fork, ObjectId, WorktreeError};

/// Name and mail address of an author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

impl Default for Identity {
    fn default() -> Identity {
        Identity { name: "gatewright".into(), email: "gatewright@localhost".into() }
    }
}

/// Everything a commit consists of, besides its parent, which is the base.
#[derive(Clone, Debug)]
pub struct CommitPlan {
    /// The tree, as [`super::Changes`] has it.
    pub tree: ObjectId,
    /// Subject and body.
    pub message: String,
    /// Lines `Key: value` at the end of the message, in order.
    pub trailers: Vec<(String, String)>,
    /// Who wrote it.
    pub author: Identity,
    /// Who made the commit.
    pub committer: Identity,
    /// Seconds since 1970; written with the offset of UTC.
    pub time: i64,
}

impl CommitPlan {
    /// The whole message: line ends unified, no NUL, trailers as one block that git recognises.
    fn text(&self) -> String {
        let mut text = self.message.replace("\r\n", "\n").replace(['\r', '\0'], "");
        text.truncate(text.trim_end().len());
        text = text.trim_start_matches('\n').to_owned();
        if text.is_empty() {
            text.push_str("Change by gatewright");
        }
        if !self.trailers.is_empty() {
            text.push('\n');
        }
        for (key, value) in &self.trailers {
            // One line each: a value with a line break could otherwise pose as another trailer.
            let value = value.split(['\n', '\r', '\0']).collect::<Vec<_>>().join(" ");
            text.push_str(&format!("\n{key}: {value}"));
        }
        text.push('\n');
        text
    }
}

impl Fork {
    /// Builds the commit on the base, in our own store. The user's repository is not touched.
    ///
    /// # Errors
    /// When objects cannot be read or written.
    pub fn build_commit(&self, plan: &CommitPlan) -> Result<ObjectId, WorktreeError> {
        let failed = || WorktreeError::objects("build the commit");
        let store = self.open_store()?;
        let time = git2::Time::new(plan.time, 0);
        let signature = |identity: &Identity| {
            let fallback = Identity::default();
            let name = clean(&identity.name).unwrap_or(fallback.name);
            let email = clean(&identity.email).unwrap_or(fallback.email);
            git2::Signature::new(&name, &email, &time).map_err(failed())
        };
        let tree = store.find_tree(plan.tree.0).map_err(failed())?;
        let parent = store.find_commit(self.base.commit.0).map_err(failed())?;
        let id = store
            .commit(
                None,
                &signature(&plan.author)?,
                &signature(&plan.committer)?,
                &plan.text(),
                &tree,
                &[&parent],
            )
            .map_err(failed())?;
        Ok(ObjectId(id))
    }

    /// The change from the base to `tree` as a patch that `git apply` takes, binary files included.
    ///
    /// # Errors
    /// When git fails.
    pub fn patch(&self, tree: ObjectId) -> Result<Vec<u8>, WorktreeError> {
        let store = self.store();
        let call = self.repository.git.on(&store, None, "diff-tree");
        call.setting("core.quotePath=true")
            .args(["-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv"])
            .args(["--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none"])
            .args([self.base.tree.to_string(), tree.to_string()])
            .bytes()
    }
}

/// A name without what git does not take in one, or nothing if nothing is left.
fn clean(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect();
    let text = text.trim_matches(|c: char| c.is_whitespace() || ".,:;\"'\\".contains(c)).to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
#[expect(clippy::expect_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_cannot_pose_as_two() {
        let plan = CommitPlan {
            tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904".parse().expect("an id"),
            message: "\n\nSubject\r\n\r\nBody \n\n".into(),
            trailers: vec![("Run".into(), "a\nTests: passed".into()), ("Policy".into(), "b".into())],
            author: Identity::default(),
            committer: Identity::default(),
            time: 0,
        };
        assert_eq!(plan.text(), "Subject\n\nBody\n\nRun: a Tests: passed\nPolicy: b\n");
    }

    #[test]
    fn names_git_refuses_are_cleaned() {
        assert_eq!(clean(" A <b>\n ").as_deref(), Some("A b"));
        assert_eq!(clean("<>."), None);
    }
}
