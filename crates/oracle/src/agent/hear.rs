//! Hearing what devices receive while something is done.

use std::thread;
use std::time::Duration;

use nicteam_oracle::Refusal;
use nicteam_oracle::protocol::{Bytes, Request, Stray};
use nicteam_sys::packet::Batch;

use crate::inject::{open, whole};
use crate::{Agent, system};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// Every frame that came, tags among the bytes, until nothing has come for a while.
pub(crate) fn hear(
    agent: &mut Agent,
    on: &[String],
    requests: Vec<Request>,
    quiet: Duration,
) -> Result<Vec<Stray>, Refusal> {
    let sockets = on.iter().map(|name| open(agent, name)).collect::<Result<Vec<_>, _>>()?;
    let (mut heard, mut batch) = (Vec::new(), Batch::new());
    for request in requests {
        agent.answer(request)?;
    }
    // Looks that found nothing are counted, not the time: who was held up between two has more to find.
    let mut empty = Duration::ZERO;
    while empty < quiet {
        let before = heard.len();
        for (out, socket) in sockets.iter().enumerate() {
            batch.clear();
            socket.receive(&mut batch).map_err(system)?;
            heard.extend(batch.frames().map(|received| Stray { out, frame: Bytes(whole(received)) }));
        }
        empty = if heard.len() > before { Duration::ZERO } else { empty + LOOK };
        thread::sleep(LOOK);
    }
    Ok(heard)
}
