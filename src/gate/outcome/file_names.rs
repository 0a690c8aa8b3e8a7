//! Files that hold secrets by their names.

use crate::verdict::Vote;

use super::{Change, ChangeKind, finding};

/// Whole names, lower case.
const NAMES: &[&str] = &[
    ".env",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".git-credentials",
    ".htpasswd",
    ".vault-token",
    ".dockercfg",
    ".npmrc.local",
    ".s3cfg",
    ".boto",
    "credentials.json",
    "client_secret.json",
    "service-account.json",
    "service_account.json",
    "kubeconfig",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ed25519_sk",
    "secring.gpg",
    "wallet.dat",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "master.key",
    "shadow",
    "gshadow",
];

/// Endings, lower case.
const ENDINGS: &[&str] = &[
    ".pem",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".tfstate",
    ".asc.key",
    ".ovpn",
    ".p8",
    ".agekey",
];

/// Folders and the names in them that count.
const PLACES: &[(&str, &str)] = &[
    (".aws", "credentials"),
    (".docker", "config.json"),
    (".kube", "config"),
    (".ssh", ""),
    (".gnupg", ""),
    (".config/gcloud", ""),
];

/// What makes a variant of `.env` a template.
const TEMPLATES: &[&str] =
    &["example", "sample", "template", "dist", "defaults", "schema", "tpl", "test", "ci", "vault"];

pub(super) fn votes(changes: &[Change]) -> Vec<Vote> {
    changes
        .iter()
        .filter(|change| change.kind != ChangeKind::Deleted && is_secret_file(&change.path))
        .map(|change| {
            let reason = "a file of this name holds secrets as a rule".to_owned();
            finding(
                "secret_name",
                reason,
                &change.path,
                "keep it out of the repository; commit a template without values",
            )
        })
        .collect()
}

/// Whether a path is by custom one of secrets.
pub(super) fn is_secret_file(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folder, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    if NAMES.contains(&name) || ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return true;
    }
    if let Some(variant) = name.strip_prefix(".env.") {
        return !variant.split('.').any(|part| TEMPLATES.contains(&part));
    }
    if name.starts_with("id_rsa") && !name.ends_with(".pub") {
        return true;
    }
    let folder = format!("/{folder}/");
    PLACES.iter().any(|(place, file)| {
        folder.contains(&format!("/{place}/"))
            && (file.is_empty() && !name.ends_with(".pub") || *file == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for path in [
            ".env",
            "a/.env",
            ".env.production",
            ".env.local",
            "certs/server.pem",
            "x.P12",
            "home/.ssh/config",
            "id_rsa",
            "id_rsa_old",
            ".aws/credentials",
            "a/.docker/config.json",
            "infra/terraform.tfstate",
        ] {
            assert!(is_secret_file(path), "{path}");
        }
        for path in [
            ".env.example",
            ".env.sample",
            ".env.test",
            ".env.example.local",
            "src/env.rs",
            "docs/credentials.md",
            "id_rsa.pub",
            "x.pem.md",
            "config.json",
            ".envrc.md",
            "src/shadow.rs",
        ] {
            assert!(!is_secret_file(path), "{path}");
        }
    }
}
