//! The `gatewright` program; everything is in the library.

fn main() -> std::process::ExitCode {
    gatewright::cli::main()
}
