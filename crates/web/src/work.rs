//! Work that takes time, done by threads of its own, once for all who want the same.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The most different things that are wanted at once.
pub const MOST_WANTED: usize = 32;

/// Makes what is wanted; the threads have one each.
pub type Job<K, V> = Box<dyn FnMut(&K) -> V + Send>;

/// Threads that make values of keys, and the values that are young enough to be handed out again.
#[derive(Debug)]
pub struct Work<K, V> {
    ask: Sender<K>,
    answers: Receiver<(K, V)>,
    /// Readable when there is an answer.
    bell: UnixStream,
    fresh: Duration,
    /// None: being made.
    known: BTreeMap<K, Option<(Instant, Arc<V>)>>,
}

impl<K: Clone + Ord + Send + 'static, V: Send + 'static> Work<K, V> {
    /// Starts a thread for each job. Values younger than `fresh` are handed out again.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn start(name: &str, jobs: Vec<Job<K, V>>, fresh: Duration) -> io::Result<Work<K, V>> {
        let (ask, asked) = channel::<K>();
        let (tell, answers) = channel();
        let (bell, ring) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        let asked = Arc::new(Mutex::new(asked));
        for mut job in jobs {
            let (asked, tell, mut ring) = (asked.clone(), tell.clone(), ring.try_clone()?);
            std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                loop {
                    let next = asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    // Ends with the server: nothing is asked for any more.
                    let Ok(key) = next else { return };
                    let value = job(&key);
                    if tell.send((key, value)).is_err() || ring.write_all(&[1]).is_err() {
                        return;
                    }
                }
            })?;
        }
        Ok(Work { ask, answers, bell, fresh, known: BTreeMap::new() })
    }

    /// Readable when a value was made.
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// Takes values that were made, and forgets old ones.
    pub fn hear(&mut self) {
        let fresh = self.fresh;
        self.known.retain(|_, value| value.as_ref().is_none_or(|(at, _)| at.elapsed() < fresh));
        let _ = self.bell.read(&mut [0; 64]);
        while let Ok((key, value)) = self.answers.try_recv() {
            self.known.insert(key, Some((Instant::now(), Arc::new(value))));
        }
    }

    /// The value, if it is fresh; else it is asked for, and there is none yet.
    ///
    /// # Errors
    /// Too much is wanted already.
    pub fn get(&mut self, key: &K) -> Result<Option<Arc<V>>, Full> {
        match self.known.get(key) {
            Some(Some((at, value))) if at.elapsed() < self.fresh => return Ok(Some(value.clone())),
            Some(None) => return Ok(None),
            _ => {}
        }
        if self.known.values().filter(|value| value.is_none()).count() >= MOST_WANTED {
            return Err(Full);
        }
        if self.ask.send(key.clone()).is_ok() {
            self.known.insert(key.clone(), None);
        }
        Ok(None)
    }
}

/// Too much is wanted at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;
