//! Every text that an agent is told about its calls.
//!
//! One line each, secrets masked, nothing in it that hides or moves. No text names a setting, an option or a
//! file whose change would lift the guard: what an agent reads, it tries.

use crate::call::{harmless_within, mask_secrets};
use crate::verdict::{Decision, Origin, Verdict, Vote};

/// Longest piece that is quoted from elsewhere, in characters.
const QUOTED: usize = 400;

const TAIL: &str = "Do not repeat this call or look for a way around it; ask how to proceed.";

/// Foreign text as part of a line of ours.
fn quoted(text: &str) -> String {
    let masked = mask_secrets(text);
    harmless_within(&masked, QUOTED)
}

/// The same without a full stop at its end, since one follows.
fn clause(text: &str) -> String {
    let mut text = quoted(text);
    text.truncate(text.trim_end_matches(['.', ' ']).len());
    text
}

/// Who refused, as people and agents read it: `rule git-push, policies/ci.yml:12`.
pub fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Hook { name, bundle } => with_bundle(&format!("hook {}", quoted(name)), bundle.as_deref()),
        Origin::Plugin { name } => format!("plugin {}", quoted(name)),
        Origin::Core { check } => format!("check {}", quoted(check)),
        Origin::Protected { path } => format!("protected path {}", quoted(path)),
        Origin::Rule { id, place, bundle } => {
            let rule = with_bundle(&format!("rule {}", quoted(id)), bundle.as_deref());
            format!("{rule}, {}", quoted(&place.to_string()))
        }
        Origin::Unreadable { rule: Some(rule), place } => {
            format!("in doubt about rule {}, {}", quoted(rule), quoted(&place.to_string()))
        }
        Origin::Unreadable { rule: None, place } => format!("unreadable, {}", quoted(&place.to_string())),
        Origin::Default { place } => format!("no rule allows it, {}", quoted(&place.to_string())),
        Origin::Control => "failures of this run".to_owned(),
        Origin::Class { tool } => format!("calls of {}", quoted(tool)),
        Origin::Outcome { check } => format!("outcome check {}", quoted(check)),
    }
}

fn with_bundle(who: &str, bundle: Option<&str>) -> String {
    match bundle {
        Some(bundle) => format!("{who}, bundle {}", quoted(bundle)),
        None => who.to_owned(),
    }
}

/// What the agent is told about a call that does not go ahead; `None` when it does.
pub fn refusal(tool: &str, decision: &Decision) -> Option<String> {
    let vote = decision.deciding_vote()?;
    match decision.verdict {
        Verdict::Allow => None,
        Verdict::Deny => Some(match &vote.origin {
            Origin::Plugin { .. } => veto(&vote.reason),
            _ => denied(tool, vote),
        }),
        Verdict::Ask => Some(nobody(tool, vote)),
    }
}

/// A call that a vote denies.
pub fn denied(tool: &str, vote: &Vote) -> String {
    let what = format!("denied by guardrail ({})", origin(&vote.origin));
    line(tool, &what, vote, "Nobody was consulted.")
}

/// A call that needs a person when there is none.
pub fn nobody(tool: &str, vote: &Vote) -> String {
    let what = format!("not done, since it needs a person's consent ({})", origin(&vote.origin));
    line(tool, &what, vote, "No approver exists in a non-interactive run, so nobody was asked.")
}

/// A call that a reviewer declined.
pub fn declined(tool: &str, said: Option<&str>, vote: &Vote) -> String {
    let what = match said {
        Some(said) if !said.trim().is_empty() => {
            format!("declined by the reviewer: \"{}\" ({})", clause(said), origin(&vote.origin))
        }
        _ => format!("declined by the reviewer ({})", origin(&vote.origin)),
    };
    line(tool, &what, vote, "")
}

/// The error of a call that a plugin vetoed.
pub fn veto(reason: &str) -> String {
    format!("blocked_by_plugin: {}", quoted(reason))
}

/// A call that a hook blocked in the older way.
pub fn blocked(tool: &str, reason: Option<&str>) -> String {
    let reason = reason.map(quoted).filter(|reason| !reason.is_empty());
    format!(
        "[{}] Error: blocked by guardrail: {}",
        quoted(tool),
        reason.as_deref().unwrap_or("blocked by hook")
    )
}

/// What was found in the tree that was to be committed.
pub fn outcome(votes: &[Vote]) -> String {
    let told: Vec<String> = votes
        .iter()
        .filter(|vote| vote.verdict != Verdict::Allow)
        .map(|vote| {
            let subject =
                vote.subject.as_deref().map(|subject| format!(" {}", quoted(subject))).unwrap_or_default();
            format!("{}{subject} ({})", clause(&vote.reason), origin(&vote.origin))
        })
        .collect();
    match told.len() {
        0 => "the change may be committed".to_owned(),
        _ => format!("the change is not committed: {}", told.join("; ")),
    }
}

fn line(tool: &str, what: &str, vote: &Vote, consulted: &str) -> String {
    let mut line = format!("[{}] Error: {what}: {}.", quoted(tool), clause(&vote.reason));
    if let Some(subject) = &vote.subject {
        line.push_str(&format!(" It is about: {}.", clause(subject)));
    }
    if !consulted.is_empty() {
        line.push(' ');
        line.push_str(consulted);
    }
    match &vote.hint {
        Some(hint) if !hint.trim().is_empty() => line.push_str(&format!(" Instead: {}.", clause(hint))),
        _ => {}
    }
    line.push(' ');
    line.push_str(TAIL);
    line
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::verdict::{Place, Scope};

    fn vote(verdict: Verdict, origin: Origin) -> Vote {
        Vote {
            verdict,
            reason: "publishes commits.".to_owned(),
            origin,
            hint: Some("leave publishing to the reviewer".to_owned()),
            scopes: vec![Scope::Once],
            part: Some((0, 8)),
            subject: Some("git push".to_owned()),
        }
    }

    fn rule() -> Origin {
        Origin::Rule {
            id: "git-push".to_owned(),
            place: Place { file: "ci.yml".to_owned(), line: 12 },
            bundle: None,
        }
    }

    #[test]
    fn a_denied_call_says_what_why_by_whom_and_what_instead() {
        let decision = Decision::fold(vec![vote(Verdict::Deny, rule())]);
        assert_eq!(
            refusal("execute", &decision).unwrap(),
            "[execute] Error: denied by guardrail (rule git-push, ci.yml:12): publishes commits. It is about: git \
             push. Nobody was consulted. Instead: leave publishing to the reviewer. Do not repeat this call or look \
             for a way around it; ask how to proceed."
        );
    }

    #[test]
    fn an_ask_says_that_nobody_is_there() {
        let text = refusal("execute", &Decision::fold(vec![vote(Verdict::Ask, rule())])).unwrap();
        assert!(
            text.contains("needs a person") && text.contains("No approver exists in a non-interactive run")
        );
        assert!(!text.contains("denied"));
        assert_eq!(refusal("execute", &Decision::fold(Vec::new())), None);
    }

    #[test]
    fn a_reviewer_is_quoted_and_a_veto_is_short() {
        let text = declined("write", Some("not\nnow."), &vote(Verdict::Ask, rule()));
        assert!(
            text.starts_with("[write] Error: declined by the reviewer: \"not now\" (rule git-push"),
            "{text}"
        );
        let plugin = Origin::Plugin { name: "gatekeeper".to_owned() };
        let mut veto = vote(Verdict::Deny, plugin);
        veto.reason = "tests_not_ok".to_owned();
        assert_eq!(
            refusal("git_commit", &Decision::fold(vec![veto])).unwrap(),
            "blocked_by_plugin: tests_not_ok"
        );
        assert_eq!(blocked("x", None), "[x] Error: blocked by guardrail: blocked by hook");
        assert_eq!(blocked("x", Some("a\nb")), "[x] Error: blocked by guardrail: a b");
    }

    #[test]
    fn every_text_is_one_harmless_line_without_secrets() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let odd = format!("a\nb\u{1b}[2Jc\u{202e}d {token} https://u:hunter22@h/");
        let origins = [
            Origin::Hook { name: odd.clone(), bundle: Some(odd.clone()) },
            Origin::Core { check: odd.clone() },
            Origin::Protected { path: odd.clone() },
            Origin::Rule {
                id: odd.clone(),
                place: Place { file: odd.clone(), line: 1 },
                bundle: Some(odd.clone()),
            },
            Origin::Unreadable { rule: Some(odd.clone()), place: Place { file: odd.clone(), line: 1 } },
            Origin::Unreadable { rule: None, place: Place { file: odd.clone(), line: 1 } },
            Origin::Default { place: Place { file: odd.clone(), line: 1 } },
            Origin::Control,
            Origin::Class { tool: odd.clone() },
            Origin::Outcome { check: odd.clone() },
            Origin::Plugin { name: odd.clone() },
        ];
        for who in origins {
            let vote = Vote {
                verdict: Verdict::Deny,
                reason: odd.clone(),
                origin: who,
                hint: Some(odd.clone()),
                scopes: Vec::new(),
                part: None,
                subject: Some(odd.clone()),
            };
            for text in [
                denied(&odd, &vote),
                nobody(&odd, &vote),
                declined(&odd, Some(&odd), &vote),
                refusal(&odd, &Decision::fold(vec![vote.clone()])).unwrap(),
                blocked(&odd, Some(&odd)),
                outcome(std::slice::from_ref(&vote)),
            ] {
                assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text}");
                assert!(!text.contains(&token) && !text.contains("hunter22"), "{text}");
            }
        }
    }

    #[test]
    fn no_text_of_ours_names_a_switch() {
        let texts = [
            denied("t", &vote(Verdict::Deny, Origin::Class { tool: "execute".to_owned() })),
            nobody("t", &vote(Verdict::Ask, rule())),
            declined("t", None, &vote(Verdict::Ask, Origin::Control)),
            veto("self_commit_disabled"),
        ];
        for text in texts {
            for word in [
                "gates",
                "on_ask",
                "enabled:",
                "disable:",
                "--",
                "GATEWRIGHT",
                "config",
                "policy add",
                "approvals",
            ] {
                assert!(!text.contains(word), "{word}: {text}");
            }
        }
    }
}
