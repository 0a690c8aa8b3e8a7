//! The published schemas are those of the types. `GATEWRIGHT_BLESS=1` writes them anew; read them before committing.

use std::path::Path;

use gatewright::dry_run::Summary;
use gatewright::record::{DecisionLine, Report};

#[test]
fn published_schemas_are_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
    let is_blessing = std::env::var_os("GATEWRIGHT_BLESS").is_some();
    for (name, schema) in [
        ("decision-line", schemars::schema_for!(DecisionLine)),
        ("report", schemars::schema_for!(Report)),
        ("dry-run-summary", schemars::schema_for!(Summary)),
    ] {
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if is_blessing {
            std::fs::write(&path, text).unwrap();
        } else {
            let published = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(published, text, "{} is old: run with GATEWRIGHT_BLESS=1", path.display());
        }
    }
}
