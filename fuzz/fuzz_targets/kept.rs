#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = nicteam_fuzz::control::persisted(bytes);
});
