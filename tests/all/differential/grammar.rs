//! Lines by a grammar. Nothing in it can hurt: programs are stand-ins, paths are relative, loops count their rounds.

/// A tiny generator of numbers (splitmix64): the same seed gives the same lines everywhere.
pub(crate) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(count).unwrap()).unwrap()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick(&mut self, choices: &[&str]) -> String {
        choices[self.below(choices.len())].to_owned()
    }
}

const NAMES: &[&str] = &["x", "y", "z", "w"];
const LISTS: &[&str] = &["l", "m"];
const FUNCTIONS: &[&str] = &["f", "g", "h"];
const PROGRAMS: &[&str] = &["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "no", "rm", "git"];
const PLAIN: &[&str] = &[
    "a",
    "b",
    "c",
    "d1",
    "one.txt",
    "-r",
    "--k=v",
    "k=v",
    "u:v",
    "%",
    "@",
    "é",
    "a-b",
    "7",
    "A",
    "sub/two.txt",
    "+",
    "=",
    "a,b",
    "x=~",
    "a:b:c",
    "]",
    "}",
    "in",
    "do",
    "if",
    "!",
    "03",
    "aXbXc",
    "^",
    "#x",
    "a#b",
];
const TEXTS: &[&str] =
    &["a b", "a  b ", "a*", "it", "c;d", "$x", "a\tb", "*", "[", "~", "{a,b}", "", "a:b", "a,b", "\\", "#"];
const PATTERNS: &[&str] =
    &["*", "?", "a*", "*b", "[a-c]", "[!a]*", "X", "a", "*.txt", "b*X", "'*'", "\"a\"", "\\*", "$y", "a b"];

/// One line in the making.
pub(crate) struct Grammar {
    random: Random,
    loops: usize,
    in_function: bool,
}

/// The line of a seed.
pub(crate) fn line(seed: u64) -> String {
    let mut grammar = Grammar { random: Random(seed), loops: 0, in_function: false };
    let mut text = String::new();
    for _ in 0..1 + grammar.random.below(3) {
        // Most lines know their variables.
        text.push_str(&grammar.assignment(2));
        text.push_str("; ");
    }
    if grammar.random.one_in(3) {
        text.push_str(&grammar.list_assignment());
        text.push_str("; ");
    }
    if grammar.random.one_in(3) {
        text.push_str(&grammar.parameters());
        text.push_str("; ");
    }
    let count = 1 + grammar.random.below(4);
    text.push_str(&grammar.statements(count, 3));
    text
}

/// A statement with what ends it.
fn ended(text: &str) -> String {
    if text.ends_with('\n') {
        text.to_owned()
    } else if text.ends_with('&') {
        format!("{text} ")
    } else {
        format!("{text}; ")
    }
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

impl Grammar {
    fn statements(&mut self, count: usize, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            let statement = self.statement(depth);
            if self.random.one_in(5) && !statement.ends_with('\n') {
                text.push_str(&statement);
                text.push('\n');
            } else {
                text.push_str(&ended(&statement));
            }
        }
        text
    }

    fn body(&mut self, depth: usize) -> String {
        let count = 1 + self.random.below(2);
        self.statements(count, depth.saturating_sub(1))
    }

    fn name(&mut self) -> String {
        self.random.pick(NAMES)
    }

    /// Something that may end in a here-document.
    fn statement(&mut self, depth: usize) -> String {
        match self.random.below(24) {
            0 => self.here_document(depth),
            1 => format!("{} &", self.simple(1)),
            2 | 3 if depth > 0 => self.compound(depth),
            4 if depth > 0 => self.function(depth),
            _ => self.inline(depth),
        }
    }

    /// A statement on one line.
    fn inline(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let below = depth - 1;
        match self.random.below(30) {
            0 => format!("{} && {}", self.inline(below), self.inline(below)),
            1 => format!("{} || {}", self.inline(below), self.inline(below)),
            2 => format!("! {}", self.simple(below)),
            3 => format!("{{ {}}}", self.body(depth)),
            4 => format!("({})", self.body(depth)),
            5 => self.pipeline(depth),
            6 => self.evaluated(depth),
            7..=10 => self.assignment(below),
            11 => self.list_assignment(),
            12 => self.parameters(),
            13 => self.state(depth),
            14 => format!("{} {}", self.random.pick(FUNCTIONS), self.words(below)),
            15 => format!("{} > out", self.simple(below)),
            16 => {
                let text = self.body(0);
                format!("trap {} EXIT", single(text.trim_end()))
            }
            17 => format!("read -r {} <<< {}", self.name(), self.word(below)),
            18 => format!("[[ {} == {} ]]", self.word(below), self.random.pick(PATTERNS)),
            19 => format!("[ {} = {} ]", self.quoted(below), self.quoted(below)),
            20 => format!("(({}))", self.sum()),
            _ => self.simple(below),
        }
    }

    fn simple(&mut self, depth: usize) -> String {
        let mut text = String::new();
        if self.random.one_in(12) {
            text = format!("{}={} ", self.name(), self.word(depth));
        }
        text.push_str(&self.program());
        text.push(' ');
        text.push_str(&self.words(depth));
        match self.random.below(16) {
            0 => text.push_str(" 2>/dev/null"),
            1 => text.push_str(" >> out"),
            2 => text.push_str(&format!(" <<< {}", self.word(depth))),
            3 => text.push_str(" 2>&1"),
            4 => return format!("> out {text}"),
            _ => {}
        }
        text
    }

    fn program(&mut self) -> String {
        let name = self.random.pick(PROGRAMS);
        match self.random.below(16) {
            0 => format!("\\{name}"),
            1 => format!("'{name}'"),
            2 => format!("\"{name}\""),
            3 => format!("{}''{}", &name[..1], &name[1..]),
            4 => format!("$'{name}'"),
            5 => format!("command {name}"),
            6 => format!("$(echo {name})"),
            7 => {
                self.random.pick(&["env", "nice", "timeout 5", "exec", "nohup", "builtin command"])
                    + " "
                    + &name
            }
            _ => name,
        }
    }

    fn words(&mut self, depth: usize) -> String {
        let count = self.random.below(4);
        (0..count).map(|_| self.word(depth)).collect::<Vec<_>>().join(" ")
    }

    fn word(&mut self, depth: usize) -> String {
        let count = 1 + self.random.below(5).saturating_sub(2);
        (0..count).map(|_| self.atom(depth)).collect()
    }

    /// A word that is one word for certain.
    fn quoted(&mut self, depth: usize) -> String {
        let mut text = String::from("\"");
        for _ in 0..1 + self.random.below(2) {
            let part = match self.random.below(8) {
                0 => self.random.pick(&[
                    "a b", "a", "\\\"", "\\$x", "\\\\", "\\a", "'", "*", "~", "{a,b}", "#", ";", "!",
                ]),
                1 | 2 => format!("${}", self.name()),
                3 => self.parameter(depth, true),
                4 if depth > 0 => format!("$({})", self.printing(depth - 1)),
                5 => self.random.pick(&["$1", "$@", "$*", "$#", "${2}", "${@:2}", "${*:1:1}"]),
                6 => self.listed(),
                _ => self.random.pick(&["a", "b c", "k=v"]),
            };
            text.push_str(&part);
        }
        text.push('"');
        text
    }

    fn atom(&mut self, depth: usize) -> String {
        match self.random.below(26) {
            0 => single(&self.random.pick(TEXTS)),
            1 => self
                .random
                .pick(&["\\ ", "\\*", "\\$", "\\\"", "\\'", "\\\\", "\\a", "\\;", "\\{", "\\~", "\\#"]),
            2 => self.random.pick(&[
                "$'a\\tb'",
                "$'\\x61\\n'",
                "$'it\\'s'",
                "$'\\141'",
                "$'\\u00e9'",
                "$'\\cA'",
                "$''",
                "$\"a\"",
            ]),
            3 => self.brace(),
            4 => self.random.pick(&["~", "~/a", "~+", "~-", "a=~/b", "~nobody9", "~'x'"]),
            5..=7 => format!("${}", self.name()),
            8 => format!("${{{}}}", self.name()),
            9..=11 => self.parameter(depth, false),
            12 => format!("$(({}))", self.sum()),
            13 if depth > 0 => format!("$({})", self.printing(depth - 1)),
            14 if depth > 0 => {
                let text = self.printing(0);
                if text.contains(['`', '\\']) { text.replace(['`', '\\'], "") } else { format!("`{text}`") }
            }
            15 => self.random.pick(&["*", "?", "*.txt", "[a-o]*", "sub/*", "no*where", "one.tx[t]"]),
            16 => {
                self.random.pick(&["$1", "$2", "$@", "$*", "$#", "${1}", "${@:2}", "${@:1:1}", "${3:-d e}"])
            }
            17 => self.listed(),
            18 | 19 => self.quoted(depth),
            20 if depth > 0 && self.random.one_in(3) => format!("<({})", self.simple(0)),
            _ => self.random.pick(PLAIN),
        }
    }

    fn brace(&mut self) -> String {
        self.random.pick(&[
            "{a,b}",
            "{1..3}",
            "{a,}",
            "{a}",
            "{}",
            "{a,{b,c}}",
            "{3..1}",
            "{a..e..2}",
            "{01..3}",
            "{$x,b}",
            "{'a b',c}",
            "{a,b}{1,2}",
            "{a,\"$y\"}",
            "{,}",
            "{-1..1}",
            "{a,b",
            "a}",
            "{a..3}",
            "{1..5..2}",
            "{$((1+1)),z}",
            "{0..10..5}",
            "{c..a}",
            "${x}{1,2}",
            "{~,a}",
            "{a\\,b,c}",
            "{1..03}",
            "{-01..2}",
        ])
    }

    fn parameter(&mut self, depth: usize, is_quoted: bool) -> String {
        let name = self.name();
        let operand = if is_quoted {
            self.random.pick(&["a", "a b", "$y", "'q'", "\"r s\"", "", "*", "~", "\\}", "$(echo v)"])
        } else {
            self.word(depth.saturating_sub(1)).replace(['}', '{'], "")
        };
        let pattern = self.random.pick(PATTERNS);
        match self.random.below(19) {
            0 => format!("${{{name}:-{operand}}}"),
            1 => format!("${{{name}-{operand}}}"),
            2 => format!("${{{name}:={operand}}}"),
            3 => format!("${{{name}:+{operand}}}"),
            4 => format!("${{{name}+{operand}}}"),
            5 => format!("${{{name}#{pattern}}}"),
            6 => format!("${{{name}##{pattern}}}"),
            7 => format!("${{{name}%{pattern}}}"),
            8 => format!("${{{name}%%{pattern}}}"),
            9 => format!(
                "${{{name}/{pattern}/{}}}",
                self.random.pick(&["-", "", "q r", "&", "$z", "'&'", "\\&", "*"])
            ),
            10 => format!("${{{name}//{pattern}/{}}}", self.random.pick(&["-", "", "q", "[&]", "$w"])),
            11 => format!("${{{name}/{}{pattern}/q}}", self.random.pick(&["#", "%"])),
            12 => format!(
                "${{{name}:{}}}",
                self.random.pick(&["1", "0:2", " -1", "1:-1", "9", "0:0", "x", " -9", "$#", "1+1:1"])
            ),
            13 => format!("${{#{name}}}"),
            14 => format!(
                "${{{name}{}}}",
                self.random
                    .pick(&["^^", ",,", "^", ",", "^^[ab]", "@Q", "@U", "@L", "@u", "@E", "@A", "@a", "~~"])
            ),
            15 => format!("${{!{name}}}"),
            16 => format!("${{!{name}@}}"),
            17 => format!("${{{name}:?}}"),
            _ => format!("${{{name}}}"),
        }
    }

    fn listed(&mut self) -> String {
        let name = self.random.pick(LISTS);
        let form = self.random.pick(&[
            "[@]", "[*]", "[0]", "[1]", "[-1]", "[@]:1", "[@]:0:1", "[*]:1", "[@]%b", "[@]/a/q", "[x]",
            "[$x]", "[@]^^", "[9]", "", "[@]:-d", "[0]:-d", "[@]+s", "[1+0]", "[*]#a",
        ]);
        match self.random.below(8) {
            0 => format!("${{#{name}[@]}}"),
            1 => format!("${{!{name}[@]}}"),
            _ => format!("${{{name}{form}}}"),
        }
    }

    fn sum(&mut self) -> String {
        self.random.pick(&[
            "1+2", "2*3-1", "x+1", "y", "z=5", "w++", "--w", "x?1:2", "1<<3", "7%4", "2**3", "1&&0", "x==y",
            "!x", "0x1f", "010", "(1+2)*3", "1,2", "x+=2", "-3", "~1", "7/2", "#x", "l[0]", "1 - -1", "$#+1",
            "${#x}", "5>3", "1|6", "08", "2#101",
        ])
    }

    /// A command that prints, mostly what can be known.
    fn printing(&mut self, depth: usize) -> String {
        match self.random.below(9) {
            0..=2 => format!("echo {}", self.words(depth)),
            3 => format!("printf '%s\\n' {}", self.words(depth)),
            4 => format!(
                "printf {} {}",
                self.random.pick(&["'%s,%s'", "'%d'", "'a%%b'", "%b", "'%s'", "'\\x61%s'", "'%5s'", "%q"]),
                self.words(depth)
            ),
            5 => format!("cat <<< {}", self.word(depth)),
            6 => format!("{}; echo {}", self.simple(0), self.word(depth)),
            7 => format!("echo -{} {}", self.random.pick(&["n", "e", "E", "ne"]), self.words(depth)),
            _ => self.simple(depth),
        }
    }

    fn assignment(&mut self, depth: usize) -> String {
        let name = self.name();
        match self.random.below(14) {
            0 => format!(
                "{name}='{} {}'",
                self.random.pick(PROGRAMS),
                self.random.pick(&["a", "a b", "\"a b\"", "$y", "*"])
            ),
            1 => format!("{name}={}", self.random.pick(PROGRAMS)),
            2 => format!("{name}={}", self.random.pick(NAMES)),
            3 => format!("{name}={}", 1 + self.random.below(9)),
            4 => format!("{name}+={}", self.word(depth)),
            5 => format!("{name}={}", single(&self.random.pick(TEXTS))),
            6 => format!("{name}= {}", self.simple(0)),
            7 => format!("unset {name}"),
            8 => format!("export {name}={}", self.word(depth)),
            9 => format!("printf -v {name} %s {}", self.quoted(depth)),
            10 => format!("IFS={}", self.random.pick(&[",", ":", "' '", "''", "$' \\t\\n'", "b", "' ,'"])),
            11 => format!("{name}={} {}={}", self.word(depth), self.name(), self.word(depth)),
            _ => format!("{name}={}", self.word(depth)),
        }
    }

    fn list_assignment(&mut self) -> String {
        let name = self.random.pick(LISTS);
        match self.random.below(8) {
            0 => format!("{name}+=({})", self.words(0)),
            1 => format!("{name}[{}]={}", self.random.pick(&["0", "1", "5", "x"]), self.word(0)),
            2 => format!("unset '{name}[0]'"),
            3 => format!("declare -A {name}; {name}[k]={}", self.word(0)),
            4 => format!("read -ra {name} <<< {}", self.word(0)),
            _ => format!("{name}=({} {})", self.word(1), self.words(1)),
        }
    }

    fn parameters(&mut self) -> String {
        match self.random.below(6) {
            0 => "shift".to_owned(),
            1 => format!("shift {}", self.random.pick(&["2", "0", "9", "$#"])),
            2 => {
                format!("set {}", self.random.pick(&["a b", "- a", "-- -a b", "-f", "+f", "-e", "-u", "--"]))
            }
            _ => format!("set -- {}", self.words(1)),
        }
    }

    /// What changes the shell itself.
    fn state(&mut self, depth: usize) -> String {
        match self.random.below(15) {
            0 => "cd sub".to_owned(),
            1 => "cd ..".to_owned(),
            2 => format!("(cd sub && {})", self.inline(depth - 1)),
            3 => format!(
                "shopt -s expand_aliases\nalias q='{}'\nq {}",
                self.random.pick(&["p1 -i", "p2", "p3 a;p4"]),
                self.words(0)
            ),
            4 => format!("alias p1=p2; {}", self.simple(0)),
            5 => "exec 3>out".to_owned(),
            6 if self.in_function => format!("local {}={}", self.name(), self.word(depth - 1)),
            7 if self.in_function => format!("return {}", self.random.below(2)),
            8 => format!(
                "declare {} {}={}",
                self.random.pick(&["-i", "-u", "-l", "-x", "-r", "-g", "-n", ""]),
                self.name(),
                self.word(0)
            ),
            9 => format!("exit {}", self.random.below(2)),
            10 if self.loops > 0 => self.random.pick(&["break", "continue"]),
            11 => format!(
                "shopt -s {}",
                self.random.pick(&["nullglob", "extglob", "lastpipe", "nocasematch", "dotglob"])
            ),
            12 => format!("unset -f {}", self.random.pick(FUNCTIONS)),
            13 => format!(
                "IFS={} read -r {} {} <<< {}",
                self.random.pick(&[":", ",", ""]),
                self.name(),
                self.name(),
                self.word(0)
            ),
            _ => format!("pushd sub; {}; popd", self.simple(0)),
        }
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let below = depth - 1;
        match self.random.below(8) {
            0 => format!("{} | {}", self.simple(below), self.simple(below)),
            1 => format!("printf '%s\\n' {} | bash", single(self.simple(0).trim())),
            2 => format!("echo {} | bash -s {}", single(&self.simple(0)), self.words(0)),
            3 => format!("echo {} | xargs {} {}", self.words(0), self.random.pick(PROGRAMS), self.words(0)),
            4 => {
                let name = self.name();
                format!("{} | while read -r {name}; do {}done", self.printing(below), self.body(below))
            }
            5 => format!("{} | cat | {}", self.printing(below), self.simple(below)),
            6 => format!("{} |& {}", self.simple(below), self.inline(below)),
            _ => format!("{} | {{ {}}}", self.printing(below), self.body(below)),
        }
    }

    fn evaluated(&mut self, depth: usize) -> String {
        let below = depth - 1;
        match self.random.below(12) {
            0 => format!("eval {}", single(&self.inline(below))),
            1 => format!("eval {} {}", self.random.pick(PROGRAMS), self.words(below)),
            2 => format!("bash -c {}", single(&self.inline(below))),
            3 => format!("bash -c {} {}", single(&self.inline(0)), self.words(0)),
            4 => format!("sh -c '{} \"$@\" $1' s {}", self.random.pick(PROGRAMS), self.words(0)),
            5 => format!("source <(echo {})", single(&self.simple(0))),
            6 => format!("eval \"${}\"", self.name()),
            7 => format!("${} {}", self.name(), self.words(0)),
            8 => "\"${l[@]}\"".to_owned(),
            9 => format!("echo {} > s; . ./s {}", single(&self.simple(0)), self.words(0)),
            10 => format!("eval \"{} \\$x $y\"", self.random.pick(PROGRAMS)),
            _ => "\"$@\"".to_owned(),
        }
    }

    fn here_document(&mut self, depth: usize) -> String {
        let body = match self.random.below(4) {
            0 => format!("{} $x", self.simple(0)),
            1 => format!("{}\n", self.simple(0)),
            2 => format!("$({})", self.simple(0)),
            _ => format!("{} {} \\$y `p0 a`", self.random.pick(PROGRAMS), self.parameter(0, true)),
        }
        .replace('\n', " ");
        let sink = match self.random.below(4) {
            0 => "bash".to_owned(),
            1 => "cat".to_owned(),
            2 => format!("read -r {}", self.name()),
            _ => self.simple(depth.min(1)),
        };
        let mark = self.random.pick(&["E", "'E'", "\"E\"", "\\E", "-E"]);
        let tab = if mark == "-E" { "\t" } else { "" };
        format!("{sink} <<{mark}\n{tab}{body}\n{tab}E\n")
    }

    fn compound(&mut self, depth: usize) -> String {
        let below = depth - 1;
        match self.random.below(8) {
            0 => {
                let other =
                    if self.random.one_in(2) { format!("else {}", self.body(below)) } else { String::new() };
                format!("if {}then {}{other}fi", ended(&self.inline(below)), self.body(below))
            }
            1 => format!(
                "if {}then {}elif {}then {}else {}fi",
                ended(&self.inline(0)),
                self.body(below),
                ended(&self.inline(0)),
                self.body(below),
                self.body(below)
            ),
            kind @ (2 | 3) => {
                self.loops += 1;
                let counter = format!("n{}", self.loops);
                let body = self.body(below);
                self.loops -= 1;
                if kind == 2 {
                    format!("{counter}=0; while ((++{counter} < 4)); do {body}done")
                } else {
                    format!(
                        "{counter}=0; until [ ${counter} = 3 ]; do {counter}=$(({counter} + 1)); {body}done"
                    )
                }
            }
            4 | 5 => {
                let name = self.name();
                let words = self.words(1);
                self.loops += 1;
                let body = self.body(below);
                self.loops -= 1;
                let list = if self.random.one_in(6) { String::new() } else { format!(" in {words}") };
                format!("for {name}{list}; do {} {}; {body}done", self.random.pick(PROGRAMS), self.word(0))
            }
            6 => {
                let counter = format!("n{}", self.loops + 1);
                self.loops += 1;
                let body = self.body(below);
                self.loops -= 1;
                format!("for (({counter}=0;{counter}<3;{counter}++)); do {body}done")
            }
            _ => {
                let subject = self.word(0);
                let ends = [self.random.pick(&[";;", ";;", ";&", ";;&"]), self.random.pick(&[";;", ";&"])];
                format!(
                    "case {subject} in {}) {} {} {}|b) {} {} *) {};; esac",
                    self.random.pick(PATTERNS).replace(' ', ""),
                    self.body(below).trim_end().trim_end_matches(';'),
                    ends[0],
                    self.random.pick(PATTERNS).replace(' ', ""),
                    self.body(0).trim_end().trim_end_matches(';'),
                    ends[1],
                    self.simple(0)
                )
            }
        }
    }

    fn function(&mut self, depth: usize) -> String {
        let name = self.random.pick(FUNCTIONS);
        let outer = std::mem::replace(&mut self.in_function, true);
        let loops = std::mem::take(&mut self.loops);
        let body = self.body(depth);
        self.loops = loops;
        self.in_function = outer;
        let definition = match self.random.below(4) {
            0 => format!("function {name} {{ {body}}}"),
            1 => format!("{name}() ({body})"),
            _ => format!("{name}() {{ {body}}}"),
        };
        format!("{definition}; {name} {}", self.words(0))
    }
}
