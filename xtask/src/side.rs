//! A team in a guest: the kernel's or ours.

use std::path::{Path, PathBuf};
use std::thread;

use nicteam_oracle::protocol::Request;
use nicteam_oracle::{Clock, EmulatedImage, Guest, Missing, Refusal};

use crate::failure::Failure;
use crate::product::Product;
use crate::tools::{self, Tool};

/// Whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The kernel's bonding driver.
    Kernel,
    /// Ours, on eBPF.
    Ours,
    /// Another binary of ours, on eBPF.
    Before,
}

/// What a guest needs.
pub(crate) const TOOLS: [Tool; 1] = [("qemu-system-x86_64", "qemu-system-x86")];

/// The product, in the guest.
const NICTEAM: &str = "/bin/nicteam";
/// Name of the file of the other binary, here and in the guest.
pub(crate) const BEFORE: &str = "nicteam-before";

/// Measures in a guest that counts instructions and has the product in `/bin`, and these files: another binary of ours is named
/// [`BEFORE`].
pub(crate) fn in_guest<T: Send + 'static>(
    product: &Product,
    others: Vec<PathBuf>,
    measure: impl FnOnce(&mut Guest) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Failure> {
    let product = product.clone();
    let boot_and_measure = move || {
        let mut guest = boot(&product, &others)?;
        let measured = measure(&mut guest);
        measured.map_err(|refusal| Failure::failed(format!("the guest ({}): {refusal}", guest.kernel())))
    };
    // A guest that is lost is a panic, which has said why.
    thread::spawn(boot_and_measure).join().unwrap_or_else(|_| Err(Failure::failed("the guest is lost")))
}

fn boot(product: &Product, others: &[PathBuf]) -> Result<Guest, Failure> {
    let agent = tools::agent()?;
    let programs: Vec<&Path> = std::iter::once(&product.binary).chain(others).map(PathBuf::as_path).collect();
    let image = EmulatedImage::obtain().map_err(|missing: Missing| Failure::Missing(missing.to_string()))?;
    Guest::boot_emulated(&image, &agent, &programs, Clock::Instructions).map_err(Failure::failed)
}

impl Side {
    /// Its device.
    pub(crate) fn device(self) -> &'static str {
        match self {
            Side::Kernel => "bond0",
            Side::Ours | Side::Before => "team0",
        }
    }

    /// Makes it of these members, and sets it up.
    pub(crate) fn add(self, guest: &mut Guest, options: &[(&str, &str)], members: &[String]) -> Result<(), Refusal> {
        match self {
            Side::Kernel => add_bond(guest, options, members)?,
            Side::Ours | Side::Before => add_team(guest, &self.program(), options, members)?,
        }
        set_up(guest, self.device(), true)
    }

    /// Takes it away; its members stay.
    pub(crate) fn remove(self, guest: &mut Guest) -> Result<(), Refusal> {
        match self {
            Side::Kernel => guest.ask(&Request::Delete { name: self.device().to_owned() }).map(drop),
            Side::Ours | Side::Before => guest.run(&self.program(), &["team", "del", self.device()]).map(drop),
        }
    }

    fn program(self) -> String {
        if self == Side::Before { format!("/bin/{BEFORE}") } else { NICTEAM.to_owned() }
    }
}

/// Sets a device up or down.
pub(crate) fn set_up(guest: &mut Guest, name: &str, up: bool) -> Result<(), Refusal> {
    guest.ask(&Request::SetUp { name: name.to_owned(), up }).map(drop)
}

fn add_bond(guest: &mut Guest, options: &[(&str, &str)], members: &[String]) -> Result<(), Refusal> {
    let bond = Side::Kernel.device();
    guest.write("/sys/class/net/bonding_masters", &format!("+{bond}"))?;
    for (name, value) in options {
        guest.set_option(bond, name, value)?;
    }
    for name in members {
        set_up(guest, name, false)?;
        guest.ask(&Request::SetMaster { name: name.clone(), master: Some(bond.to_owned()) })?;
    }
    Ok(())
}

fn add_team(guest: &mut Guest, program: &str, options: &[(&str, &str)], members: &[String]) -> Result<(), Refusal> {
    let members = members.join(",");
    let options: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut arguments = vec!["team", "add", Side::Ours.device(), "--dataplane", "bpf", "--members", &members];
    arguments.extend(options.iter().flat_map(|option| ["-o", option]));
    guest.run(program, &arguments).map(drop)
}
