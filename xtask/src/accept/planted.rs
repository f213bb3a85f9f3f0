//! Causes planted in experiments, by seeds: whether the first finding names each, and whether the change that it proposes
//! delivers what was predicted.
//!
//! Each cause has three variants. A seed draws rates, numbers of links and connections, delays and losses.

use std::fs;

use nicteam_machine::split_mix;
use nicteam_statistics::Estimate;
use nicteam_sys::process;
use serde_json::Value;

use super::arguments::Arguments;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::part::{Context, Part};

/// Planted causes.
pub(super) const PART: Part<Arguments> =
    Part::new("planted", "Causes planted in experiments: three variants, a seed a repeat", measure);

/// Variants of each cause.
const VARIANTS: usize = 3;
/// By so much a predicted share may be off.
const OFF: f64 = 0.05;
/// So many predictions of the changed run have to be within that.
const PREDICTED: f64 = 0.9;

const BY_PORTS: &str = "mode = \"balance-xor\"\nxmit_hash_policy = \"layer3+4\"\nmiimon = 100";
const SPREADS: &str = "spread = \"src-dst-port\"";

/// A cause: its name in findings, the node that it is at, and an experiment with it.
struct Planted {
    name: &'static str,
    cause: &'static str,
    node: fn(usize) -> Option<&'static str>,
    experiment: fn(usize, &mut Draw) -> String,
}

const PLANTED: [Planted; 13] = [
    Planted { name: "a host hashes addresses", cause: "hash", node: |_| Some("a"), experiment: host_hash },
    Planted { name: "the switch hashes addresses", cause: "hash", node: |_| Some("sw"), experiment: switch_hash },
    Planted { name: "one connection", cause: "hash", node: |_| Some("a"), experiment: few_flows },
    Planted { name: "hosts behind one router", cause: "hash", node: |_| Some("a"), experiment: router },
    Planted { name: "a host uses one link", cause: "active-backup", node: at_a_or_b, experiment: active_backup },
    Planted { name: "a slower member", cause: "unequal-turns", node: |_| Some("a"), experiment: slow_member },
    Planted { name: "a link loses frames", cause: "declared-loss", node: |_| None, experiment: lossy },
    Planted { name: "a link is down for a while", cause: "down-in-part", node: |_| Some("a"), experiment: down },
    Planted { name: "LACP does not aggregate", cause: "not-aggregating", node: |_| Some("a"), experiment: lacp },
    Planted { name: "a small receive window", cause: "slow-host", node: |_| Some("b"), experiment: window },
    Planted { name: "the switch has no group", cause: "learning", node: |_| Some("sw"), experiment: learning },
    Planted { name: "a host broadcasts", cause: "broadcast", node: |_| Some("a"), experiment: broadcast },
    Planted {
        name: "balance-alb receives by one",
        cause: "load-balancing",
        node: |_| Some("b"),
        experiment: balance_alb,
    },
];

fn measure(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    let mut off = Vec::new();
    for planted in PLANTED {
        let mut wrong = Vec::new();
        let seeds = u64::from(context.arguments.repeats);
        for seed in 1..=seeds {
            for variant in 0..VARIANTS {
                let text = (planted.experiment)(variant, &mut Draw(seed << 8 | variant as u64));
                let name = format!("{}, variant {variant}, seed {seed}", planted.name);
                let said = run(context, &name, &text)?;
                if let Some(why) = is_wrong(&planted, variant, &said) {
                    eprintln!("{name}: {why}\n{text}");
                    wrong.push(name);
                }
                off.extend(predicted(&said));
            }
        }
        let all = seeds * VARIANTS as u64;
        let measured = format!("{} of {all} found", all - wrong.len() as u64);
        figures.push(Figure::text(planted.name, measured, "all", Some(wrong.is_empty())));
    }
    let near = off.iter().filter(|off| off.abs() <= OFF).count();
    let measured = format!("{near} of {} within 5 points", off.len());
    let holds = near as f64 >= PREDICTED * off.len() as f64;
    let middle = Estimate::of(&off).map_or_else(String::new, |of| format!("median {:+.3}", of.median));
    figures.push(Figure::text("predicted and measured with the change", measured, "9 of 10", Some(holds)).peer(middle));
    Ok(figures)
}

/// The record of an experiment's run, and those of the changes that its findings propose.
fn run(context: &Context<'_, Arguments>, name: &str, text: &str) -> Result<Value, Failure> {
    let folder = context.scratch.path().join(name);
    let cannot = |error: std::io::Error| Failure::failed(format!("{name}: {error}"));
    fs::create_dir(&folder).and_then(|()| fs::write(folder.join("planted.toml"), text)).map_err(cannot)?;
    let mut command = context.product.command();
    command.args(["lab", "run", "planted.toml", "--verify", "--json", "--output", "bundle"]);
    command.current_dir(&folder).env("HOME", &folder);
    process::die_with_parent(&mut command);
    let output = command.output().map_err(cannot)?;
    let told = || String::from_utf8_lossy(&output.stderr).into_owned();
    let said = serde_json::from_slice(&output.stdout);
    // Thousands of samples a run.
    fs::remove_dir_all(&folder).map_err(cannot)?;
    said.map_err(|error| Failure::failed(format!("{name}: {error}: {}", told())))
}

/// Why the first finding is not the planted one.
fn is_wrong(planted: &Planted, variant: usize, said: &Value) -> Option<String> {
    let run = &said["runs"][0];
    let (first, part) = (&run["findings"][0], &run["missing"]["parts"][0]["cause"]);
    let node = (planted.node)(variant);
    let is_there = first["cause"] == planted.cause && node.is_none_or(|node| first["node"] == node);
    let is_first = part.is_null() || *part == planted.cause;
    let found =
        || format!("{} at {}, first {part}, {} of what the links can", first["cause"], first["node"], run["of_limit"]);
    (!is_there || !is_first).then(found)
}

/// By how much each prediction was off, as a part of the limit.
fn predicted(said: &Value) -> Vec<f64> {
    let verified = said["verified"].as_array().map_or(&[][..], Vec::as_slice);
    let off = |one: &Value| Some(one["predicted_of_limit"].as_f64()? - one["measured_of_limit"].as_f64()?);
    verified.iter().filter_map(off).collect()
}

/// What a seed draws.
struct Draw(u64);

impl Draw {
    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }

    /// From one to another, both included.
    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        split_mix(&mut self.0) % bound
    }
}

/// An experiment of one run.
fn experiment(head: &str, run: &str) -> String {
    format!(
        "title = \"Planted\"\ndefaults = {{ warmup = \"500ms\", duration = \"2500ms\" }}\n{head}\n[[runs]]\nname = \"run\"\n\
         workloads = \"w\"\n{run}\n"
    )
}

/// Two hosts with a team each, and a switch.
fn two(draw: &mut Draw, teams: [&str; 2], switch: &str, links: u64, connections: u64, run: &str) -> String {
    let rate = draw.of(&[10, 20, 40]);
    let [near, far] = teams;
    let head = format!(
        "[teams.near]\n{near}\n[teams.far]\n{far}\n[hosts]\na = {{ team = \"near\" }}\nb = {{ team = \"far\" }}\n[switches.sw]\n\
         {switch}\n[[links]]\nbetween = [[\"a\", \"b\"], \"sw\"]\ncount = {links}\nrate = \"{rate}mbit\"\n[workloads.w]\n\
         kind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\nconnections = {connections}\n"
    );
    experiment(&head, run)
}

/// Two to four links, and so many connections that chance spreads them.
fn many(draw: &mut Draw, teams: [&str; 2], switch: &str) -> String {
    let (links, connections) = (draw.between(2, 4), draw.between(8, 16));
    two(draw, teams, switch, links, connections, "")
}

fn host_hash(variant: usize, draw: &mut Draw) -> String {
    let policy = ["layer2", "layer2+3", "vlan+srcmac"][variant];
    many(draw, [&format!("mode = \"balance-xor\"\nxmit_hash_policy = \"{policy}\""), BY_PORTS], SPREADS)
}

fn switch_hash(variant: usize, draw: &mut Draw) -> String {
    let by = ["src-dst-mac", "src-dst-ip", "dst-mac"][variant];
    many(draw, ["mode = \"balance-rr\"", BY_PORTS], &format!("spread = \"{by}\""))
}

fn few_flows(variant: usize, draw: &mut Draw) -> String {
    two(draw, [BY_PORTS; 2], SPREADS, variant as u64 + 2, 1, "")
}

fn router(variant: usize, draw: &mut Draw) -> String {
    let (hosts, links) = (2 + variant, draw.between(2, 4));
    let each = draw.between(2, 4);
    let names: Vec<String> = (0..hosts).map(|number| format!("\"h{number}\"")).collect();
    let (behind, declared) =
        (names.join(", "), names.iter().map(|name| format!("{name} = {{}}\n")).collect::<String>());
    let head = format!(
        "[teams.near]\nmode = \"balance-xor\"\nxmit_hash_policy = \"layer2\"\n[hosts]\na = {{ team = \"near\" }}\n\
         gw = {{ forward = true }}\n{declared}[switches.sw]\n{SPREADS}\n[[links]]\nbetween = [\"a\", \"sw\"]\ncount = {links}\n\
         rate = \"20mbit\"\n[[links]]\nbetween = [\"gw\", [\"sw\", {behind}]]\nrate = \"200mbit\"\n[workloads.w]\nkind = \"tcp\"\n\
         from = \"a\"\nto = [{behind}]\nconnections = {}\n",
        each * hosts as u64
    );
    experiment(&head, "")
}

/// Whose team it is that uses one link.
fn at_a_or_b(variant: usize) -> Option<&'static str> {
    [Some("a"), Some("b"), None][variant]
}

fn active_backup(variant: usize, draw: &mut Draw) -> String {
    let one = "mode = \"active-backup\"\nmiimon = 100";
    many(draw, [[one, BY_PORTS], [BY_PORTS, one], [one, one]][variant], SPREADS)
}

fn slow_member(variant: usize, draw: &mut Draw) -> String {
    let (others, fast, slow) = (variant + 1, draw.of(&[20, 40]), draw.of(&[2, 4, 5]));
    let connections = draw.between(8, 12);
    let head = format!(
        "[teams.near]\nmode = \"balance-rr\"\n[teams.far]\n{BY_PORTS}\n[hosts]\na = {{ team = \"near\" }}\nb = {{ team = \"far\" }}\n\
         [switches.sw]\n{SPREADS}\n[[links]]\nbetween = [\"a\", \"sw\"]\ncount = {others}\nrate = \"{fast}mbit\"\n[[links]]\n\
         between = [\"a\", \"sw\"]\nrate = \"{slow}mbit\"\n[[links]]\nbetween = [\"b\", \"sw\"]\ncount = {}\nrate = \"{fast}mbit\"\n\
         [workloads.w]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\nconnections = {connections}\n",
        others + 1
    );
    experiment(&head, "")
}

fn lossy(variant: usize, draw: &mut Draw) -> String {
    let (loss, delay) = (draw.of(&[2, 3, 5]), [2, 5, 10][variant]);
    let head = format!(
        "[impairments.bad]\nloss = \"{loss}%\"\ndelay = \"{delay}ms\"\n[hosts]\na = {{}}\nb = {{}}\n[switches.sw]\n[[links]]\n\
         between = [\"a\", \"sw\"]\nrate = \"20mbit\"\nimpair = \"bad\"\n[[links]]\nbetween = [\"b\", \"sw\"]\n\
         rate = \"20mbit\"\n[workloads.w]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\nconnections = 1\n"
    );
    experiment(&head, "")
}

fn down(variant: usize, draw: &mut Draw) -> String {
    let (links, at, time) = (variant as u64 + 2, draw.of(&[200, 400]), draw.of(&[1200, 1800]));
    // By so many a hash at the switch uses all links.
    let (number, connections) = (draw.between(0, links - 1), draw.between(12, 16));
    let event = format!(
        "events = [{{ at = \"{at}ms\", for = \"{time}ms\", kind = \"cable\", link = [\"a\", \"sw\"], number = {number} }}]"
    );
    let (stripe, turns) = ("mode = \"stripe\"\nmiimon = 50", "mode = \"balance-rr\"\nmiimon = 50");
    let (teams, switch) = if variant == 1 { ([turns, BY_PORTS], SPREADS) } else { ([stripe; 2], "") };
    two(draw, teams, switch, links, connections, &event)
}

fn lacp(variant: usize, draw: &mut Draw) -> String {
    let near = "mode = \"802.3ad\"\nxmit_hash_policy = \"layer3+4\"\nmiimon = 100";
    let passive = format!("{near}\nlacp_active = \"off\"");
    let (near, far, lacp) =
        [(near, BY_PORTS, "off"), (&passive, BY_PORTS, "off"), (near, "mode = \"balance-rr\"\nmiimon = 100", "off")]
            [variant];
    many(draw, [near, far], &format!("{SPREADS}\nlacp = \"{lacp}\""))
}

fn window(variant: usize, draw: &mut Draw) -> String {
    // With 5 ms, 64 KiB would fill the slower link.
    let (delay, rate, window) = ([10, 15, 20][variant], draw.of(&[50, 100]), draw.of(&[32, 48, 64]));
    let head = format!(
        "[impairments.far]\ndelay = \"{delay}ms\"\n[hosts]\na = {{}}\nb = {{ receive_window = \"{window}kib\" }}\n[switches.sw]\n\
         [[links]]\nbetween = [\"a\", \"sw\"]\nrate = \"{rate}mbit\"\nimpair = \"far\"\n[[links]]\nbetween = [\"b\", \"sw\"]\n\
         rate = \"{rate}mbit\"\n[workloads.w]\nkind = \"tcp\"\nfrom = \"a\"\nto = \"b\"\nconnections = 1\n"
    );
    experiment(&head, "")
}

fn learning(_variant: usize, draw: &mut Draw) -> String {
    // b answers by one link, where the switch learns its address.
    many(draw, [BY_PORTS, "mode = \"balance-xor\"\nxmit_hash_policy = \"layer2\""], "")
}

fn broadcast(variant: usize, draw: &mut Draw) -> String {
    let connections = draw.between(4, 14);
    two(draw, ["mode = \"broadcast\"", BY_PORTS], SPREADS, variant as u64 + 2, connections, "")
}

fn balance_alb(variant: usize, draw: &mut Draw) -> String {
    let mode = ["balance-alb", "balance-tlb", "balance-alb"][variant];
    many(draw, [BY_PORTS, &format!("mode = \"{mode}\"\nmiimon = 100")], SPREADS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nicteam_experiment::{Overrides, parse};

    #[test]
    fn every_experiment_is_one() {
        for planted in PLANTED {
            for seed in 0..50 {
                for variant in 0..VARIANTS {
                    let text = (planted.experiment)(variant, &mut Draw(seed));
                    let parsed = parse("planted", "planted.toml", &text, &Overrides::default());
                    assert!(parsed.is_ok(), "{}, variant {variant}: {}\n{text}", planted.name, parsed.unwrap_err());
                }
            }
        }
    }
}
