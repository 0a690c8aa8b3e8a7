//! Reads command lines from standard input and prints what the reader makes of them, or, with `--time`, how
//! many it reads in a second.

use std::io::Read as _;

#[expect(clippy::print_stdout, reason = "it is what the example is for")]
fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let setting = gatewright::shell::Setting {
        toplevel: None,
        variables: [("HOME", "/home/me"), ("PWD", "/repo")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
    };
    let lines: Vec<&str> = text.split("\n%%\n").collect();
    if std::env::args().nth(1).as_deref() == Some("--time") {
        let began = std::time::Instant::now();
        let mut count = 0_u32;
        while began.elapsed().as_secs() < 2 {
            for line in &lines {
                std::hint::black_box(shuck_parser::parser::Parser::new(line).parse());
                count += 1;
            }
        }
        let parsed = f64::from(count) / began.elapsed().as_secs_f64();
        let began = std::time::Instant::now();
        count = 0;
        while began.elapsed().as_secs() < 2 {
            for line in &lines {
                std::hint::black_box(gatewright::shell::read(line, &setting));
                count += 1;
            }
        }
        let read = f64::from(count) / began.elapsed().as_secs_f64();
        println!("parsed {parsed:.0} lines/s, read {read:.0} lines/s, ratio {:.2}", parsed / read);
        return Ok(());
    }
    for line in lines {
        let reading = gatewright::shell::read(line, &setting);
        println!("{line}");
        for command in &reading.commands {
            let words: Vec<_> = command.words.iter().map(|word| format!("‹{}›", word.shown())).collect();
            println!(
                "    {:?} {:?} {} < {:?}",
                command.directory,
                command.via,
                words.join(" "),
                command.input
            );
        }
        for effect in &reading.effects {
            println!("    effect {:?} {}", effect.kind, effect.word.shown());
        }
        for unreadable in &reading.unreadable {
            println!("    ! {:?} {}", unreadable.kind, unreadable.what);
        }
    }
    Ok(())
}
