//! What the user has chosen, and what is shown by it.

use super::rows::{BundleRow, View, rows};
use super::units::Unit;
use crate::snapshot::Snapshot;

/// A key that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The end.
    Quit,
    /// The end of the view, and of what it shows.
    Interrupt,
    /// Stop the view, or let it go on.
    Pause,
    /// The next order.
    Sort,
    /// The next unit.
    Unit,
    /// Show what happened, or do not.
    Events,
    /// So many lines down, or up.
    Scroll(i32),
    /// To the beginning.
    Home,
}

/// Orders of bundles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// By name.
    #[default]
    Name,
    /// What sends most first.
    Sent,
    /// What receives most first.
    Received,
    /// What lost most first.
    Lost,
}

/// The state of the view.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) only: Option<String>,
    pub(super) has_colour: bool,
    pub(super) sort: Sort,
    pub(super) unit: Unit,
    pub(super) is_paused: bool,
    pub(super) has_events: bool,
    pub(super) scroll: usize,
    pub(super) view: Option<View>,
    before: Option<Snapshot>,
}

impl Sort {
    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Sort::Name => "name",
            Sort::Sent => "sent",
            Sort::Received => "received",
            Sort::Lost => "lost",
        }
    }

    fn next(self) -> Sort {
        match self {
            Sort::Name => Sort::Sent,
            Sort::Sent => Sort::Received,
            Sort::Received => Sort::Lost,
            Sort::Lost => Sort::Name,
        }
    }

    fn apply(self, bundles: &mut [BundleRow]) {
        let lost = |bundle: &BundleRow| bundle.members.iter().map(|member| member.lost).sum::<u64>();
        match self {
            Sort::Name => bundles.sort_by(|one, other| one.name.cmp(&other.name)),
            Sort::Sent => bundles.sort_by(|one, other| other.rate.tx_bps.total_cmp(&one.rate.tx_bps)),
            Sort::Received => bundles.sort_by(|one, other| other.rate.rx_bps.total_cmp(&one.rate.rx_bps)),
            Sort::Lost => bundles.sort_by_key(|bundle| std::cmp::Reverse(lost(bundle))),
        }
    }
}

impl Model {
    /// Of all bundles, or of the one of this name; with or without colours.
    pub fn new(only: Option<String>, has_colour: bool) -> Model {
        Model {
            only,
            has_colour,
            sort: Sort::default(),
            unit: Unit::default(),
            is_paused: false,
            has_events: true,
            scroll: 0,
            view: None,
            before: None,
        }
    }

    /// Takes a look at the host. A paused view stays as it is.
    pub fn see(&mut self, now: Snapshot) {
        if !self.is_paused {
            self.show(rows(self.before.as_ref(), &now, self.only.as_deref()));
        }
        self.before = Some(now);
    }

    /// Takes what is to be shown. A paused view stays as it is.
    pub fn show(&mut self, mut view: View) {
        if !self.is_paused {
            self.sort.apply(&mut view.bundles);
            self.view = Some(view);
        }
    }

    /// What is shown, if there was a look.
    pub fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// Does what a key means; false: it is the end.
    pub fn press(&mut self, key: Key) -> bool {
        match key {
            Key::Quit | Key::Interrupt => return false,
            Key::Pause => self.is_paused = !self.is_paused,
            Key::Unit => self.unit = self.unit.next(),
            Key::Events => self.has_events = !self.has_events,
            Key::Sort => {
                self.sort = self.sort.next();
                if let Some(view) = &mut self.view {
                    self.sort.apply(&mut view.bundles);
                }
            }
            // The end is where the last line is, which the drawing knows.
            Key::Scroll(by) => self.scroll = self.scroll.saturating_add_signed(by as isize),
            Key::Home => self.scroll = 0,
        }
        true
    }
}
