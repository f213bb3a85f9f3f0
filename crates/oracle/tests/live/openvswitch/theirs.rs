//! A bond of dummy ports, whose clock stands still but for `time/warp`.

use nicteam_oracle::Unixctl;
use nicteam_testnet::{OpenVSwitch, eventually};

/// A bond `bond0` of the ports `p0`, `p1`, ..., behind the port `in`, which is OpenFlow's port 9.
pub struct Theirs<'a> {
    pub switch: &'a OpenVSwitch,
    pub commands: Unixctl,
}

impl<'a> Theirs<'a> {
    /// No bond yet.
    pub fn new(switch: &'a OpenVSwitch) -> Theirs<'a> {
        switch.vsctl("add-br br0 -- set bridge br0 datapath_type=dummy -- add-port br0 in -- set interface in type=dummy ofport_request=9");
        let mut commands = Unixctl::connect(&switch.control_socket());
        commands.run("time/stop", &[]);
        Theirs { switch, commands }
    }

    /// One of so many members, with these settings; all are enabled.
    pub fn add_bond(&mut self, members: usize, settings: &str) {
        let names: Vec<String> = (0..members).map(|place| format!("p{place}")).collect();
        let types: String = names.iter().map(|name| format!(" -- set interface {name} type=dummy")).collect();
        self.switch.vsctl(&format!("add-bond br0 bond0 {} {settings}{types}", names.join(" ")));
        self.commands.run("netdev-dummy/set-admin-state", &["up"]);
        eventually("the bond's members", || {
            self.warp(100);
            self.show().matches(": enabled").count() == members
        });
    }

    pub fn delete_bond(&mut self) {
        self.switch.vsctl("del-port br0 bond0");
    }

    /// Lets so much of its time pass.
    pub fn warp(&mut self, ms: u64) {
        self.commands.run("time/warp", &[&ms.to_string()]);
    }

    /// Lets it act on what has happened so far, at this moment of its time: its thread looks for new connections after it has
    /// looked at bonds. Twice, for what it finds at one may concern another one.
    pub fn act(&mut self) {
        for _ in 0..2 {
            Unixctl::connect(&self.switch.control_socket()).run("bond/list", &[]);
        }
    }

    pub fn show(&mut self) -> String {
        self.commands.run("bond/show", &["bond0"])
    }
}

/// The number of a member's name.
pub fn place(name: &str) -> usize {
    name.strip_prefix('p').unwrap().parse().unwrap()
}
