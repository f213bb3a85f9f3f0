//! Mutated configurations: every format reads or refuses them, and comes to an end.
//!
//! The inputs of `fuzz/corpus/imports` with parts taken out, doubled, put in and exchanged. `NICTEAM_SOAK=1` goes on for ten
//! minutes; `NICTEAM_SEED` takes others.

use std::fs;
use std::time::{Duration, Instant};

use nicteam_testnet::is_soak;

use super::corpus::properties::imports;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/imports");
/// Inputs of a sample.
const SAMPLE: u64 = 400;
const SOAK: Duration = Duration::from_secs(600);
/// What takes longer hangs; the slowest takes a thousandth.
const HANG: Duration = Duration::from_secs(20);

/// Characters that mean something somewhere, and some that mean nothing anywhere.
const CHARACTERS: &[&str] = &[
    "\n",
    " ",
    "\t",
    "\"",
    "'",
    "\\",
    "=",
    ":",
    "-",
    "/",
    "{",
    "}",
    "[",
    "]",
    "(",
    "#",
    ";",
    ",",
    "$",
    "`",
    "|",
    "&",
    "*",
    "!",
    "%",
    "+",
    ".",
    "0",
    "9",
    "99999999999999999999",
    "\u{0}",
    "\u{e9}",
    "\u{1f600}",
    "\r\n",
    "=== x\n",
    "bond",
    "\\\n",
];

/// Numbers without a system behind them (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to this one.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// One of these.
    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn of<'a>(&mut self, texts: &'a [String]) -> &'a str {
        texts.get(self.below(texts.len())).map_or("", String::as_str)
    }
}

fn mutated(random: &mut Random, seeds: &[String], words: &[String]) -> String {
    let mut text = random.of(seeds).to_owned();
    for _ in 0..=random.below(4) {
        let from = boundary(&text, random.below(text.len() + 1));
        let to = boundary(&text, from + random.below(40));
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        match random.below(9) {
            0 => text.truncate(from),
            1 => text.replace_range(from..to, ""),
            2 => text.insert_str(from, CHARACTERS[random.below(CHARACTERS.len())]),
            3 => text.replace_range(from..to, random.of(words)),
            4 => {
                let piece = text[from..to].to_owned();
                text.insert_str(from, &piece.repeat(1 + random.below(50)));
            }
            5 => {
                let line = lines.get(random.below(lines.len())).copied().unwrap_or("").to_owned();
                text.insert_str(line_start(&text, from), &line.repeat(1 + random.below(3)));
            }
            6 => {
                let other = random.of(seeds);
                let end = boundary(other, random.below(other.len() + 1));
                text = format!("{}{}", &text[..from], &other[end..]);
            }
            7 => text.insert_str(from, &format!(" {} ", random.of(words))),
            _ => {
                let (a, b) = (random.below(lines.len()), random.below(lines.len()));
                let mut swapped = lines.clone();
                if !swapped.is_empty() {
                    swapped.swap(a, b);
                }
                text = swapped.concat();
            }
        }
    }
    text
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

#[test]
#[allow(clippy::disallowed_methods, reason = "how long it mutates, and whether it hangs, is the question")]
fn mutated_configurations_are_read_or_refused() {
    let mut paths: Vec<_> = fs::read_dir(CORPUS).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let seeds: Vec<String> = paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut words: Vec<String> = seeds.iter().flat_map(|seed| seed.split_whitespace().map(str::to_owned)).collect();
    words.sort();
    words.dedup();
    let seed = std::env::var("NICTEAM_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(22);
    let (mut random, start) = (Random(seed), Instant::now());
    let (mut inputs, mut taken) = (0, 0);
    while if is_soak() { start.elapsed() < SOAK } else { inputs < SAMPLE } {
        let before = random.0;
        let text = mutated(&mut random, &seeds, &words);
        let begun = Instant::now();
        let result = std::panic::catch_unwind(|| imports(text.as_bytes()));
        assert!(begun.elapsed() < HANG, "NICTEAM_SEED={before} hangs:\n{text}");
        taken += u64::from(result.unwrap_or_else(|_| panic!("NICTEAM_SEED={before}:\n{text}")));
        inputs += 1;
    }
    println!("{inputs} inputs, {taken} of them with a team in them");
    assert!(taken * 20 > inputs && taken < inputs, "the mutation is too wild or too tame: {taken} of {inputs}");
}
