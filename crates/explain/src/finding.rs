//! What a rule finds.

use serde::Serialize;

/// Something that limits a bundle, is wrong, or is worth knowing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// Its kind, by the names of the lab's findings where they have one.
    pub cause: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// Where it is.
    pub side: Side,
    /// The member, if it is about one.
    pub member: Option<String>,
    /// What it is, in sentences.
    pub sentence: String,
    /// By what that is known.
    pub evidence: Vec<String>,
    /// How sure that is.
    pub sure: Sure,
    /// What to change.
    pub changes: Vec<Change>,
    /// What the change would give.
    pub gain: Option<String>,
}

/// How much a finding matters, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It limits the traffic now: a link is full because of it.
    Limit,
    /// It is wrong, though it limits nothing now.
    Fault,
    /// It is as it is meant, or does no harm.
    Notice,
}

/// Where the cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// This host.
    Host,
    /// A link: cable, transceiver, or either of its ports.
    Link,
    /// What is at the other end of the links: a switch, or a host.
    Switch,
    /// Another host of the network.
    OtherHost,
    /// Nowhere: nothing is wrong.
    Nowhere,
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sure {
    /// It was read, or chance does it in less than one of a thousand cases.
    Certain,
    /// Chance does it in less than one of twenty cases, or another cause is thinkable.
    Likely,
    /// One of several causes.
    Possible,
}

/// A change, and where it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Where.
    pub place: Place,
    /// What.
    pub text: String,
    /// The commands for it, if they are known.
    pub commands: Vec<String>,
    /// At a switch: the hash that it is to use, by the name of a policy of this program.
    pub hash: Option<String>,
}

/// Where a change is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// On this host.
    Here,
    /// At the other end of the links.
    Switch,
    /// On another host.
    OtherHost,
    /// At a cable or a port.
    Link,
}

impl Finding {
    /// One that has been read, without evidence and changes.
    pub(crate) fn new(cause: &'static str, weight: Weight, side: Side, sentence: String) -> Finding {
        Finding {
            cause,
            weight,
            side,
            member: None,
            sentence,
            evidence: Vec::new(),
            sure: Sure::Certain,
            changes: Vec::new(),
            gain: None,
        }
    }

    pub(crate) fn of(self, member: &str) -> Finding {
        Finding { member: Some(member.to_owned()), ..self }
    }

    pub(crate) fn by(mut self, evidence: String) -> Finding {
        self.evidence.push(evidence);
        self
    }

    pub(crate) fn change(mut self, change: Change) -> Finding {
        self.changes.push(change);
        self
    }
}

impl Change {
    pub(crate) fn here(text: impl Into<String>, commands: Vec<String>) -> Change {
        Change { place: Place::Here, text: text.into(), commands, hash: None }
    }

    pub(crate) fn at(place: Place, text: impl Into<String>) -> Change {
        Change { place, text: text.into(), commands: Vec::new(), hash: None }
    }
}

impl Side {
    /// For people.
    pub const fn title(self) -> &'static str {
        match self {
            Side::Host => "this host",
            Side::Link => "the link",
            Side::Switch => "the other end of the links",
            Side::OtherHost => "another host",
            Side::Nowhere => "nowhere",
        }
    }
}

impl Sure {
    /// For people.
    pub const fn title(self) -> &'static str {
        match self {
            Sure::Certain => "certain",
            Sure::Likely => "likely",
            Sure::Possible => "possible",
        }
    }

    /// By how often chance does the same; none: too often to say anything.
    pub(crate) fn by_chance(chance: f64) -> Option<Sure> {
        match chance {
            chance if chance < 0.001 => Some(Sure::Certain),
            chance if chance < 0.05 => Some(Sure::Likely),
            _ => None,
        }
    }
}
