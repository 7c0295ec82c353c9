//! The `gleaner-lab` binary; everything is in the library, so that tests reach it.

fn main() -> std::process::ExitCode {
    gleaner_lab::cli::main()
}
