//! What README shows has to be what people see.

use std::fs;
use std::path::Path;

/// Every `rule (builtin:NAME:LINE)` of the excerpt names the line on which the rule really stands.
#[test]
fn lines_of_rules_are_the_real_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let mut seen = 0;
    for line in readme.lines() {
        let Some((id, rest)) = line.trim().split_once(" (builtin:") else { continue };
        let (policy, number) = rest.trim_end_matches(')').split_once(':').unwrap();
        let text = fs::read_to_string(root.join(format!("policies/{policy}.yml"))).unwrap();
        let number: usize = number.parse().unwrap();
        assert_eq!(text.lines().nth(number - 1), Some(format!("  - id: {id}").as_str()), "README.md: {line}");
        seen += 1;
    }
    assert!(seen >= 3, "the excerpt of the demo names rules");
}
