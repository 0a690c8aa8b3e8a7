//! The loop: the agent answers, each call is judged, what is allowed is done, what came of it goes back.

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use crate::agent::{Agent, Outcome as Told};
use crate::call::{Context, Targets, ToolCall, ToolClass, canonical_tool, tool_class};
use crate::config::Limits;
use crate::gate::gatekeeper::Gatekeeper;
use crate::gate::{Ballot, Gate, Judged, text};
use crate::policy::Memory;
use crate::record::{
    Answer, Approval, CallStatus, CappedText, Event, GateEvent, JudgedIn, Notice, Status, TargetsLine,
    ToolCallStarted, ToolResult, TurnEnd, TurnStart, mask_secrets,
};
use crate::tool::{Bench, Ending, Output, Proposal, TOOLS, TestEnding, execute};
use crate::verdict::{Origin, Verdict, Vote};

use super::links::DiskLinks;
use super::prepare::{sha256_hex, shortened};
use super::recorder::Recorder;
use super::request::{Stop, with_causes};
use super::tests::tests_event;

/// Bytes of a tool's text that the journal keeps.
const KEPT_OUTPUT: usize = 4 * 1024;
/// Characters of the agent's words that the journal keeps.
const KEPT_REPLY: usize = 2_000;

/// What the loop needs.
pub(super) struct Work<'a> {
    pub(super) gate: &'a Gate,
    pub(super) bench: &'a Bench,
    pub(super) limits: Limits,
    pub(super) is_shell_enabled: bool,
    pub(super) home: &'a Path,
    pub(super) gatekeeper: RefCell<Gatekeeper>,
    /// What earlier calls of the run left behind for rules with `after`.
    pub(super) memory: RefCell<Memory>,
}

/// What the loop came to.
#[derive(Debug, Default)]
pub(super) struct Worked {
    /// The agent's last words.
    pub(super) reply: Option<String>,
    /// The commit that it proposes.
    pub(super) proposal: Option<Proposal>,
    /// The budget that ran out.
    pub(super) budget: Option<String>,
    /// What a script expected and did not come about.
    pub(super) complaints: u64,
    /// Calls in all.
    pub(super) calls: u64,
    /// Calls that the gate kept from running.
    pub(super) refused: u64,
}

impl Work<'_> {
    pub(super) fn run(&self, agent: &mut dyn Agent, recorder: &mut Recorder<'_>) -> Result<Worked, Stop> {
        let mut worked = Worked::default();
        recorder.write(&Event::TurnStart(TurnStart { turn: 1 }))?;
        let mut outcomes: Vec<Told> = Vec::new();
        let mut iterations = 0;
        loop {
            if self.bench.cancel.is_set() {
                return Err(Stop::canceled());
            }
            let answer =
                agent.answer(&outcomes).map_err(|error| Stop::new(Status::Provider, with_causes(&error)))?;
            for complaint in &answer.complaints {
                worked.complaints += 1;
                recorder.write(&Event::Notice(Notice { from: "script".into(), text: complaint.clone() }))?;
            }
            if !answer.text.trim().is_empty() {
                worked.reply = Some(mask_secrets(&shortened(answer.text.trim(), KEPT_REPLY)).into_owned());
            }
            if answer.calls.is_empty() {
                break;
            }
            iterations += 1;
            worked.budget = self.spent(iterations, &worked);
            if worked.budget.is_some() {
                break;
            }
            outcomes.clear();
            for call in answer.calls {
                worked.calls += 1;
                worked.budget = self.spent(iterations, &worked);
                if worked.budget.is_some() {
                    break;
                }
                if self.bench.cancel.is_set() {
                    return Err(Stop::canceled());
                }
                outcomes.push(self.call(call, &mut worked, recorder)?);
            }
            if worked.budget.is_some() {
                break;
            }
        }
        recorder.write(&Event::TurnEnd(TurnEnd { turn: 1, reply: worked.reply.clone() }))?;
        Ok(worked)
    }

    fn spent(&self, iterations: u64, worked: &Worked) -> Option<String> {
        if iterations > self.limits.iterations {
            return Some(format!("limits.max_iterations: {} answers", self.limits.iterations));
        }
        if worked.calls > self.limits.tool_calls {
            return Some(format!("limits.max_tool_calls: {} calls", self.limits.tool_calls));
        }
        if Instant::now() >= self.bench.deadline {
            return Some(format!("limits.wall_clock_secs: {} s", self.limits.wall_clock.as_secs()));
        }
        None
    }

    /// One call, from judgement to result.
    fn call(&self, call: ToolCall, worked: &mut Worked, recorder: &mut Recorder<'_>) -> Result<Told, Stop> {
        let number = worked.calls;
        let tool = canonical_tool(&call.tool);
        let judged = self.judge(call, number, recorder)?;
        let Judged { call, decision, pass, .. } = judged;
        let Some(pass) = pass else {
            worked.refused += 1;
            if decision.verdict == Verdict::Ask {
                recorder.write(&Event::Approval(Approval {
                    call: number,
                    answer: Answer::NobodyThere,
                    scope: None,
                    by: "on_ask: deny".into(),
                    reason: None,
                }))?;
            }
            let text = text::refusal(&tool, &decision).unwrap_or_default();
            recorder.write(&Event::ToolResult(Box::new(ToolResult {
                call: number,
                tool: tool.clone(),
                ok: false,
                status: CallStatus::Blocked,
                exit_code: None,
                error: Some(text.clone()),
                output_digest: sha256_hex(text.as_bytes()),
                output: CappedText::default(),
                duration_ms: 0,
            })))?;
            return Ok(Told { tool: call.tool, ok: false, blocked: true, text });
        };
        recorder.write(&Event::ToolCallStarted(ToolCallStarted { call: number, tool: tool.clone() }))?;
        let output = execute(pass, self.bench);
        self.note(&tool, &output);
        self.record(number, &tool, &output, recorder)?;
        if let Some(tests) = &output.tests {
            recorder.write(&Event::Tests(Box::new(tests_event(tests, "", false))))?;
        }
        if output.ending == Ending::Canceled {
            return Err(Stop::canceled());
        }
        if output.proposal.is_some() {
            worked.proposal = output.proposal;
        }
        Ok(Told { tool: call.tool, ok: output.ending == Ending::Ok, blocked: false, text: output.text })
    }

    fn judge(&self, mut call: ToolCall, number: u64, recorder: &mut Recorder<'_>) -> Result<Judged, Stop> {
        let context = Context {
            root: self.bench.root.clone(),
            cwd: self.bench.root.clone(),
            home: Some(self.home.to_owned()),
        };
        if call.id.is_none() {
            call.id = Some(number.to_string());
        }
        let links = DiskLinks::default();
        let targets = Targets::resolve(&call, &context, &links);
        let votes = self.votes(&call, &targets);
        let given = call.clone();
        let mut judged_votes = votes.clone();
        let judged = self.gate.judge_after(Ballot { call, targets, votes }, &self.memory.borrow());
        self.gate.remember(
            &mut self.memory.borrow_mut(),
            &judged.call,
            &judged.targets,
            judged.decision.verdict,
        );
        // What depends on this run and not on the policy: whoever judges the journal again is given these.
        judged_votes
            .extend(judged.decision.votes.iter().filter(|vote| is_of_this_run(&vote.origin)).cloned());
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        recorder.write(&Event::Gate(Box::new(GateEvent {
            call: number,
            turn: 1,
            digest: GateEvent::digest_of(&judged.call),
            replaced_by: None,
            judged_in: JudgedIn {
                root: shown(&context.root),
                cwd: shown(&context.cwd),
                home: context.home.as_deref().map(shown),
            },
            links: links.seen(),
            targets: TargetsLine::new(&judged.targets),
            outside_votes: judged_votes,
            decision: judged.decision.clone(),
            given,
        })))?;
        Ok(judged)
    }

    /// What stands against a call besides the gate's own voters.
    fn votes(&self, call: &ToolCall, targets: &Targets) -> Vec<Vote> {
        let tool = canonical_tool(&call.tool);
        let reason = if !TOOLS.contains(&tool.as_str()) {
            format!("there is no tool `{}` in this run", shortened(&call.tool, 80))
        } else if tool == "execute" && !self.is_shell_enabled {
            "commands are switched off in this run".to_owned()
        } else {
            return self.gatekeeper.borrow().veto(call, targets).into_iter().collect();
        };
        vec![Vote {
            verdict: Verdict::Deny,
            reason,
            origin: Origin::Core { check: "tool".into() },
            hint: None,
            scopes: Vec::new(),
            part: None,
            subject: None,
        }]
    }

    /// What a call that was done means for committing.
    fn note(&self, tool: &str, output: &Output) {
        let mut gatekeeper = self.gatekeeper.borrow_mut();
        if matches!(tool_class(tool), ToolClass::Write | ToolClass::Edit) && output.ending == Ending::Ok {
            gatekeeper.state.note_change();
        }
        match output.tests.as_ref().map(|tests| &tests.ending) {
            Some(TestEnding::Green) => gatekeeper.state.note_tests(true),
            Some(TestEnding::Red(_)) => gatekeeper.state.note_tests(false),
            Some(TestEnding::NoVerdict(_) | TestEnding::Canceled) | None => {}
        }
        if output.proposal.is_some() {
            gatekeeper.state.note_commit();
        }
    }

    fn record(
        &self,
        number: u64,
        tool: &str,
        output: &Output,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), Stop> {
        let is_ok = output.ending == Ending::Ok;
        let first_line = || output.text.lines().next().unwrap_or_default().to_owned();
        recorder.write(&Event::ToolResult(Box::new(ToolResult {
            call: number,
            tool: tool.to_owned(),
            ok: is_ok,
            status: match output.ending {
                Ending::Ok => CallStatus::Ok,
                Ending::Failed => CallStatus::Failed,
                Ending::TimedOut => CallStatus::TimedOut,
                Ending::Canceled => CallStatus::Canceled,
            },
            exit_code: output.exit_code,
            error: (!is_ok).then(first_line),
            output_digest: sha256_hex(output.text.as_bytes()),
            output: CappedText::new(&output.text, KEPT_OUTPUT),
            duration_ms: u64::try_from(output.duration.as_millis()).unwrap_or(u64::MAX),
        })))?;
        Ok(())
    }
}

fn is_of_this_run(origin: &Origin) -> bool {
    matches!(origin, Origin::Protected { .. } | Origin::Class { .. })
}
