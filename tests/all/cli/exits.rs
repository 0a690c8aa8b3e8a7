//! Every exit code that can occur, brought about through the program.

use std::fs;
use std::time::{Duration, Instant};

use crate::scratch::{Scratch, fingerprint};

const TESTS: &[&str] = &["--tests", "grep -q good value", "--allow-commit"];

#[test]
fn a_good_change_becomes_one_commit_and_exit_0() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    let before = fingerprint(&scratch, &root);
    let answer = scratch.run_project(&root, TESTS).expect_code(0);
    assert_eq!(fingerprint(&scratch, &root), before);
    let branches =
        scratch.git(&root, &["for-each-ref", "--format=%(refname:short)", "refs/heads/gatewright"]);
    assert_eq!(branches.lines().count(), 1, "{branches}\n{}", answer.out);
    assert_eq!(scratch.git(&root, &["show", &format!("{branches}:value")]), "good, better");
    assert_eq!(scratch.git(&root, &["rev-list", "--count", &format!("main..{branches}")]), "1");
    let message = scratch.git(&root, &["log", "-1", "--format=%B", &branches]);
    assert!(
        message.contains("Gatewright-Policy: ") && message.contains("Gatewright-Tests: green on tree "),
        "{message}"
    );
    scratch.git(&root, &["fsck", "--no-progress"]);
    scratch.assert_nothing_left(&scratch.path("state/gatewright"));
}

#[test]
fn without_permission_the_change_is_a_patch_with_the_command_that_would_permit_a_commit() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    scratch
        .write("agent.yml", "- calls:\n  - {tool: write, args: {path: value, content: \"good two\\n\"}}\n");
    let answer = scratch.run_project(&root, &["--tests", "grep -q good value"]).expect_code(0);
    assert!(answer.out.contains("--allow-commit"), "{}", answer.out);
    let patch = scratch.runs()[0].join("change.patch");
    scratch.git(&root, &["apply", "--check", patch.to_str().unwrap()]);
    assert_eq!(scratch.git(&root, &["for-each-ref", "refs/heads/gatewright"]), "");
}

#[test]
fn nothing_to_change_is_exit_0_and_says_so() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    let answer = scratch.run_project(&root, TESTS).expect_code(0);
    assert!(answer.out.contains("nothing"), "{}", answer.out);
}

#[test]
fn a_script_that_expected_something_else_is_exit_1() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    scratch.write(
        "agent.yml",
        "- calls:\n  - {tool: read, args: {path: value}, expect: blocked}\n- text: done\n",
    );
    scratch.run_project(&root, TESTS).expect_code(1);
}

#[test]
fn wrong_usage_settings_tasks_and_scripts_are_exit_2_with_their_lines() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    scratch.run(&["run", "--no-such-flag"]).expect_code(2);
    scratch.write("agent.yml", "- text: a\n  cals: []\n");
    let answer = scratch.run_project(&root, TESTS).expect_code(2);
    assert!(answer.err.contains("agent.yml:2: unknown key `cals`"), "{}", answer.err);
    assert!(answer.err.contains("hint: did you mean `calls`?"), "{}", answer.err);
    let task = scratch.write("task.yml", "prompt: x\nlimit: {}\n");
    let answer = scratch.run_in(&root, &["run", task.to_str().unwrap()]).expect_code(2);
    assert!(answer.err.contains("task.yml:2: unknown key `limit`"), "{}", answer.err);
    scratch.write("config/gatewright/config.yml", "limits:\n  max_iteration: 3\n");
    let answer = scratch.run_project(&root, TESTS).expect_code(2);
    assert!(answer.err.contains("config.yml:2: unknown setting `max_iteration`"), "{}", answer.err);
}

#[test]
fn staging_is_refused_with_a_clear_message() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    let answer = scratch.run_project(&root, &["--on-ask", "stage", "--no-tests"]).expect_code(2);
    assert!(answer.err.contains("not built yet"), "{}", answer.err);
}

#[test]
fn the_repository_cannot_permit_commits_or_commands() {
    let scratch = Scratch::new();
    for text in ["allow_commit: true\n", "shell: {enabled: true}\n"] {
        let name = format!("r{}", text.len());
        let root = scratch.repository(&name, &[(".gatewright/config.yml", text)]);
        scratch.write("agent.yml", "- text: done\n");
        scratch.write("open.yml", "version: 1\nrules: []\n");
        scratch.run_project(&root, &["--no-tests"]).expect_code(2);
    }
}

#[test]
fn a_broken_policy_closes_every_gate_with_exit_5() {
    let scratch = Scratch::new();
    let root = scratch.project("bad");
    scratch.write(
        "open.yml",
        "version: 1\nrules:\n  - id: a\n    tol: shell\n    verdict: deny\n    reason: r\n",
    );
    let answer = scratch.run_project(&root, TESTS).expect_code(5);
    assert!(answer.err.contains("open.yml:4") && answer.err.contains("tool"), "{}", answer.err);
    assert!(answer.out.contains("nothing was started"), "{}", answer.out);
    for command in
        [&["check", "--shell", "ls", "--policy", "open.yml"] as &[&str], &["policy", "check", "open.yml"]]
    {
        scratch.run(command).expect_code(5);
    }
    scratch.run(&["policy", "check", "builtin:no-such"]).expect_code(5);
}

#[test]
fn repositories_that_cannot_be_used_are_exit_7_with_the_next_step() {
    let scratch = Scratch::new();
    scratch.project("good");
    let none = scratch.path("none");
    fs::create_dir(&none).unwrap();
    let answer = scratch.run_project(&none, TESTS).expect_code(7);
    assert!(answer.err.contains("not in a git repository"), "{}", answer.err);
    let bare = scratch.path("bare.git");
    scratch.git(&scratch.path(""), &["init", "--quiet", "--bare", "bare.git"]);
    scratch.run_project(&bare, TESTS).expect_code(7);
    let empty = scratch.path("empty");
    scratch.git(&scratch.path(""), &["init", "--quiet", "empty"]);
    let answer = scratch.run_project(&empty, TESTS).expect_code(7);
    assert!(answer.err.contains("no commit"), "{}", answer.err);
    let merging = scratch.repository("merging", &[("a", "1\n")]);
    scratch.git(&merging, &["checkout", "--quiet", "-b", "other"]);
    scratch.write("merging/a", "2\n");
    scratch.git(&merging, &["commit", "--quiet", "--all", "--message", "two"]);
    scratch.git(&merging, &["checkout", "--quiet", "main"]);
    scratch.write("merging/a", "3\n");
    scratch.git(&merging, &["commit", "--quiet", "--all", "--message", "three"]);
    let merge = std::process::Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "merge", "other"])
        .current_dir(&merging)
        .output()
        .unwrap();
    assert!(!merge.status.success());
    let answer = scratch.run_project(&merging, TESTS).expect_code(7);
    assert!(answer.err.contains("merge"), "{}", answer.err);
}

#[test]
fn a_missing_git_is_exit_7() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    let empty = scratch.path("tmp");
    let arguments = scratch.run_arguments(TESTS);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer: crate::scratch::Answer =
        scratch.command(&root, &arguments).env("PATH", empty).output().unwrap().into();
    let answer = answer.expect_code(7);
    assert!(answer.err.contains("git is not installed"), "{}", answer.err);
}

#[test]
fn budgets_are_exit_9_and_what_was_done_is_kept() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    let task =
        scratch.write("task.yml", "prompt: x\ntests: grep -q good value\nlimits: {max_tool_calls: 1}\n");
    scratch.write(
        "agent.yml",
        "- calls:\n  - {tool: write, args: {path: value, content: good two}}\n  - {tool: read, args: {path: value}}\n",
    );
    let answer = scratch.run_project(&root, &[task.to_str().unwrap(), "--allow-commit"]).expect_code(9);
    assert!(answer.out.contains("max_tool_calls"), "{}", answer.out);
    assert!(scratch.runs()[0].join("change.patch").exists());
}

#[test]
fn red_tests_are_exit_10_and_no_commit() {
    let scratch = Scratch::new();
    let root = scratch.project("bad");
    scratch.run_project(&root, TESTS).expect_code(10);
    assert_eq!(scratch.git(&root, &["for-each-ref", "refs/heads/gatewright"]), "");
}

#[test]
fn a_red_base_is_exit_11_and_nothing_is_started() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    let answer = scratch.run_project(&root, &["--tests", "false"]).expect_code(11);
    assert!(answer.out.contains("base"), "{}", answer.out);
}

#[test]
fn tests_without_a_verdict_are_exit_12() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    for command in ["no-such-program", "kill -9 $$"] {
        scratch.run_project(&root, &["--tests", command]).expect_code(12);
    }
    let answer = scratch.run_project(&root, &[]).expect_code(12);
    assert!(answer.err.contains("--tests"), "{}", answer.err);
}

#[test]
fn a_changed_repository_is_exit_13_and_named() {
    let scratch = Scratch::new();
    let root = scratch.project("good");
    // The tests run with the rights of whoever starts the run: part 3 takes that from them, the proof tells of it.
    let command = format!("touch '{}'", root.join(".git/hooks/post-commit").display());
    let answer = scratch.run_project(&root, &["--tests", &command]).expect_code(13);
    assert!(answer.out.contains("post-commit"), "{}", answer.out);
}

#[test]
fn a_refused_outcome_is_exit_14_and_no_commit() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    let mut more = TESTS.to_vec();
    more.extend(["--protect", "value"]);
    scratch.run_project(&root, &more).expect_code(14);
    assert_eq!(scratch.git(&root, &["for-each-ref", "refs/heads/gatewright"]), "");
}

#[test]
fn an_interrupt_is_exit_130_with_a_report_and_nothing_left() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let scratch = Scratch::new();
        let root = scratch.project("good");
        let before = fingerprint(&scratch, &root);
        let arguments = scratch.run_arguments(&["--tests", "sleep 60"]);
        let mut child = scratch.start(&root, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let begin = Instant::now();
        while scratch.runs().is_empty() || !scratch.path("state/gatewright/work").exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the run does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&child),
            rustix::process::Signal::from_named_raw(signal).unwrap(),
        )
        .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let report = fs::read_to_string(scratch.runs()[0].join("report.json")).unwrap();
        assert!(report.contains("\"canceled\""), "{report}");
        assert_eq!(fingerprint(&scratch, &root), before);
        scratch.assert_nothing_left(&scratch.path("state/gatewright"));
    }
}

#[test]
fn without_a_writable_home_a_run_works_with_out_and_says_so_without() {
    let scratch = Scratch::new();
    let root = scratch.project("good, better");
    let out = scratch.path("out").display().to_string();
    let mut more = TESTS.to_vec();
    more.extend(["--out", &out]);
    let arguments = scratch.run_arguments(&more);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer: crate::scratch::Answer =
        scratch.command(&root, &arguments).env("XDG_STATE_HOME", "/proc/none").output().unwrap().into();
    answer.expect_code(0);
    assert!(scratch.path("out/report.json").exists() && !scratch.path("out/work").exists());
    let arguments = scratch.run_arguments(TESTS);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer: crate::scratch::Answer =
        scratch.command(&root, &arguments).env("XDG_STATE_HOME", "/proc/none").output().unwrap().into();
    let answer = answer.expect_code(1);
    assert!(answer.err.contains("--out"), "{}", answer.err);
}
