#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| nicteam_fuzz::lacp(bytes));
