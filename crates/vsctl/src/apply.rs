//! What command lines do to bridges and their ports.

use super::bond::{Effect, complete, effect};
use super::error::{Error, ErrorKind};
use super::setting::Setting;
use super::switch::{Bridge, Port, Switch, at};
use super::table::Table;
use super::word::{Word, quoted};
use super::{Action, Command, CommandLine};

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Make a bridge.
    AddBridge {
        /// Its name.
        bridge: String,
    },
    /// Remove a bridge, whose ports went before.
    DeleteBridge {
        /// Its name.
        bridge: String,
    },
    /// Put a device into a bridge.
    AddPort {
        /// The bridge.
        bridge: String,
        /// The device.
        port: String,
    },
    /// Make a bond and put it into a bridge.
    AddBond {
        /// The bridge.
        bridge: String,
        /// The bond.
        port: String,
        /// Its members, two at least.
        interfaces: Vec<String>,
        /// Options of the team, by Open vSwitch's names; the mode is the first.
        options: Vec<(String, String)>,
    },
    /// Take a port out of its bridge; a bond is removed.
    DeletePort {
        /// The bridge.
        bridge: String,
        /// The port.
        port: String,
        /// True for a bond.
        is_bond: bool,
    },
    /// Take a device into a bond.
    AddInterface {
        /// The bond.
        port: String,
        /// The device.
        interface: String,
    },
    /// Let a device go from a bond.
    DeleteInterface {
        /// The bond.
        port: String,
        /// The device.
        interface: String,
    },
    /// Change options of a bond.
    SetBond {
        /// The bond.
        port: String,
        /// Options of the team.
        options: Vec<(String, String)>,
    },
    /// Change the MTU of a device; of a bond's, that of its interfaces, too.
    SetMtu {
        /// The device.
        device: String,
        /// Bytes.
        mtu: u32,
    },
}

/// Something that is done as asked and probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// What.
    pub text: String,
    /// What to do instead.
    pub hint: Option<String>,
}

/// What a line does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// What each command prints: lines, each with its end.
    pub output: Vec<String>,
    /// What is to be done, in this order.
    pub steps: Vec<Step>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// The switch afterwards.
    pub switch: Switch,
    /// `br-exists` found no such bridge: nothing else is done or printed, and the exit code is 2.
    pub is_missing: bool,
}

impl Switch {
    /// What a line does to this switch, which is as it was afterwards.
    ///
    /// # Errors
    /// The first command that cannot be done; then nothing is to be done.
    pub fn apply(&self, line: &CommandLine) -> Result<Done, Error> {
        let mut run = Run { switch: self.clone(), done: Done::default() };
        for command in &line.commands {
            if let Action::BridgeExists { name } = &command.action
                && !run.switch.bridges.contains_key(&name.text)
            {
                return Ok(Done { is_missing: true, switch: self.clone(), ..Done::default() });
            }
            let output = run.command(command)?;
            run.done.output.push(output);
        }
        for step in &mut run.done.steps {
            if let Step::AddBond { options, .. } = step {
                complete(options);
            }
        }
        Ok(Done { switch: run.switch, ..run.done })
    }
}

/// A line that is being carried out, in thought.
struct Run {
    switch: Switch,
    done: Done,
}

impl Run {
    fn command(&mut self, command: &Command) -> Result<String, Error> {
        match &command.action {
            Action::Init => {}
            Action::Show => return Ok(self.switch.shown()),
            Action::AddBridge { name, may_exist } => self.add_bridge(name, *may_exist)?,
            Action::DeleteBridge { name, if_exists } => self.delete_bridge(name, *if_exists)?,
            Action::ListBridges => return Ok(lines(self.switch.bridges.keys())),
            Action::BridgeExists { .. } => {}
            Action::ListPorts { bridge } => return Ok(lines(self.switch.bridge(bridge)?.ports.keys())),
            Action::ListInterfaces { bridge } => {
                let ports = self.switch.bridge(bridge)?.ports.values();
                let mut names: Vec<&String> = ports.flat_map(|port| &port.interfaces).collect();
                names.sort();
                return Ok(lines(names.into_iter()));
            }
            Action::PortToBridge { port } => {
                let missing = || at(port, ErrorKind::NoPort(port.text.clone()));
                return Ok(format!("{}\n", self.switch.port(&port.text).ok_or_else(missing)?.0));
            }
            Action::InterfaceToBridge { interface } => {
                let missing = || at(interface, ErrorKind::NoInterface(interface.text.clone()));
                return Ok(format!("{}\n", self.switch.interface(&interface.text).ok_or_else(missing)?.0));
            }
            Action::AddPort { bridge, port, settings, may_exist } => {
                if !(*may_exist && self.is_there(command, bridge, port, std::slice::from_ref(port))?) {
                    self.add_port(bridge, port, settings)?;
                }
            }
            Action::AddBond { bridge, port, interfaces, settings, may_exist } => {
                if !(*may_exist && self.is_there(command, bridge, port, interfaces)?) {
                    self.add_bond(bridge, port, interfaces, settings)?;
                }
            }
            Action::DeletePort { bridge, port, if_exists, with_interface } => {
                self.delete_port(bridge.as_ref(), port, *if_exists, *with_interface)?;
            }
            Action::AddInterface { port, interface, may_exist } => self.add_interface(port, interface, *may_exist)?,
            Action::DeleteInterface { port, interface, if_exists } => {
                self.delete_interface(port.as_ref(), interface, *if_exists)?;
            }
            Action::Set { table, record, settings, if_exists } => self.set(*table, record, settings, *if_exists)?,
        }
        Ok(String::new())
    }

    fn add_bridge(&mut self, name: &Word, may_exist: bool) -> Result<(), Error> {
        if may_exist && self.switch.bridges.contains_key(&name.text) {
            return Ok(());
        }
        self.switch.free(name, "a bridge")?;
        self.switch.bridges.insert(name.text.clone(), Bridge::default());
        self.done.steps.push(Step::AddBridge { bridge: name.text.clone() });
        Ok(())
    }

    fn delete_bridge(&mut self, name: &Word, if_exists: bool) -> Result<(), Error> {
        if let Err(error) = self.switch.bridge(name) {
            return if if_exists { Ok(()) } else { Err(error) };
        }
        let bridge = name.text.clone();
        for (port, of) in self.switch.bridges.remove(&bridge).unwrap_or_default().ports {
            self.done.steps.push(Step::DeletePort { bridge: bridge.clone(), port, is_bond: of.is_bond });
        }
        self.done.steps.push(Step::DeleteBridge { bridge });
        Ok(())
    }

    /// True for a port that is there already, with these interfaces.
    fn is_there(&self, command: &Command, bridge: &Word, port: &Word, interfaces: &[Word]) -> Result<bool, Error> {
        let Some((actual, of)) = self.switch.port(&port.text) else { return Ok(false) };
        let words = command.action.words();
        let line = words.iter().filter(|word| *word != "--may-exist").cloned().collect::<Vec<_>>().join(" ");
        let (name, mut have) = (port.text.clone(), of.interfaces.clone());
        if actual != bridge.text {
            let kind = ErrorKind::OnOtherBridge { line, port: name, bridge: actual.to_owned() };
            return Err(at(bridge, kind));
        }
        let mut wanted: Vec<&String> = interfaces.iter().map(|interface| &interface.text).collect();
        wanted.sort();
        have.sort();
        if have.iter().ne(wanted) {
            return Err(at(port, ErrorKind::OtherInterfaces { line, port: name, interfaces: have }));
        }
        Ok(true)
    }

    fn add_port(&mut self, bridge: &Word, port: &Word, settings: &[Setting]) -> Result<(), Error> {
        self.switch.free(port, "a port")?;
        self.switch.bridge(bridge)?;
        self.insert(bridge, port, Port { interfaces: vec![port.text.clone()], is_bond: false });
        let (bridge, name) = (bridge.text.clone(), port.text.clone());
        self.done.steps.push(Step::AddPort { bridge, port: name });
        self.set(Table::Port, port, settings, false)
    }

    fn add_bond(&mut self, bridge: &Word, port: &Word, interfaces: &[Word], settings: &[Setting]) -> Result<(), Error> {
        self.switch.free(port, "a port")?;
        interfaces.iter().try_for_each(|interface| self.switch.free(interface, "an interface"))?;
        self.switch.bridge(bridge)?;
        let interfaces: Vec<String> = interfaces.iter().map(|interface| interface.text.clone()).collect();
        self.insert(bridge, port, Port { interfaces: interfaces.clone(), is_bond: true });
        let options = vec![("mode".to_owned(), "ovs-active-backup".to_owned())];
        let (bridge, name) = (bridge.text.clone(), port.text.clone());
        self.done.steps.push(Step::AddBond { bridge, port: name, interfaces, options });
        self.set(Table::Port, port, settings, false)
    }

    fn insert(&mut self, bridge: &Word, name: &Word, port: Port) {
        if let Some(bridge) = self.switch.bridges.get_mut(&bridge.text) {
            bridge.ports.insert(name.text.clone(), port);
        }
    }

    fn delete_port(
        &mut self,
        on: Option<&Word>,
        name: &Word,
        if_exists: bool,
        with_interface: bool,
    ) -> Result<(), Error> {
        let of_interface = || self.switch.interface(&name.text).filter(|_| with_interface);
        let port = self.switch.port(&name.text).map(|(bridge, _)| (bridge, name.text.as_str())).or_else(of_interface);
        let Some((bridge, port)) = port else {
            let text = name.text.clone();
            return match self.switch.bridges.contains_key(&text) {
                _ if if_exists => Ok(()),
                true => Err(at(name, ErrorKind::LocalPort(text))),
                false if with_interface => Err(at(name, ErrorKind::NoPortOrInterface(text))),
                false => Err(at(name, ErrorKind::NoPort(text))),
            };
        };
        let (bridge, port) = (bridge.to_owned(), port.to_owned());
        if let Some(on) = on {
            self.switch.bridge(on)?;
            if on.text != bridge {
                let kind = ErrorKind::NotOnBridge { bridge: on.text.clone(), port: name.text.clone() };
                return Err(at(on, kind));
            }
        }
        let removed = self.switch.bridges.get_mut(&bridge).and_then(|of| of.ports.remove(&port));
        let is_bond = removed.is_some_and(|removed| removed.is_bond);
        self.done.steps.push(Step::DeletePort { bridge, port, is_bond });
        Ok(())
    }

    fn add_interface(&mut self, port: &Word, interface: &Word, may_exist: bool) -> Result<(), Error> {
        let Some((bridge, of)) = self.switch.port(&port.text) else {
            return Err(at(port, ErrorKind::NoPort(port.text.clone())));
        };
        if may_exist && of.interfaces.contains(&interface.text) {
            return Ok(());
        }
        self.switch.free(interface, "an interface")?;
        if !of.is_bond {
            return Err(at(port, ErrorKind::NoBond(port.text.clone())));
        }
        let bridge = bridge.to_owned();
        if let Some(of) = self.port_mut(&bridge, &port.text) {
            of.interfaces.push(interface.text.clone());
        }
        let step = Step::AddInterface { port: port.text.clone(), interface: interface.text.clone() };
        self.done.steps.push(step);
        Ok(())
    }

    fn delete_interface(&mut self, port: Option<&Word>, interface: &Word, if_exists: bool) -> Result<(), Error> {
        let Some((bridge, actual)) = self.switch.interface(&interface.text) else {
            let missing = at(interface, ErrorKind::NoInterface(interface.text.clone()));
            return if if_exists { Ok(()) } else { Err(missing) };
        };
        let (bridge, actual) = (bridge.to_owned(), actual.to_owned());
        if let Some(port) = port.filter(|port| port.text != actual) {
            let kind = match self.switch.port(&port.text) {
                Some(_) => ErrorKind::NotOnPort { port: port.text.clone(), interface: interface.text.clone() },
                None => ErrorKind::NoPort(port.text.clone()),
            };
            return Err(at(port, kind));
        }
        let Some(of) = self.port_mut(&bridge, &actual) else { return Ok(()) };
        if of.interfaces.len() < 2 {
            return Err(at(interface, ErrorKind::LastInterface(actual)));
        }
        of.interfaces.retain(|kept| *kept != interface.text);
        self.done.steps.push(Step::DeleteInterface { port: actual, interface: interface.text.clone() });
        Ok(())
    }

    fn port_mut(&mut self, bridge: &str, port: &str) -> Option<&mut Port> {
        self.switch.bridges.get_mut(bridge)?.ports.get_mut(port)
    }

    fn set(&mut self, table: Table, record: &Word, settings: &[Setting], if_exists: bool) -> Result<(), Error> {
        let name = &record.text;
        let is_local = self.switch.bridges.contains_key(name);
        let is_there = match table {
            Table::Bridge => is_local,
            Table::Port => is_local || self.switch.port(name).is_some(),
            Table::Interface => is_local || self.switch.interface(name).is_some(),
        };
        if !is_there {
            let missing = at(record, ErrorKind::NoRow { record: name.clone(), table });
            return if if_exists { Ok(()) } else { Err(missing) };
        }
        let mut options: Vec<(String, String)> = Vec::new();
        for setting in settings {
            match effect(table, setting)? {
                Effect::Nothing => {}
                Effect::Ignored(why) => self.warn(format!("{} has no effect: {why}", setting.text()), None),
                Effect::Options(more) => extend(&mut options, more),
                Effect::Mtu(mtu) => self.set_mtu(name, mtu),
            }
        }
        if !options.is_empty() {
            self.set_bond(name, options, settings);
        }
        Ok(())
    }

    /// Of an interface, or of all interfaces of its bond.
    fn set_mtu(&mut self, name: &str, mtu: u32) {
        let bond = self.switch.interface(name).map(|(_, port)| port.to_owned()).filter(|port| port != name);
        if let Some(port) = &bond {
            self.warn(format!("the interfaces of bond {port} have one MTU: all get {mtu}"), None);
        }
        self.done.steps.push(Step::SetMtu { device: bond.unwrap_or_else(|| name.to_owned()), mtu });
    }

    fn set_bond(&mut self, name: &str, options: Vec<(String, String)>, settings: &[Setting]) {
        let Some((_, port)) = self.switch.port(name) else { return self.warn_of_local_port(name, settings) };
        if !port.is_bond {
            let text = format!("port {name} is one interface and no bond: the settings of a bond have no effect there");
            return self.warn(text, None);
        }
        let found = self.done.steps.iter_mut().rev().find_map(|step| match step {
            Step::AddBond { port, options, .. } | Step::SetBond { port, options } if port == name => Some(options),
            _ => None,
        });
        match found {
            Some(earlier) => extend(earlier, options),
            None => self.done.steps.push(Step::SetBond { port: name.to_owned(), options }),
        }
    }

    /// A bond's settings on the bridge's own port: the real one takes them in silence.
    fn warn_of_local_port(&mut self, name: &str, settings: &[Setting]) {
        let words: Vec<String> = settings.iter().map(|setting| quoted(&setting.text())).collect();
        let ports = self.switch.bridges.get(name).map(|bridge| &bridge.ports);
        let bonds: Vec<&String> =
            ports.into_iter().flatten().filter(|(_, port)| port.is_bond).map(|(bond, _)| bond).collect();
        let right = |bond: &&String| format!("`nicteam ovs vsctl set port {} {}`", quoted(bond), words.join(" "));
        let (which, hint) = match bonds.as_slice() {
            [] => (String::from("it has no bond"), None),
            [bond] => (format!("its bond is {bond}"), Some(right(bond))),
            [first, ..] => {
                let names: Vec<&str> = bonds.iter().map(|bond| bond.as_str()).collect();
                (format!("its bonds are {}", names.join(", ")), Some(right(first)))
            }
        };
        let text =
            format!("{name} is the local port of bridge {name}, where the settings of a bond have no effect; {which}");
        self.warn(text, hint);
    }

    fn warn(&mut self, text: String, hint: Option<String>) {
        self.done.warnings.push(Warning { text, hint });
    }
}

/// Adds options; of two values the later counts.
fn extend(options: &mut Vec<(String, String)>, more: Vec<(String, String)>) {
    for (name, value) in more {
        match options.iter_mut().find(|(known, _)| *known == name) {
            Some((_, earlier)) => *earlier = value,
            // What others depend on is first.
            None if name == "mode" => options.insert(0, (name, value)),
            None => options.push((name, value)),
        }
    }
}

fn lines<'a>(names: impl Iterator<Item = &'a String>) -> String {
    names.fold(String::new(), |text, name| text + name + "\n")
}
