//! Hearing what devices receive while something is done.

use std::thread;
use std::time::{Duration, Instant};

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
    let mut last = Instant::now();
    while last.elapsed() < quiet {
        for (out, socket) in sockets.iter().enumerate() {
            batch.clear();
            socket.receive(&mut batch).map_err(system)?;
            let before = heard.len();
            heard.extend(batch.frames().map(|received| Stray { out, frame: Bytes(whole(received)) }));
            if heard.len() > before {
                last = Instant::now();
            }
        }
        thread::sleep(LOOK);
    }
    Ok(heard)
}
