#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| gleaner_fuzz::cookie_file(input));
