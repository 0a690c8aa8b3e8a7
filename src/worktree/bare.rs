//! Private repositories, written file by file: no template, no hook, no remote, no setting but ours.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Base, Repository, WorktreeError};

/// Settings that decide which bytes a checkout has; taken over so that nothing looks edited that is not.
const BYTES: [&str; 6] = [
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.symlinks",
    "core.precomposeunicode",
];

/// Name of the only ref in a private repository.
const BASE_REF: &str = "refs/heads/base";

/// Makes a git directory at `at` that borrows the objects of `repository` and knows one commit.
///
/// `head_is_detached` decides whether HEAD names the commit or the branch `base`; `is_bare` what its config says.
pub(super) fn create(
    at: &Path,
    repository: &Repository,
    base: &Base,
    is_bare: bool,
    extra_objects: Option<&Path>,
) -> Result<(), WorktreeError> {
    for directory in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"] {
        let directory = at.join(directory);
        fs::create_dir_all(&directory).map_err(WorktreeError::io("create", &directory))?;
    }
    let write = |name: &str, bytes: &[u8]| {
        let file = at.join(name);
        fs::write(&file, bytes).map_err(WorktreeError::io("write", file))
    };
    let mut borrowed = repository.common_dir().join("objects").as_os_str().as_bytes().to_owned();
    borrowed.push(b'\n');
    if let Some(objects) = extra_objects {
        borrowed.extend(objects.as_os_str().as_bytes());
        borrowed.push(b'\n');
    }
    write("objects/info/alternates", &borrowed)?;
    write("config", config(repository, is_bare).as_bytes())?;
    write("info/exclude", &repository.frozen_excludes())?;
    // A shallow clone has no parents beyond these commits; without the list git looks for them and fails.
    if let Ok(shallow) = fs::read(repository.common_dir().join("shallow")) {
        write("shallow", &shallow)?;
    }
    write(BASE_REF, format!("{}\n", base.commit).as_bytes())?;
    let head = if is_bare { format!("ref: {BASE_REF}\n") } else { format!("{}\n", base.commit) };
    write("HEAD", head.as_bytes())
}

fn config(repository: &Repository, is_bare: bool) -> String {
    let mut text = format!(
        "[core]\n\trepositoryformatversion = 0\n\tbare = {is_bare}\n\tlogallrefupdates = false\n\
         \tfsmonitor = false\n\thooksPath = /dev/null\n"
    );
    for key in BYTES {
        if let Some(value) = repository.config.value(key)
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            text.push_str(&format!("\t{} = {value}\n", key.trim_start_matches("core.")));
        }
    }
    text.push_str("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[commit]\n\tgpgsign = false\n");
    text.push_str("[protocol]\n\tallow = never\n[advice]\n\tdetachedHead = false\n");
    text
}
