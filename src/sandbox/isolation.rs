//! Which layers of isolation are in force on this machine, in plain words.

use super::sweep;

/// One mechanism that keeps a child inside, and whether it does so here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Short name, stable across versions.
    pub name: &'static str,
    /// Whether it is in force for the children of this process.
    pub in_force: bool,
    /// What it does, or why it does not.
    pub why: String,
}

/// All layers, those in force and those not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolation {
    /// In a fixed order.
    pub layers: Vec<Layer>,
}

impl Isolation {
    /// Looks at this process and says what its children get.
    pub fn survey() -> Isolation {
        let built = |name, why: &str| Layer { name, in_force: true, why: why.to_owned() };
        let missing = |name| Layer { name, in_force: false, why: "not built into this version".to_owned() };
        let linux = cfg!(target_os = "linux");
        let subreaper = if sweep::is_subreaper() {
            built("subreaper", "what leaves its process group is found again and killed at the end")
        } else {
            Layer {
                name: "subreaper",
                in_force: false,
                why: if linux { "not asked for in this process" } else { "only Linux has it" }.to_owned(),
            }
        };
        Isolation {
            layers: vec![
                built("clean-environment", "children get listed variables only and a home of their own"),
                built("process-group", "each command is a session of its own and is killed as a whole"),
                subreaper,
                built("limits", "time, output and core dumps are bounded; no terminal, no inherited files"),
                Layer {
                    name: "no-new-privileges",
                    in_force: linux,
                    why: if linux { "set-user-id programs gain nothing" } else { "only Linux has it" }
                        .to_owned(),
                },
                missing("landlock"),
                missing("seccomp"),
                missing("namespaces"),
                missing("exec-gate"),
                missing("network-proxy"),
            ],
        }
    }

    /// The layer of that name.
    pub fn layer(&self, name: &str) -> Option<&Layer> {
        self.layers.iter().find(|layer| layer.name == name)
    }
}
