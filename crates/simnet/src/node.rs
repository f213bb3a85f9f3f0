//! What has ports.

use std::sync::Arc;

use nicteam_team::Time;

/// A frame, from the destination address on, no check sequence.
pub type Bytes = Arc<[u8]>;

/// A port of a node: which node, which of its ports.
pub type Port = (usize, usize);

/// A device with ports. Whatever it does follows from what it is told, and when.
///
/// After each call of a `handle_` function the world takes the frames that the
/// node sends, and asks when it wants to be called again.
pub trait Node {
    /// A port receives a frame.
    fn handle_frame(&mut self, port: usize, frame: &Bytes, now: Time);

    /// The link at a port has carrier from now on, or has it no more.
    fn handle_carrier(&mut self, _port: usize, _carrier: bool, _now: Time) {}

    /// The time that [`Node::poll_timeout`] said has come.
    fn handle_timeout(&mut self, _now: Time) {}

    /// When the node wants to be called next.
    fn poll_timeout(&self) -> Option<Time> {
        None
    }

    /// The next frame that the node sends, and the port it leaves by.
    fn poll_transmit(&mut self) -> Option<(usize, Bytes)>;
}

/// A node that is one of several kinds: what an enum of nodes has to say to be a node itself.
pub trait OneOf {
    /// The node that it is.
    fn one(&self) -> &dyn Node;

    /// The same, to be changed.
    fn one_mut(&mut self) -> &mut dyn Node;
}

impl<T: OneOf> Node for T {
    fn handle_frame(&mut self, port: usize, frame: &Bytes, now: Time) {
        self.one_mut().handle_frame(port, frame, now);
    }

    fn handle_carrier(&mut self, port: usize, carrier: bool, now: Time) {
        self.one_mut().handle_carrier(port, carrier, now);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.one_mut().handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.one().poll_timeout()
    }

    fn poll_transmit(&mut self) -> Option<(usize, Bytes)> {
        self.one_mut().poll_transmit()
    }
}
