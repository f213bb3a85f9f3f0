//! Commands that configurations run and whose meaning is a team's: `ip route add`, `route add` (net-tools),
//! `ip address add`, `ip link`, `ifenslave`, `modprobe bonding`, `echo 100 > /sys/class/net/bond0/bonding/miimon`.

use std::net::IpAddr;

use nicteam_diagnostics::Problem;
use nicteam_drafts::RouteWords;
use nicteam_drafts::{Address, Route};
use nicteam_syntax::shell::{self, Word};

use crate::iproute2::{self, Ip, abbreviated, address, link, link::Verb, other};
use crate::{ifconfig, net_tools};

/// What is wrong, and what to do about it.
type Wrong = (String, String);

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Adds a route.
    AddRoute(RouteWords),
    /// Adds a route that `ip` knows and no team has (`blackhole`, `nexthop`, a table by its name): why, and what to do.
    OtherRoute(Wrong),
    /// Removes one: the undo of another line.
    DeleteRoute,
    /// The same of an address.
    DeleteAddress,
    /// Adds an address.
    AddAddress {
        /// The address.
        address: Address,
        /// The device that it is given to, if one is named.
        device: Option<String>,
        /// Words that an address of a team has no place for: `label bond0:1`.
        ignored: Vec<String>,
    },
    /// Gives a device what `ifconfig` can.
    Configure(Box<Configure>),
    /// Puts devices into a bond.
    Enslave {
        /// The bond.
        bond: String,
        /// The devices.
        members: Vec<String>,
    },
    /// Makes a bond with these options, or gives them to one that is there.
    Bond {
        /// The bond.
        bond: String,
        /// Options by the kernel's names, one that is a list with the sign that sysfs has.
        options: Vec<(String, String)>,
        /// It makes it.
        is_new: bool,
    },
    /// Puts a device under a master, which may be a bond or a bridge.
    Join {
        /// The master.
        master: String,
        /// The device.
        device: String,
    },
    /// Sets a device up or down, which a team does by itself.
    SetUp(String),
    /// Takes members out of a bond, this device away, or the driver: the undo of another line.
    Undo(Option<String>),
    /// Loads the driver with these options.
    Module(Vec<(String, String)>),
}

/// What `ifconfig` gives a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configure {
    /// The device; `bond0:1` is an alias of `bond0`.
    pub device: String,
    /// An address.
    pub address: Option<Address>,
    /// A MAC address, as it stands there.
    pub mac: Option<String>,
    /// An MTU, as it stands there.
    pub mtu: Option<String>,
    /// What is not taken over, or only so, as sentences.
    pub notes: Vec<String>,
}

/// What a line of a shell does.
#[derive(Clone, Debug)]
pub struct Line {
    /// The commands of it that are these, and certainly carried out; one that makes no sense is an error: what, and what
    /// to do.
    pub commands: Vec<Result<Command, Wrong>>,
    /// Those that are carried out under a condition.
    pub conditional: Vec<Command>,
    /// It does nothing else than `commands`.
    pub is_whole: bool,
}

impl Line {
    /// Those that are certainly carried out and make sense.
    pub fn sound(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter_map(|command| command.as_ref().ok())
    }

    /// Its one command, if that is all.
    pub fn one(self) -> Option<Result<Command, Wrong>> {
        let Line { mut commands, is_whole, .. } = self;
        commands.pop().filter(|_| is_whole && commands.is_empty())
    }
}

/// What a line of a shell does. `device` stands for `$IFACE`.
pub fn read(line: &str, device: &str) -> Line {
    let commands = shell::line(line, &[("IFACE", device)]);
    let mut read = Line { commands: Vec::new(), conditional: Vec::new(), is_whole: commands.is_ok() };
    for command in commands.unwrap_or_default() {
        // `|| true`: it may fail.
        if matches!(command.name(), "true" | ":") {
            continue;
        }
        match of(&command).filter(|_| command.input.is_empty()) {
            Some(does) if !command.is_conditional => read.commands.push(does),
            does => {
                read.is_whole = false;
                read.conditional.extend(does.and_then(Result::ok));
            }
        }
    }
    read.is_whole &= !read.commands.is_empty();
    read
}

/// What a command does; `None` if it is something else.
///
/// # Errors
/// Something in it makes no sense: what, and what to do.
pub fn of(command: &shell::Command) -> Option<Result<Command, Wrong>> {
    if command.unknown().is_some() {
        return None;
    }
    let words: Vec<&str> = command.arguments().iter().map(|word| word.text.as_str()).collect();
    if matches!(command.name(), "echo" | "printf") {
        return write(command);
    }
    // Its output is wanted for something.
    if command.output.as_ref().is_some_and(|file| file.text != "/dev/null") {
        return None;
    }
    match command.name() {
        "ip" => ip(command.arguments()),
        "route" => route(&words),
        "ifenslave" => enslave(&words),
        "modprobe" => module(&words),
        "rmmod" if words.contains(&"bonding") => Some(Ok(Command::Undo(None))),
        "ifconfig" => configure(command.arguments()),
        _ => None,
    }
}

fn ip(arguments: &[Word]) -> Option<Result<Command, Wrong>> {
    let Ip::Here { words, family } = iproute2::ip(arguments) else { return None };
    let (object, words) = words.split_first()?;
    let (verb, rest) = words.split_first()?;
    match iproute2::object(object)? {
        "route" => match abbreviated(&verb.text, address::ROUTE)? {
            "add" | "change" | "chg" | "replace" | "prepend" | "append" => {
                let words: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
                Some(add_route(&words, family == Some(6)))
            }
            "delete" => Some(Ok(Command::DeleteRoute)),
            _ => None,
        },
        "address" => match abbreviated(&verb.text, address::ADDRESS)? {
            "add" | "change" | "chg" | "replace" => add_address(rest),
            "delete" => Some(Ok(Command::DeleteAddress)),
            _ => None,
        },
        "link" => ip_link(words),
        _ => None,
    }
}

/// `ip link add bond0 type bond mode 4`, `ip link set eth0 master bond0`, `ip link set bond0 up`.
fn ip_link(words: &[Word]) -> Option<Result<Command, Wrong>> {
    let (verb, said) = link::parse(words).ok()??;
    let device = said.device?.text.clone();
    let says_more = said.link.or(said.renamed).or(said.mtu).or(said.address).is_some() || !said.others.is_empty();
    match (verb, said.master, said.kind) {
        (Verb::Delete, ..) => Some(Ok(Command::Undo(Some(device)))),
        _ if says_more => None,
        (Verb::Add, None, Some(kind)) if kind.text == "bond" => Some(bond(device, &said, true)),
        (Verb::Set, None, Some(kind)) if kind.text == "bond" && !said.is_freed => Some(bond(device, &said, false)),
        (Verb::Set, Some(master), None) => Some(Ok(Command::Join { master: master.text.clone(), device })),
        (Verb::Set, None, None) if said.is_freed => Some(Ok(Command::Undo(Some(device)))),
        (Verb::Set, None, None) => Some(Ok(Command::SetUp(device))),
        _ => None,
    }
}

fn bond(bond: String, said: &link::Said<'_>, is_new: bool) -> Result<Command, Wrong> {
    let owned = |(name, value): (&str, &Word)| (name.to_owned(), value.text.clone());
    let options: Result<_, Problem> = link::bond_options(said.of_kind).map(|of| of.map(owned)).collect();
    options.map(|options| Command::Bond { bond, options, is_new }).map_err(wrong)
}

/// `echo 100 > /sys/class/net/bond0/bonding/miimon`, `echo +eth1 > /sys/class/net/bond0/bonding/slaves`.
fn write(command: &shell::Command) -> Option<Result<Command, Wrong>> {
    let other::Written { file, values } = other::written(command)?;
    let value = values.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    Some(Ok(match (file, value.strip_prefix('+'), value.strip_prefix('-')) {
        (other::File::Masters, Some(bond), _) => {
            Command::Bond { bond: bond.to_owned(), options: Vec::new(), is_new: true }
        }
        (other::File::Masters, None, Some(bond)) => Command::Undo(Some(bond.to_owned())),
        (other::File::Slaves { bond }, Some(device), _) => {
            Command::Join { master: bond.to_owned(), device: device.to_owned() }
        }
        (other::File::Slaves { .. }, None, Some(device)) => Command::Undo(Some(device.to_owned())),
        (other::File::Option { bond, option }, ..) => {
            Command::Bond { bond: bond.to_owned(), options: vec![(option.to_owned(), value)], is_new: false }
        }
        _ => return None,
    }))
}

fn wrong(problem: Problem) -> Wrong {
    (problem.message, problem.hint.unwrap_or_default())
}

fn add_route(words: &[&str], is_v6: bool) -> Result<Command, Wrong> {
    let mut read = match Route::parse(&words.join(" ")) {
        Ok(read) => read,
        Err(error) if error.is_unsupported() => return Ok(Command::OtherRoute((error.to_string(), error.hint()))),
        Err(error) => return Err((error.to_string(), error.hint())),
    };
    if is_v6 && read.route.to.prefix == 0 && read.route.via.is_none() {
        read.route.to = Address::any_like(IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED));
    }
    Ok(Command::AddRoute(read))
}

/// `ip address add 10.0.0.2/24 dev bond0`.
fn add_address(words: &[Word]) -> Option<Result<Command, Wrong>> {
    let said = address::said(words).ok()?;
    let address = address::of_ip(&said.local?.text);
    let device = said.device.map(|device| device.text.clone());
    let add = |address| Command::AddAddress { address, device, ignored: said.others };
    Some(address.map(add).map_err(|error| (error.to_string(), error.hint())))
}

/// `ifconfig bond0 10.0.0.2 netmask 255.255.255.0 up`.
fn configure(arguments: &[Word]) -> Option<Result<Command, Wrong>> {
    let (device, words) = arguments.split_first()?;
    let device = device.text.clone();
    if ifconfig::only_sets_up(words) {
        return Some(Ok(Command::SetUp(device)));
    }
    let said = match ifconfig::said(words) {
        Ok(said) if said.removes => return Some(Ok(Command::DeleteAddress)),
        Ok(said) => said,
        Err(problem) => return Some(Err(wrong(problem))),
    };
    let text = |word: &Word| word.text.clone();
    let of_class =
        said.address.filter(|(_, is_of_class)| *is_of_class).map(|(address, _)| ifconfig::of_class(&address));
    let others = said.others.iter().map(|(_, why)| (*why).to_owned());
    Some(Ok(Command::Configure(Box::new(Configure {
        device,
        address: said.address.map(|(address, _)| address),
        mac: said.mac.map(text),
        mtu: said.mtu.map(text),
        notes: others.chain(of_class).collect(),
    }))))
}

/// `route add -net 10.9.0.0 netmask 255.255.0.0 gw 10.0.0.9`.
fn route(arguments: &[&str]) -> Option<Result<Command, Wrong>> {
    Some(match net_tools::route(arguments)? {
        Ok(net_tools::Said::Adds(words)) => add_route(&words.iter().map(String::as_str).collect::<Vec<_>>(), false),
        Ok(net_tools::Said::Removes) => Ok(Command::DeleteRoute),
        Err(wrong) => Err(wrong),
    })
}

/// `ifenslave bond0 eth0 eth1`: without options that do something else.
fn enslave(arguments: &[&str]) -> Option<Result<Command, Wrong>> {
    let harmless = |word: &&&str| matches!(**word, "-f" | "--force" | "-v" | "--verbose");
    let mut words = arguments.iter().filter(|word| !harmless(word)).copied();
    let first = words.next()?;
    if matches!(first, "-d" | "--detach") {
        return Some(Ok(Command::Undo(None)));
    }
    let bond = Some(first).filter(|word| !word.starts_with('-'))?.to_owned();
    let members: Vec<String> = words.map(str::to_owned).collect();
    let is_sound = !members.is_empty() && members.iter().all(|member| !member.starts_with('-'));
    is_sound.then_some(Ok(Command::Enslave { bond, members }))
}

/// `modprobe bonding mode=4 miimon=100`.
fn module(arguments: &[&str]) -> Option<Result<Command, Wrong>> {
    let mut words = arguments.iter().filter(|word| !word.starts_with('-')).copied();
    if words.next()? != "bonding" {
        return None;
    }
    if arguments.iter().any(|word| matches!(*word, "-r" | "--remove")) {
        return Some(Ok(Command::Undo(None)));
    }
    let options = words.map(|word| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())));
    Some(Ok(Command::Module(options.collect::<Option<_>>()?)))
}
