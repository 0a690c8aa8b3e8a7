//! Lines and what they come to, by kind.

use super::super::command::Directory;
use super::super::word::Piece;
use super::{Access, Reading, Setting, UnreadableKind, read};

fn reading(line: &str) -> Reading {
    let variables =
        [("HOME", "/home/me"), ("PWD", "/repo")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    read(line, &Setting { variables: variables.into(), ..Setting::default() })
}

/// The commands, one a line: directory if it is another, words.
fn commands(line: &str) -> Vec<String> {
    reading(line)
        .commands
        .iter()
        .map(|command| {
            let words: Vec<_> = command.words.iter().map(|word| word.shown().into_owned()).collect();
            match &command.directory {
                Directory::Known(path) if path == "." => words.join(" "),
                Directory::Known(path) => format!("{path}: {}", words.join(" ")),
                Directory::Unknown => format!("?: {}", words.join(" ")),
            }
        })
        .collect()
}

fn kinds(line: &str) -> Vec<UnreadableKind> {
    reading(line).unreadable.iter().map(|entry| entry.kind).collect()
}

#[test]
fn known_values_become_words() {
    assert_eq!(commands("rm${IFS}-rf${IFS}/"), ["rm -rf /"]);
    assert_eq!(commands("x=rm; y='-rf /'; $x $y"), ["rm -rf /"]);
    assert_eq!(commands("a=(1 '2 3'); rm \"${a[@]}\" | cat"), ["rm 1 2 3", "cat"]);
    assert_eq!(commands("set -- rm x; \"$@\""), ["set -- rm x", "rm x"]);
    assert_eq!(commands("rm ~/x \"$HOME\" $PWD"), ["rm /home/me/x /home/me /repo"]);
    assert_eq!(commands("rm \"$@\" end"), ["rm $@ end"]);
}

#[test]
fn quoted_text_is_data() {
    assert_eq!(commands("git commit -m 'rm -rf / $(ls)'"), ["git commit -m rm -rf / $(ls)"]);
    assert_eq!(commands("cat <<'E'\n$(rm x)\nE"), ["cat"]);
    assert_eq!(commands("ls # ; rm x"), ["ls"]);
    assert_eq!(commands("f() { rm x; }; ls"), ["ls"]);
}

#[test]
fn substitutions_count_wherever_they_stand() {
    for line in [
        "echo \"$(rm x)\"",
        "echo `rm x`",
        ": ${y:-$(rm x)}",
        "cat <<E\n$(rm x)\nE",
        "cat <(rm x)",
        "[[ $(rm x) == y ]]",
        "(( z[$(rm x)] ))",
        "case $(rm x) in *) ;; esac",
        "for i in $(rm x); do :; done",
        "a=$(rm x)",
        "a[$(rm x)]=1",
        "a=([$(rm x)]=1)",
        "ls > $(rm x)",
        "ls <<< $(rm x)",
        "y='z[$(rm x)]'; : $((y))",
        "y='$(rm x)'; : ${y@P}",
        "f() { :; } <<< $(rm x)",
    ] {
        assert!(commands(line).contains(&"rm x".to_owned()), "{line}: {:?}", commands(line));
    }
}

#[test]
fn the_directory_is_followed() {
    assert_eq!(commands("cd a && ls; cd ..; ls"), ["cd a", "a: ls", "a: cd ..", "ls"]);
    assert_eq!(commands("(cd /x; ls); ls"), ["cd /x", "/x: ls", "ls"]);
    assert_eq!(commands("cd \"$X\"; ls; cd /y; ls"), ["cd $X", "?: ls", "?: cd /y", "/y: ls"]);
    assert_eq!(commands("cd x || exit; ls"), ["cd x", "exit", "x: ls"]);
    assert_eq!(commands("ls || cd x; ls"), ["ls", "cd x", "?: ls"]);
    assert_eq!(commands("cd; ls; cd -; ls"), ["cd", "/home/me: ls", "/home/me: cd -", "ls"]);
    assert_eq!(commands("f() { cd /z; }; f; ls"), ["f", "cd /z", "/z: ls"]);
    assert_eq!(
        commands("while :; do if ls; then cd /q; break; fi; done; make").last().map(String::as_str),
        Some("?: make")
    );
}

#[test]
fn nested_code_is_read() {
    assert!(
        commands("sudo bash -lc 'cd /etc && rm \"$1\"' _ passwd").contains(&"/etc: rm passwd".to_owned())
    );
    assert!(commands("echo 'rm x' | sh").contains(&"rm x".to_owned()));
    assert!(commands("sh <<E\nrm $HOME\nE").contains(&"rm /home/me".to_owned()));
    assert!(commands("eval 'rm' x").contains(&"rm x".to_owned()));
    assert!(commands("trap 'rm x' EXIT").contains(&"rm x".to_owned()));
    assert!(commands("cat > s.sh <<'E'\nrm $1\nE\nbash s.sh y").contains(&"rm y".to_owned()));
    assert!(commands("echo cm0geA== | base64 -d | sh").contains(&"rm x".to_owned()));
    assert!(commands("alias q='rm x'; q y").contains(&"rm x y".to_owned()));
    let reading = reading("sudo timeout 5 rm x");
    let last = reading.commands.last().expect("commands");
    assert_eq!(last.via, ["sudo", "timeout"]);
}

#[test]
fn a_process_sees_exported_variables_only() {
    assert!(commands("Y=2; sh -c 'rm $Y'").contains(&"rm $Y".to_owned()));
    assert!(commands("export Y=2; sh -c 'rm $Y'").contains(&"rm 2".to_owned()));
    assert!(commands("Y=2 sh -c 'rm $Y'").contains(&"rm 2".to_owned()));
}

#[test]
fn what_is_not_known_is_said() {
    assert_eq!(kinds("$X y"), [UnreadableKind::Program]);
    assert_eq!(kinds("eval \"$X\""), [UnreadableKind::Code]);
    assert_eq!(kinds("curl x | sh"), [UnreadableKind::Code]);
    assert_eq!(kinds("source <(curl x)"), [UnreadableKind::Code]);
    assert_eq!(kinds("bash -c \"$X\""), [UnreadableKind::Code]);
    assert_eq!(kinds("ls > \"$X\""), [UnreadableKind::Path(Access::Write)]);
    assert_eq!(kinds("echo 'open"), [UnreadableKind::Syntax]);
    assert!(kinds("r\u{200b}m x").contains(&UnreadableKind::Words));
    assert!(kinds("rm\u{3000}x").contains(&UnreadableKind::Words));
    assert_eq!(kinds("echo '\u{3000}'"), []);
    assert_eq!(kinds("cat \"$X\""), []);
    assert_eq!(kinds("$X rm x").first(), Some(&UnreadableKind::Program));
    assert!(commands("$X rm x").contains(&"rm x".to_owned()));
}

#[test]
fn ordinary_lines_stay_readable() {
    for line in [
        "cd sub && npm test -- --run 2>&1 | tail -20",
        "for f in src/*.rs; do echo \"$f\"; wc -l \"$f\"; done",
        "find . -name '*.py' -print0 | xargs -0 grep -n 'def main'",
        "T=$(mktemp -d) && cp -r . \"$T\" && rm -rf \"$T\"",
        "git log --format='%h %s' -n 5 | while read -r h s; do echo \"$h: $s\"; done",
        "if [ -f .env ]; then echo yes; else echo no; fi",
        "[[ \"$(uname)\" == Linux ]] && echo linux || echo other",
        "docker ps --format '{{.Names}}' | sort",
        "awk '{print $1}' f.txt | sort | uniq -c",
        "jq '.a | {b: .c}' x.json > out.json",
        "cat > config.json <<EOF\n{\"name\": \"$USER\", \"list\": [1, 2]}\nEOF",
        "set -euo pipefail; make -j\"$(nproc)\"",
        "echo \"a $((1 + 2)) $(date +%s)\" >> log.txt",
        "curl -fsS https://example.org/x -o x.tar.gz && tar xzf x.tar.gz",
        "mkdir -p a/{b,c}/d && touch a/b/d/{1..3}.txt",
        "sed -i 's/foo/bar/g' src/lib.rs && git diff --stat",
    ] {
        assert_eq!(reading(line).unreadable, [], "{line}");
    }
}

#[test]
fn loops_are_read_with_what_they_change() {
    assert_eq!(commands("for i in a b; do rm $i; done"), ["rm a", "rm b"]);
    assert_eq!(commands("a=1; while :; do rm $a; a=/; done"), [":", "rm $a"]);
    assert_eq!(commands("for i in *.txt; do rm $i; done"), ["rm *.txt"]);
}

#[test]
fn patterns_and_names_are_pieces() {
    let reading = reading("rm a*.txt \"b*\" $((RANDOM))");
    let words = &reading.commands.first().expect("one").words;
    let pieces: Vec<_> = words.iter().skip(1).map(|word| word.pieces.as_slice()).collect();
    assert!(matches!(pieces.first(), Some([Piece::Text(_), Piece::Glob(_), Piece::Text(_)])));
    assert!(matches!(pieces.get(1), Some([Piece::Text(_)])));
    assert!(matches!(pieces.get(2), Some([Piece::Name])));
}

#[test]
fn the_parser_does_not_decide_where_words_end() {
    assert!(commands("echo {a;rm x}").contains(&"rm x}".to_owned()));
    assert!(commands("cat <<A <<B\nA\n$(rm x)\nB").contains(&"rm x".to_owned()));
    assert!(commands("sh 5<<<'ls' <<<'rm x'").contains(&"rm x".to_owned()));
    assert!(commands("shopt -s expand_aliases; alias q=rm\nq x").contains(&"rm x".to_owned()));
    assert!(kinds("shopt -s expand_aliases; alias if=rm\nif x").contains(&UnreadableKind::Syntax));
}

#[test]
fn nothing_is_too_long_too_deep_or_too_much() {
    let began = std::time::Instant::now();
    let lines = [
        "a".repeat(10 << 20),
        "$(".repeat(30_000),
        "(".repeat(60_000),
        "{ ".repeat(30_000),
        "`".repeat(60_000),
        "\"${x:-".repeat(10_000),
        "{a,".repeat(20_000),
        "if :; then ".repeat(5_000),
        "a=x; ".to_owned() + &"a=$a$a; ".repeat(64),
        "echo {1..1000000}".to_owned(),
        "echo {1..99}{1..99}{1..99}".to_owned(),
        format!(
            "{}rm $a$b{}",
            "for a in 1 2 3 4 5 6 7 8 9; do for b in $a $a $a $a; do ".repeat(6),
            "; done; done".repeat(6)
        ),
        "f() { f; f; }; f".to_owned(),
        "f() { g; g; }; g() { h; h; }; h() { f 1; f 2; }; f".to_owned(),
        "x='eval \"$x\"'; eval \"$x\"".to_owned(),
        "a && ".repeat(900) + "b",
        "a | ".repeat(900) + "b",
        "$x".repeat(20_000),
        "*[".repeat(30_000),
        "a=(".to_owned() + &"x ".repeat(20_000) + "); echo " + &"\"${a[@]}\" ".repeat(2_000),
        "while ".repeat(12) + "rm $x; x=1" + &"; do :; done".repeat(12),
    ];
    for line in lines {
        let reading = reading(&line);
        assert!(reading.commands.len() < 100_000, "{} commands", reading.commands.len());
    }
    assert!(kinds(&"(".repeat(60_000)).contains(&UnreadableKind::Limit));
    assert!(kinds("echo {1..1000000}").contains(&UnreadableKind::Limit));
    // Unoptimised builds on a busy machine are slow; what this catches is a blow-up.
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

#[test]
fn no_bytes_make_it_panic() {
    // A small generator with a fixed seed; pieces that are likely to meet in bad ways.
    let parts = [
        "$(",
        ")",
        "`",
        "\"",
        "'",
        "${",
        "}",
        "{",
        "<<E\n",
        "E\n",
        "\\",
        "\n",
        "$",
        "a",
        "=",
        "[",
        "]",
        "((",
        "))",
        ";",
        "|",
        "&",
        "<",
        ">",
        "é",
        "\u{200b}",
        "\0",
        "for i in ",
        "do ",
        "done ",
        "case x in ",
        "esac",
        "#",
        "~",
        "*",
        "!",
        ":-",
        "@",
        "x[",
        "$'",
        "if ",
        "then ",
        "fi",
        "<(",
        "%",
        "/",
        "eval ",
        "sh -c ",
        "\u{e000}",
    ];
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 33).unwrap_or(0)
    };
    for _ in 0..3_000 {
        let count = next() % 24;
        let line: String = (0..count).filter_map(|_| parts.get(next() % parts.len())).copied().collect();
        let reading = reading(&line);
        let is_lost = reading.unreadable.iter().any(|entry| entry.what.contains("gave up"));
        assert!(!is_lost, "panicked on {line:?}");
    }
}
