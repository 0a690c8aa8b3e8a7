//! The program tables, made into static data at build time from `policies/programs/*.yml`.

/// What is known of one program.
#[derive(Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
}

/// The table of a program, by base name.
pub fn program(name: &str) -> Option<&'static Program> {
    let _ = name;
    None
}
