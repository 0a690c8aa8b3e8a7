use super::super::parse::tests::command;
use super::*;

fn fit(pattern: &str, line: &[&str]) -> Fit {
    WordPattern::parse(pattern).unwrap().fit(&command(line))
}

#[track_caller]
fn yes(pattern: &str, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(fit(pattern, &words), Fit::Yes, "`{pattern}` on `{line}`");
}

#[track_caller]
fn no(pattern: &str, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(fit(pattern, &words), Fit::No, "`{pattern}` on `{line}`");
}

#[track_caller]
fn maybe(pattern: &str, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    assert_eq!(fit(pattern, &words), Fit::Maybe, "`{pattern}` on `{line}`");
}

#[test]
fn spellings_of_one_command_are_one() {
    for line in [
        "rm -rf /",
        "/bin/rm -r -f /",
        "rm --recursive --force -- /",
        "rm / -Rf",
        "rm -rf x /",
        "rm --rec --fo //",
        "rm -fr /./",
    ] {
        yes("rm -r -f /", line);
        yes("rm -rf /", line);
    }
    no("rm -r -f /", "rm -r /");
    no("rm -r -f /", "rm -rf /tmp");
    no("rm -r -f /", "rm -rf --help /");
    no("rm -r -f /", "rm -- -rf /");
}

#[test]
fn subcommands_are_anchored() {
    yes("git push", "git -C x -c k=v push origin main");
    no("git push", "git log --grep push");
    no("git push", "git stash push");
    no("git push", "git pull");
    no("git push", "git push -n");
    yes("git push --dry-run", "git push -n");
    yes("git {push,send-pack}", "git send-pack x");
    yes("git push --force", "git push origin +HEAD:main");
    yes("git push --delete", "git push origin :v1");
    yes("git branch -D", "git branch -d -f x");
    no("git branch -D", "git branch -d x");
    yes("git -c core.hooksPath=*", "git -c CORE.HOOKSPATH=/dev/null commit");
    yes("git commit --no-verify", "git commit -nm wip");
    no("git commit --no-verify", "git commit -mn");
    yes("git remote", "git remote set-url origin x");
    yes("git reset --hard", "git reset --har HEAD~1");
    yes("git config core.hooksPath", "git config --local CORE.hookspath x");
    yes("git commit -m wip*", "git commit --message=wipe");
    no("git commit -m wip", "git commit -m other wip");
}

#[test]
fn wildcards_choices_and_rests() {
    yes("dd of=/dev/*", "dd bs=1 of=/dev/sda/x");
    no("dd of=/dev/*", "dd of=target/x");
    yes("{vi,vim} *", "vim x");
    no("{vi,vim} *", "vim");
    yes("* --no-verify", "foo --no-verify");
    yes("npm ...", "npm");
    yes("foo -ab", "foo -xab");
    yes("foo -a -b", "foo -ba");
    no("foo -ab", "foo -a");
    yes("foo a b", "foo x a y b");
    no("foo a b", "foo b a");
}

#[test]
fn what_is_not_known_may_fit() {
    maybe("git push", "git $X");
    maybe("git push", "git \"$X\"");
    maybe("git push --force", "git push \"$X\"");
    maybe("git push", "git $X push");
    no("git push", "echo \"$X\"");
    no("rm -r -f /", "rm -f \"$X\"");
    maybe("rm -r -f /", "rm -f $X");
    maybe("rm -r -f /", "rm -rf \"$X\"");
    no("git add -f", "git add -- \"$X\"");
    no("bash -c", "bash script.sh \"$X\"");
    maybe("git push", "git push -n $X");
    no("git checkout -f", "git checkout \"$X/y\"");
    yes("git push", "git push \"$X\"");
}

#[test]
fn faults_are_located() {
    let offset = |text: &str| WordPattern::parse(text).unwrap_err().offset;
    assert_eq!(offset(""), 0);
    assert_eq!(offset("  -f x"), 2);
    assert_eq!(offset("git {push,pull"), 4);
    assert_eq!(offset("git 'push"), 4);
    assert_eq!(offset("x {a,b,c,d,e,f,g,h,i}{a,b,c,d,e,f,g,h,i} {a,b,c,d,e,f,g}"), 41);
}

#[test]
fn programs_are_told() {
    let programs = |text: &str| WordPattern::parse(text).unwrap().programs();
    assert_eq!(programs("/usr/bin/{vi,vim} x"), Some(vec!["vi".into(), "vim".into()]));
    assert_eq!(programs("mkfs.* x"), None);
}

/// Whoever looks for patterns by a command's subcommand must not miss one.
#[test]
fn subcommands_are_told_where_they_are_certain() {
    let heads = |text: &str| match WordPattern::parse(text).unwrap().needs() {
        Needs::Programs(heads) => Some(heads),
        Needs::Variable | Needs::Anything => None,
    };
    let told = |program: &str, name: Option<&str>| (program.to_owned(), name.map(str::to_owned));
    assert_eq!(
        heads("git {push,clean} -f"),
        Some(vec![told("git", Some("clean")), told("git", Some("push"))])
    );
    assert_eq!(heads("git my-own"), Some(vec![told("git", Some("my-own"))]));
    for open in
        ["git", "git p*", "git {push,p*}", "git -C x push", "git ...", "rm push", "tar push", "nobody push"]
    {
        let program = open.split(' ').next().unwrap();
        assert_eq!(heads(open), Some(vec![told(program, None)]), "{open}");
    }
    for text in
        ["git {push,clean} -f", "npm i", "docker container rm", "git my-own", "gh pr merge", "cargo b"]
    {
        let pattern = WordPattern::parse(text).unwrap();
        for (form, (_, name)) in pattern.forms().iter().rev().zip(heads(text).unwrap()) {
            assert_eq!(form.subcommand.first().and_then(Glob::literal), name.as_deref(), "{text}");
        }
    }
}

#[test]
fn asking_for_the_program_first_hides_nothing() {
    let patterns = [
        "git push",
        "{git,hub} {push,send-pack}",
        "/usr/bin/git push",
        "env LD_PRELOAD=*",
        "env GIT_DIR=* git",
        "{env,nice} A=1",
        "env {A=1,git} status",
        "env {A,LD_PRELOAD}=*",
        "rm -r /",
        "*sh -c",
        "{pkill,killall}",
        "Stop-Process",
        "python* -m pip",
        "env",
        "sudo rm",
        "./gradlew publish",
    ];
    let lines = [
        "git push",
        "/usr/bin/git push",
        "GIT push",
        "hub send-pack",
        "LD_PRELOAD=x ls",
        "GIT_DIR=x git status",
        "export A=1",
        "declare -x LD_PRELOAD=x",
        "env nice A=1",
        "rm -rf /",
        "bash -c x",
        "$X push",
        "sudo rm x",
        "env A=1 git push",
        "python3.12 -m pip install x",
        "stop-process 1",
        "./gradlew publish",
        "git $X",
        "echo hi",
    ];
    for pattern in patterns {
        let pattern = WordPattern::parse(pattern).unwrap();
        for line in lines {
            let command = command(&line.split(" ").collect::<Vec<_>>());
            let plain = pattern.forms().iter().map(|form| form.fit(&command)).max().unwrap();
            assert_eq!(pattern.fit(&command), plain, "{} on {line}", pattern.text());
        }
    }
}
