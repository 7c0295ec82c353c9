//! Lets the linker drop the coverage counters of functions that a target never reaches: libFuzzer walks all counters
//! after each execution, and rustc asks the linker to keep them.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-Wl,-z,start-stop-gc");
}
