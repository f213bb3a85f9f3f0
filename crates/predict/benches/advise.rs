//! Ten million flows as lines of CSV, ranked for four links. `cargo bench -p nicteam-predict --bench advise` prints the time.

#![expect(clippy::disallowed_methods, reason = "time is what is measured")]

use std::io::{self, BufReader, Read};
use std::time::Instant;

use nicteam_predict::advise::Traffic;
use nicteam_predict::flow_lines;

const FLOWS: usize = 10_000_000;
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
    let lines = Repeated { text: (0..CHUNK).map(line).collect::<String>().into_bytes(), at: 0, left: FLOWS / CHUNK };
    let begun = Instant::now();
    let add = |traffic: &mut Traffic, frame: &nicteam_wire::Frame<'_>, bytes| traffic.add(frame, bytes);
    let traffic =
        flow_lines::for_each(BufReader::with_capacity(1 << 20, lines), |has_macs| Traffic::new(4, has_macs), add);
    let traffic = traffic.unwrap().unwrap();
    let read = begun.elapsed();
    let ranked = traffic.ranked();
    let (flows, _) = traffic.total();
    let (read_s, rank_s) = (read.as_secs_f64(), (begun.elapsed() - read).as_secs_f64());
    println!(
        "{flows} flows: read in {read_s:.1} s, {} modes ranked in {rank_s:.2} s, best {}",
        ranked.len(),
        ranked[0].name
    );
}

/// A text, so many times.
struct Repeated {
    text: Vec<u8>,
    at: usize,
    left: usize,
}

impl Read for Repeated {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            (self.at, self.left) = (0, self.left.saturating_sub(1));
        }
        if self.left == 0 {
            return Ok(0);
        }
        let count = to.len().min(self.text.len() - self.at);
        to[..count].copy_from_slice(&self.text[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}
