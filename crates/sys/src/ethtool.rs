//! What a driver says of its link (`SIOCETHTOOL`), in the current network namespace.

mod structures;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use crate::{Context, Result};
use structures::{
    ACTIVE, AVAILABLE, Channels, Count, DUPLEX_FULL, DUPLEX_HALF, ETH_SS_FEATURES, ETHTOOL_GCHANNELS,
    ETHTOOL_GFEATURES, ETHTOOL_GLINK, ETHTOOL_GRINGPARAM, ETHTOOL_GSSET_INFO, ETHTOOL_GSTRINGS, ETHTOOL_SCHANNELS,
    ETHTOOL_SFEATURES, ETHTOOL_SLINKSETTINGS, FEATURE_NAME, LINK_MODE_WORDS, MAX_FEATURES, NEVER_CHANGED, Names,
    PORT_OTHER, Request, Ring, SPEED_UNKNOWN, Settings, State, Value, Wish,
};

/// Speed and duplex of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSettings {
    /// Mbit/s, if known.
    pub speed_mbps: Option<u32>,
    /// True for full duplex, if known.
    pub full_duplex: Option<bool>,
}

/// How a feature of a device is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feature {
    /// It is in use.
    pub on: bool,
    /// It can be switched (`ethtool -K`).
    pub can_change: bool,
}

/// How many of something there are, and how many there may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// There are so many.
    pub is: u32,
    /// There may be so many.
    pub most: u32,
}

/// Asks drivers about their links; holds one socket, of the namespace it was opened in.
#[derive(Debug)]
pub struct Ethtool {
    socket: OwnedFd,
}

impl Ethtool {
    /// In the caller's network namespace.
    pub fn open() -> Result<Ethtool> {
        let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
            .context(|| "open a socket for ethtool".to_owned())?;
        Ok(Ethtool { socket })
    }

    /// Carrier right now (`ETHTOOL_GLINK`): true only if the device is up and has it.
    ///
    /// # Errors
    /// `ENODEV` if there is no such device, `EOPNOTSUPP` if its driver does not say.
    pub fn carrier(&self, device: &str) -> Result<bool> {
        let mut value = Value { command: ETHTOOL_GLINK, data: 0 };
        self.ask(device, &mut value).context(|| format!("ask for the carrier of {device}"))?;
        Ok(value.data != 0)
    }

    /// Speed and duplex (`ETHTOOL_GLINKSETTINGS`); unknown where the driver does not say.
    ///
    /// # Errors
    /// `ENODEV` if there is no such device.
    pub fn settings(&self, device: &str) -> Result<LinkSettings> {
        match self.raw_settings(device) {
            Ok(settings) => Ok(decode_settings(&settings)),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(LinkSettings::default()),
            Err(error) => Err(error).context(|| format!("ask for the speed of {device}")),
        }
    }

    /// Sets speed, Mbit/s, and full or half duplex (`ETHTOOL_SLINKSETTINGS`).
    ///
    /// # Errors
    /// `ENODEV` if there is no such device, `EOPNOTSUPP` if its driver does not
    /// let itself be set, `EINVAL` if it does not take these.
    pub fn set_settings(&self, device: &str, speed_mbps: u32, full_duplex: bool) -> Result<()> {
        let set = |settings: Settings| {
            let duplex = if full_duplex { DUPLEX_FULL } else { DUPLEX_HALF };
            let mut settings = Settings { command: ETHTOOL_SLINKSETTINGS, speed: speed_mbps, duplex, ..settings };
            self.ask(device, &mut settings)
        };
        let settings = self.raw_settings(device).and_then(set);
        settings.context(|| format!("set the speed of {device} to {speed_mbps} Mbit/s"))
    }

    /// Lets a device take GSO frames whole, or has the kernel segment them before (`ETHTOOL_SFEATURES`, all its
    /// `tx-...-segmentation`). The stack makes them as before.
    ///
    /// # Errors
    /// `ENODEV` if there is no such device, `EOPNOTSUPP` if the kernel has more
    /// features than fit here.
    pub fn set_segmentation(&self, device: &str, on: bool) -> Result<()> {
        let what = || format!("have device {device} take GSO frames {}", if on { "whole" } else { "in segments" });
        self.set_features(device, is_segmentation, on).context(what)
    }

    /// Has the kernel finish frames before the device sends them: no GSO frame is left, and every checksum is there
    /// (`ETHTOOL_SFEATURES`, all its `tx-checksum-...` and `tx-...-segmentation` off). For devices whose other end is
    /// read by a program that knows nothing of offloads.
    ///
    /// # Errors
    /// As [`Ethtool::set_segmentation`].
    pub fn finish_frames(&self, device: &str) -> Result<()> {
        let unfinished = |name: &str| is_segmentation(name) || name.starts_with("tx-checksum-");
        self.set_features(device, unfinished, false).context(|| format!("have device {device} finish its frames"))
    }

    /// Has a device join received packets, by a queue that one processor serves at a time (`rx-gro`, which switches on a veth's
    /// NAPI).
    ///
    /// # Errors
    /// As [`Ethtool::set_segmentation`].
    pub fn join_received(&self, device: &str) -> Result<()> {
        self.set_features(device, |name| name == "rx-gro", true).context(|| format!("switch on GRO of {device}"))
    }

    /// The offloads that a device has on by which its frames are no packets of a wire: `tx-checksum-ip-generic`,
    /// `tx-tcp-segmentation`, `tx-udp-segmentation`, `rx-gro`, `rx-lro`.
    ///
    /// # Errors
    /// As [`Ethtool::set_segmentation`].
    pub fn offloads(&self, device: &str) -> Result<Vec<String>> {
        let read = || {
            let names = self.feature_names(device)?;
            let state = self.state(device, &names)?;
            let is_active = |number: usize| state.words_of[number / 32][ACTIVE] & (1 << (number % 32)) != 0;
            let active = names.iter().enumerate().filter(|(number, name)| is_offload(name) && is_active(*number));
            Ok::<_, io::Error>(active.map(|(_, name)| name).collect())
        };
        read().context(|| format!("ask for the offloads of {device}"))
    }

    /// Every feature of a device by the kernel's name (`ethtool -k` has names of its own for some), and how it is.
    ///
    /// # Errors
    /// As [`Ethtool::set_segmentation`].
    pub fn features(&self, device: &str) -> Result<BTreeMap<String, Feature>> {
        let read = || {
            let names = self.feature_names(device)?;
            let state = self.state(device, &names)?;
            let of = |number: usize, word: usize| state.words_of[number / 32][word] & (1 << (number % 32)) != 0;
            let feature = |number| Feature {
                on: of(number, ACTIVE),
                can_change: of(number, AVAILABLE) && !of(number, NEVER_CHANGED),
            };
            Ok::<_, io::Error>(names.iter().enumerate().map(|(number, name)| (name, feature(number))).collect())
        };
        read().context(|| format!("ask for the features of {device}"))
    }

    /// True if the driver agrees speed and duplex with the other end (autonegotiation); unknown where it does not say.
    ///
    /// # Errors
    /// `ENODEV` if there is no such device.
    pub fn negotiates(&self, device: &str) -> Result<Option<bool>> {
        match self.raw_settings(device) {
            // Virtual devices say that they do not, with a port that none has.
            Ok(settings) if settings.port == PORT_OTHER => Ok(None),
            Ok(settings) => Ok(Some(settings.autoneg != 0)),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(None),
            Err(error) => Err(error).context(|| format!("ask for the negotiation of {device}")),
        }
    }

    /// Places in the queue of received frames: how many there are, and how many there may be (`ETHTOOL_GRINGPARAM`); `None`
    /// where the driver does not say.
    ///
    /// # Errors
    /// `ENODEV` if there is no such device.
    pub fn rx_ring(&self, device: &str) -> Result<Option<Room>> {
        let mut ring = Ring { command: ETHTOOL_GRINGPARAM, ..Ring::default() };
        let asked = self.ask(device, &mut ring);
        self.room(device, "ring", asked, (ring.rx_pending, ring.rx_max_pending))
    }

    /// Queues for received frames, each served by a processor: how many there are, and how many there may be
    /// (`ETHTOOL_GCHANNELS`); `None` where the driver does not say.
    ///
    /// # Errors
    /// `ENODEV` if there is no such device.
    pub fn rx_queues(&self, device: &str) -> Result<Option<Room>> {
        let mut of = Channels { command: ETHTOOL_GCHANNELS, ..Channels::default() };
        let asked = self.ask(device, &mut of);
        let pair = (of.rx_count + of.combined_count, of.max_rx.max(of.max_combined));
        self.room(device, "queues", asked, pair)
    }

    /// Has a device send by so many queues of those that it was made with (`ETHTOOL_SCHANNELS`).
    ///
    /// # Errors
    /// `ENODEV` if there is no such device, `EINVAL` if it has not so many, `EOPNOTSUPP` if its driver cannot (veth before
    /// Linux 5.13).
    pub fn set_tx_queues(&self, device: &str, count: u32) -> Result<()> {
        let set = || {
            let mut of = Channels { command: ETHTOOL_GCHANNELS, ..Channels::default() };
            self.ask(device, &mut of)?;
            if of.tx_count == count {
                return Ok(());
            }
            let mut wanted = Channels { command: ETHTOOL_SCHANNELS, tx_count: count, ..of };
            self.ask(device, &mut wanted)
        };
        set().context(|| format!("have device {device} send by {count} queues"))
    }

    fn room(&self, device: &str, what: &str, asked: io::Result<()>, (is, most): (u32, u32)) -> Result<Option<Room>> {
        match asked {
            Ok(()) => Ok((most > 0).then_some(Room { is, most })),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(None),
            Err(error) => Err(error).context(|| format!("ask for the {what} of {device}")),
        }
    }

    /// Sets every feature of these names on or off.
    fn set_features(&self, device: &str, these: impl Fn(&str) -> bool, on: bool) -> io::Result<()> {
        let names = self.feature_names(device)?;
        let mut wish =
            Wish { command: ETHTOOL_SFEATURES, words: names.count.div_ceil(32), wished: [[0; 2]; MAX_FEATURES / 32] };
        for (number, _) in names.iter().enumerate().filter(|(_, name)| these(name)) {
            let [valid, requested] = &mut wish.wished[number / 32];
            let bit = 1 << (number % 32);
            *valid |= bit;
            *requested |= if on { bit } else { 0 };
        }
        self.ask(device, &mut wish)
    }

    /// How the features are.
    fn state(&self, device: &str, names: &Names) -> io::Result<State> {
        let words = names.count.div_ceil(32);
        let mut state = State { command: ETHTOOL_GFEATURES, words, words_of: [[0; 4]; MAX_FEATURES / 32] };
        self.ask(device, &mut state)?;
        Ok(state)
    }

    /// What the kernel calls the features of its devices, by number.
    fn feature_names(&self, device: &str) -> io::Result<Box<Names>> {
        let mut info = Count { command: ETHTOOL_GSSET_INFO, zero: 0, sets: 1 << ETH_SS_FEATURES, count: 0, end: 0 };
        self.ask(device, &mut info)?;
        if info.count as usize > MAX_FEATURES {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        let mut names = Box::new(Names {
            command: ETHTOOL_GSTRINGS,
            set: ETH_SS_FEATURES,
            count: info.count,
            names: [[0; FEATURE_NAME]; MAX_FEATURES],
        });
        self.ask(device, &mut *names)?;
        Ok(names)
    }

    /// First the kernel answers how long its sets of link modes are, as a
    /// negative number; asked with that number, it answers in full (Linux 6.1
    /// net/ethtool/ioctl.c, ethtool_get_link_ksettings).
    fn raw_settings(&self, device: &str) -> io::Result<Settings> {
        let mut settings = Settings::new(0);
        self.ask(device, &mut settings)?;
        let words = settings.link_mode_masks_nwords;
        let fits = words < 0 && 3 * usize::from(words.unsigned_abs()) <= LINK_MODE_WORDS;
        if !fits {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        }
        let mut settings = Settings::new(-words);
        self.ask(device, &mut settings)?;
        Ok(settings)
    }

    /// One `SIOCETHTOOL`; `request` begins with its command.
    fn ask<T: Request>(&self, device: &str, request: &mut T) -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid ifreq.
        let mut ifreq: libc::ifreq = unsafe { std::mem::zeroed() };
        // The name is ended by a zero byte, so the last place stays free.
        if device.len() >= ifreq.ifr_name.len() {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        for (place, byte) in ifreq.ifr_name.iter_mut().zip(device.bytes()) {
            *place = byte as libc::c_char;
        }
        ifreq.ifr_ifru.ifru_data = (request as *mut T).cast();
        // SAFETY: `ifr_data` points to a structure that lives through the call
        // and is as large as the kernel writes for its command (see `Request`).
        let result = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut ifreq) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// True of a feature by which a device segments GSO frames.
fn is_segmentation(name: &str) -> bool {
    name.starts_with("tx-") && (name.ends_with("-segmentation") || name == "tx-gso-list" || name == "tx-gso-partial")
}

/// True of a feature by which frames are no packets of the wire: what the device would finish, and what it joins.
fn is_offload(name: &str) -> bool {
    name.starts_with("tx-checksum-ip")
        || ["tx-tcp-segmentation", "tx-udp-segmentation", "rx-gro", "rx-lro"].contains(&name)
}

fn decode_settings(settings: &Settings) -> LinkSettings {
    LinkSettings {
        // Drivers say 0 as well as the official "unknown" while there is no link.
        speed_mbps: Some(settings.speed).filter(|&speed| speed != 0 && speed != SPEED_UNKNOWN),
        full_duplex: match settings.duplex {
            DUPLEX_HALF => Some(false),
            DUPLEX_FULL => Some(true),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_speed_and_duplex_stay_unknown() {
        let decode = |speed, duplex| decode_settings(&Settings { speed, duplex, ..Settings::new(0) });
        assert_eq!(decode(10_000, 1), LinkSettings { speed_mbps: Some(10_000), full_duplex: Some(true) });
        assert_eq!(decode(100, 0).full_duplex, Some(false));
        assert_eq!(decode(u32::MAX, 255), LinkSettings::default());
        assert_eq!(decode(0, 255).speed_mbps, None);
    }
}
