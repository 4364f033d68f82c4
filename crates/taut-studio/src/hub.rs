//! Exchange between the simulation and the viewers.
//!
//! The simulation publishes the newest state and never waits: a slow viewer finds a newer frame in place of
//! the one it missed. No frames are queued. Requests of viewers go through a bounded queue; when it is full,
//! the viewer is notified.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc::{SyncSender, TrySendError},
};

use bytes::Bytes;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::{
    folder::Folder,
    protocol::{Answer, Parameters, Request},
};

/// Maximum number of viewers.
const MOST_VIEWERS: usize = 64;

/// The current scene: its message, and its meshes.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Sequence number of the scene.
    pub epoch: u32,
    /// The message `scene`.
    pub scene: String,
    /// Mesh messages, which follow it.
    pub meshes: Vec<Sheet>,
    /// How often the connectivity of a body has changed since it began.
    pub change: u32,
    /// Meshes of coarser levels, which follow once somebody has asked to see them.
    pub levels: Vec<Bytes>,
}

/// A mesh, ready to send.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The [change](Stage::change) that it came with: 0 for what is as it began.
    pub change: u32,
    /// The message.
    pub bytes: Bytes,
}

/// A frame, ready to send.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The sequence number of its scene.
    pub epoch: u32,
    /// The [change](Stage::change) whose meshes it has positions of.
    pub change: u32,
    /// The message.
    pub bytes: Bytes,
}

/// Playback state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether the simulation is running.
    pub playing: bool,
    /// Frame number at the last update of this state.
    pub frame: u32,
}

/// The viewers, and which of them has control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seats {
    /// Ids of viewers, in order of arrival.
    pub viewers: Vec<u32>,
    /// The viewer in control.
    pub driver: Option<u32>,
    /// Viewers that render in software.
    painters: Vec<u32>,
    next: u32,
}

/// A request to the simulation.
#[derive(Debug)]
pub enum Errand {
    /// A request of a viewer.
    Request(Request, Reply),
    /// An export of the current shape.
    Export(String, oneshot::Sender<Result<Exported, String>>),
    /// A new viewer needs the current state.
    Wake,
}

/// An exported file.
#[derive(Clone, Debug)]
pub struct Exported {
    /// File name.
    pub name: String,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// Channel for answers to one viewer. Answers that it does not take in time are dropped.
#[derive(Clone, Debug)]
pub struct Reply(pub mpsc::Sender<String>);

impl Reply {
    /// Sends an answer.
    pub fn say(&self, answer: &Answer) {
        let _ = self.0.try_send(answer.to_text());
    }
}

/// Exchange between the simulation and the viewers.
#[derive(Debug)]
pub struct Hub {
    /// `live` or `replay`.
    pub mode: &'static str,
    /// The scene folder; none for a finished run.
    pub folder: Option<Folder>,
    /// The current scene.
    pub stage: watch::Sender<Arc<Stage>>,
    /// The newest frame.
    pub frame: watch::Sender<Option<Frame>>,
    /// Current parameters.
    pub parameters: watch::Sender<Option<Arc<Parameters>>>,
    /// Playback state.
    pub status: watch::Sender<Status>,
    /// Broadcast messages.
    pub news: broadcast::Sender<String>,
    /// The viewers.
    pub seats: watch::Sender<Seats>,
    errands: SyncSender<Errand>,
    let_go: AtomicBool,
    stop: AtomicBool,
}

impl Hub {
    /// A new hub, whose requests go to `errands`.
    pub fn new(mode: &'static str, folder: Option<Folder>, errands: SyncSender<Errand>) -> Self {
        Self {
            mode,
            folder,
            stage: watch::Sender::default(),
            frame: watch::Sender::default(),
            parameters: watch::Sender::default(),
            status: watch::Sender::default(),
            news: broadcast::Sender::new(8),
            seats: watch::Sender::default(),
            errands,
            let_go: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        }
    }

    /// Sends a request to the simulation, unless its queue is full.
    pub fn ask(&self, errand: Errand) -> bool {
        !matches!(self.errands.try_send(errand), Err(TrySendError::Full(_)))
    }

    /// Broadcasts an answer to all viewers.
    pub fn say(&self, answer: &Answer) {
        // Without viewers there is no receiver, which is fine.
        let _ = self.news.send(answer.to_text());
    }

    /// Ends the simulation.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.ask(Errand::Wake);
    }

    /// Whether the simulation must end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Whether control has changed, so that all grips must be released; true only once per change.
    pub fn take_let_go(&self) -> bool {
        self.let_go.swap(false, Ordering::SeqCst)
    }

    /// Number of viewers.
    pub fn viewer_count(&self) -> usize {
        self.seats.borrow().viewers.len()
    }

    /// Whether any viewer renders in software.
    pub fn is_painting(&self) -> bool {
        !self.seats.borrow().painters.is_empty()
    }

    /// Records whether viewer `number` renders in software.
    pub fn draws(&self, number: u32, software: bool) {
        // Not broadcast.
        self.seats.send_if_modified(|seats| {
            seats.painters.retain(|&viewer| viewer != number);
            if software {
                seats.painters.push(number);
            }
            false
        });
    }

    /// Adds a viewer; the first one gets control. None if there are too many.
    pub fn sit_down(&self) -> Option<u32> {
        let mut number = None;
        self.seats.send_if_modified(|seats| {
            if seats.viewers.len() >= MOST_VIEWERS {
                return false;
            }
            seats.next += 1;
            seats.viewers.push(seats.next);
            seats.driver.get_or_insert(seats.next);
            number = Some(seats.next);
            true
        });
        self.ask(Errand::Wake);
        number
    }

    /// Removes viewer `number`. If it had control, the oldest viewer gets it.
    pub fn leave(&self, number: u32) {
        self.seats.send_modify(|seats| {
            seats.viewers.retain(|&viewer| viewer != number);
            seats.painters.retain(|&viewer| viewer != number);
            if seats.driver == Some(number) {
                seats.driver = seats.viewers.first().copied();
                self.let_go.store(true, Ordering::SeqCst);
            }
        });
        self.ask(Errand::Wake);
    }

    /// Viewer `number` takes control.
    pub fn drive(&self, number: u32) {
        self.seats.send_if_modified(|seats| {
            if seats.driver == Some(number) {
                return false;
            }
            seats.driver = Some(number);
            self.let_go.store(true, Ordering::SeqCst);
            true
        });
        self.ask(Errand::Wake);
    }
}
