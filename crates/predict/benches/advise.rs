//! A million flows as lines of CSV, and ten million, ranked for four links by one thread.
//! `cargo bench -p nicteam-predict --bench advise` prints both times and their ratio.

#![expect(clippy::disallowed_methods, reason = "time is what is measured")]

use std::time::Instant;

use nicteam_predict::advise::Traffic;
use nicteam_predict::flow_lines::Part;

const FLOWS: [usize; 2] = [1_000_000, 10_000_000];
const CHUNK: usize = 100_000;

fn main() {
    let line = |number: usize| {
        let (host, port) = (number % 250, 1024 + number % 60_000);
        format!(
            "10.0.{}.{host},10.1.0.{},{port},443,tcp,{},02:00:00:00:00:{:02x},02:00:00:00:01:01\n",
            number % 200,
            number % 7,
            number % 9000,
            host % 256
        )
    };
    let text = (0..CHUNK).map(line).collect::<String>();
    let took = FLOWS.map(|flows| seconds(&text, flows));
    println!("ten times the flows took {:.1} times as long", took[1] / took[0]);
}

fn seconds(text: &str, flows: usize) -> f64 {
    let part = Part { text: text.as_bytes(), first: 1 };
    let begun = Instant::now();
    let mut traffic = Traffic::new(4, part.has_macs().unwrap().unwrap());
    for _ in 0..flows / CHUNK {
        part.for_each(|frame, bytes| traffic.add(frame, bytes)).unwrap();
    }
    let read = begun.elapsed();
    let ranked = traffic.ranked();
    let all = begun.elapsed();
    println!(
        "{} flows: read in {:.2} s, {} modes ranked in {:.2} s, best {}",
        traffic.total().0,
        read.as_secs_f64(),
        ranked.len(),
        (all - read).as_secs_f64(),
        ranked[0].name
    );
    all.as_secs_f64()
}
