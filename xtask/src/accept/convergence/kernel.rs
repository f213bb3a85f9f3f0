//! The kernel's bonding driver, in a guest.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nicteam_oracle::protocol::Request;
use nicteam_oracle::{Cable, Guest};
use nicteam_testnet::Host;

use super::end::{AGGREGATE_WAIT_MS, End, MIIMON, PORTS, device};
use crate::failure::Failure;

/// A bond of a guest.
pub(crate) struct KernelEnd {
    /// Where its cables end; they go with it.
    _host: Host,
    guest: Arc<Mutex<Guest>>,
    bond: String,
    ports: Vec<String>,
    made: bool,
}

/// A bond of a guest of its own.
pub(crate) fn one(host: Host, boot: impl Fn(Vec<Cable>) -> Result<Guest, Failure>) -> Result<KernelEnd, Failure> {
    let [end] = ends([host], boot)?;
    Ok(end)
}

/// Two bonds of one guest.
pub(crate) fn two(
    hosts: [Host; 2],
    boot: impl Fn(Vec<Cable>) -> Result<Guest, Failure>,
) -> Result<[KernelEnd; 2], Failure> {
    ends(hosts, boot)
}

fn ends<const N: usize>(
    mut hosts: [Host; N],
    boot: impl Fn(Vec<Cable>) -> Result<Guest, Failure>,
) -> Result<[KernelEnd; N], Failure> {
    let mut cables = Vec::new();
    for host in &mut hosts {
        for port in 0..PORTS {
            let index = host.index(&device(port));
            cables.push(host.netns.run(|| Cable::open(index))??);
        }
    }
    let mut guest = boot(cables)?;
    for port in (0..N * PORTS).map(port) {
        // The carrier can be set while it is up, and a bond takes it while it is down.
        guest.must(Request::SetUp { name: port.clone(), up: true });
        guest.plug(&port, false);
        guest.must(Request::SetUp { name: port, up: false });
    }
    let guest = Arc::new(Mutex::new(guest));
    let mut number = 0;
    Ok(hosts.map(|host| {
        let first = number * PORTS;
        let bond = format!("bond{number}");
        number += 1;
        let ports = (first..first + PORTS).map(port).collect();
        KernelEnd { _host: host, guest: Arc::clone(&guest), bond, ports, made: false }
    }))
}

fn port(number: usize) -> String {
    format!("a{number}")
}

impl KernelEnd {
    fn guest(&self) -> MutexGuard<'_, Guest> {
        self.guest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl End for KernelEnd {
    fn wait_ms(&self) -> u32 {
        AGGREGATE_WAIT_MS
    }

    fn waits(&self) -> String {
        format!("Linux {} waits 2000 ms, reads carriers and steps each 100 ms", self.guest().kernel())
    }

    fn renew(&mut self) -> Result<(), Failure> {
        let mut guest = self.guest();
        if self.made {
            guest.remove_bond(&self.bond);
        }
        guest.add_bond(&self.bond, &[("mode", "802.3ad"), MIIMON], &self.ports);
        drop(guest);
        self.made = true;
        Ok(())
    }

    fn distributes(&mut self) -> Result<bool, Failure> {
        Ok(self.guest().distributing(&self.ports).into_iter().all(|distributes| distributes))
    }

    fn state(&mut self) -> String {
        self.guest().proc_bonding(&self.bond).unwrap_or_else(|refusal| refusal.to_string())
    }

    fn has_own_carrier(&self) -> bool {
        true
    }

    fn plug(&mut self, port: usize, carrier: bool) -> Result<(), Failure> {
        if self.made {
            self.guest().plug(&self.ports[port], carrier);
        }
        Ok(())
    }
}
