//! The steps of a line, done: all of them or, as far as that can be had, none.

use nicteam_dataplane::TeamDevice;
use nicteam_sys::process;
use nicteam_vsctl::Step;

use super::here::Here;
use super::undo::Undo;
use super::{bonds, step};
use crate::failure::Failure;
use crate::{say, team, value};

/// Carries steps out. If one fails, or a signal asks to stop, those before it are taken back.
pub(super) fn carry_out(mut here: Here, steps: &[Step]) -> Result<(), Failure> {
    if steps.is_empty() {
        return Ok(());
    }
    team::require_root()?;
    check(&here, steps)?;
    // A line that is stopped half way is taken back, too.
    process::catch_termination()?;
    let mut done: Vec<Undo> = Vec::new();
    for step in steps {
        let netlink = &mut here.netlink;
        let carried_out = Undo::of(netlink, step).and_then(|undo| {
            step::carry_out(netlink, step)?;
            done.extend(undo);
            match process::termination() {
                Some(_) => Err(Failure::interrupted("stopped by a signal; nothing was done")),
                None => Ok(()),
            }
        });
        if let Err(failure) = carried_out {
            for undo in done.into_iter().rev() {
                if let Err(left) = undo.carry_out(netlink) {
                    say::line(format_args!("warning: not undone: {left}"));
                }
            }
            return Err(failure);
        }
    }
    Ok(())
}

/// Refuses what is known beforehand not to work.
fn check(here: &Here, steps: &[Step]) -> Result<(), Failure> {
    let mut freed: Vec<&str> = Vec::new();
    let takes = |device: &str, freed: &[&str]| {
        let Some(link) = here.link(device) else {
            return Err(Failure::failed(format!("no device {device}"))
                .hint(Some("a port is a device that is there: `ip link` lists them")));
        };
        match link.master.filter(|_| !freed.contains(&device)) {
            Some(master) => {
                let master = here.name(master).unwrap_or("another device");
                let hint = format!("`ip link set {device} nomaster` frees it");
                Err(Failure::failed(format!("{device} belongs to {master}")).hint(Some(hint)))
            }
            None => Ok(()),
        }
    };
    for step in steps {
        match step {
            Step::AddBridge { bridge } if here.link(bridge).is_some() && !freed.contains(&bridge.as_str()) => {
                let hint = match here.is_other_bridge(bridge) {
                    true => "it is a bridge of the kernel's that `add-br` did not make",
                    false => "a bridge's local port is a device of its name",
                };
                return Err(Failure::failed(format!("there is a device {bridge} already")).hint(Some(hint)));
            }
            Step::AddPort { port, .. } => takes(port, &freed)?,
            Step::AddBond { port, interfaces, options, .. } => {
                if !TeamDevice::is_name(port) {
                    let words = "the name of a bond is of 1 to 12 printable ASCII characters";
                    return Err(Failure::failed(format!("{port} cannot be the name of a bond")).hint(Some(words)));
                }
                bonds::spec(port, interfaces, options)?;
                interfaces.iter().try_for_each(|device| takes(device, &freed))?;
            }
            Step::AddInterface { interface, .. } => takes(interface, &freed)?,
            Step::DeletePort { port, .. } => freed.push(port),
            Step::DeleteInterface { interface, .. } => freed.push(interface),
            Step::DeleteBridge { bridge } => freed.push(bridge),
            Step::AddBridge { bridge } => drop(value::device(bridge).map_err(Failure::failed)?),
            Step::SetBond { port, options } => drop(bonds::before(port, options)?),
            Step::SetMtu { .. } => {}
        }
    }
    Ok(())
}
