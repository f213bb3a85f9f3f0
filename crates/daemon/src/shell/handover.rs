//! What a process that ends tells the next one of its LACP ports.
//!
//! The maps of the eBPF programs hold that, too, and also after a crash; but a next process of another version may not be able to read
//! them (`LAYOUT`), and without it every port would begin anew, which the partner answers by leaving it. So a process that is told to leave
//! notes it in words: `up:NAME.ports` in the folder of the network namespace, for the next process alone.

use std::time::Duration;

use nicteam_dataplane::Remembered;
use nicteam_sys::notify::monotonic_us;
use nicteam_team::MemberId;
use nicteam_team::lacp::Answer;
use nicteam_wire::{LacpState, PortInfo};
use serde::{Deserialize, Serialize};

use super::Shell;
use crate::{Error, Notes};

/// End of the file's name.
const END: &str = "ports";

/// All ports of a team.
#[derive(Debug, Serialize, Deserialize)]
struct Noted {
    /// When this was written, microseconds of the machine's run.
    at_us: u64,
    ports: Vec<Port>,
}

/// A port, with what it said last and to what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Port {
    index: u32,
    place: usize,
    frame: Vec<u8>,
    system_priority: u16,
    system: String,
    key: u16,
    port_priority: u16,
    port: u16,
    state: u8,
    silence_us: u64,
}

impl Shell {
    /// Notes how the ports are, for the next process.
    pub(super) fn hand_over(&self) -> Result<(), Error> {
        let ports: Vec<Port> = self.dataplane.remembered()?.iter().map(Port::of).collect();
        if self.persistence.is_none() || ports.is_empty() {
            return Ok(());
        }
        let noted = Noted { at_us: monotonic_us(), ports };
        let text = serde_json::to_string(&noted).map_err(std::io::Error::other);
        let text = text.map_err(|error| nicteam_sys::Error::new("note the ports of the team", error))?;
        Notes::of(&self.device.name)?.write(END, &text)
    }

    /// How the ports were that an ended process left: by the programs' map or, where that cannot be read, by what was noted.
    pub(super) fn ports_left(&self) -> Result<Vec<Remembered>, Error> {
        let found = self.dataplane.remembered()?;
        if self.persistence.is_none() {
            return Ok(found);
        }
        let notes = Notes::of(&self.device.name)?;
        // What cannot be read makes the ports begin anew; and it is for one process.
        let noted = notes.read(END).ok().flatten();
        let _ = notes.remove(END);
        Ok(if found.is_empty() { noted.map(|text| in_text(&text, monotonic_us())).unwrap_or_default() } else { found })
    }
}

/// What is noted, with the time that has passed since.
fn in_text(text: &str, now_us: u64) -> Vec<Remembered> {
    let Ok(noted) = serde_json::from_str::<Noted>(text) else { return Vec::new() };
    // One that is from later is from another run of the machine.
    let Some(since_us) = now_us.checked_sub(noted.at_us) else { return Vec::new() };
    noted.ports.into_iter().filter_map(|port| port.remembered(since_us)).collect()
}

impl Port {
    fn of(remembered: &Remembered) -> Port {
        let Remembered { index, answer, silence } = remembered;
        let partner = &answer.partner;
        Port {
            index: *index,
            place: answer.member.index(),
            frame: answer.frame.clone(),
            system_priority: partner.system_priority,
            system: partner.system.to_string(),
            key: partner.key,
            port_priority: partner.port_priority,
            port: partner.port,
            state: partner.state.0,
            silence_us: u64::try_from(silence.as_micros()).unwrap_or(u64::MAX),
        }
    }

    fn remembered(self, since_us: u64) -> Option<Remembered> {
        let partner = PortInfo {
            system_priority: self.system_priority,
            system: self.system.parse().ok()?,
            key: self.key,
            port_priority: self.port_priority,
            port: self.port,
            state: LacpState(self.state),
        };
        let answer = Answer { member: MemberId::new(self.place)?, frame: self.frame, partner };
        let silence = Duration::from_micros(self.silence_us.saturating_add(since_us));
        Some(Remembered { index: self.index, answer, silence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_noted_comes_back_older() {
        let partner = PortInfo {
            system_priority: 1,
            system: "02:00:00:00:00:09".parse().unwrap(),
            key: 2,
            port_priority: 3,
            port: 4,
            state: LacpState(0x3d),
        };
        let answer = Answer { member: MemberId::new(3).unwrap(), frame: vec![1, 128, 194], partner };
        let remembered = Remembered { index: 7, answer, silence: Duration::from_millis(40) };
        let text = serde_json::to_string(&Noted { at_us: 1_000_000, ports: vec![Port::of(&remembered)] }).unwrap();
        let back = in_text(&text, 1_500_000);
        assert_eq!(back, [Remembered { silence: Duration::from_millis(540), ..remembered }]);
        assert_eq!(in_text(&text, 999_999), [], "of another run of the machine");
        for end in 0..text.len() {
            assert_eq!(in_text(&text[..end], 2_000_000), [], "{}", &text[..end]);
        }
        assert_eq!(in_text(&text.replace("\"place\":3", "\"place\":99"), 2_000_000), []);
    }
}
