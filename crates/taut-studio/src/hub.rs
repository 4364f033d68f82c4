//! Where the simulation and the viewers meet.
//!
//! The simulation publishes the newest of everything and waits for nobody: whoever comes too late finds a
//! newer frame in the place of the one that was missed. Nothing queues up, whatever viewers do. What viewers
//! ask for goes the other way through a queue with an end; when it is full, they are told.

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

/// Most viewers at once.
const MOST_VIEWERS: usize = 64;

/// The scene that is shown: its message, and its meshes.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Counts scenes.
    pub epoch: u32,
    /// The message `scene`.
    pub scene: String,
    /// Messages with meshes, which follow it.
    pub meshes: Vec<Bytes>,
}

/// A frame, ready to be sent.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The scene that it belongs to.
    pub epoch: u32,
    /// The message.
    pub bytes: Bytes,
}

/// Whether it runs, and where it is while it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Whether it runs.
    pub playing: bool,
    /// Number of the frame when this was last said.
    pub frame: u32,
}

/// Who looks on, and who drives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seats {
    /// Numbers of viewers, in the order in which they came.
    pub viewers: Vec<u32>,
    /// The one that drives.
    pub driver: Option<u32>,
    /// Those that draw on the processor.
    painters: Vec<u32>,
    next: u32,
}

/// What the simulation is asked to do.
#[derive(Debug)]
pub enum Errand {
    /// A viewer asks for something.
    Request(Request, Reply),
    /// What is shown is wanted as a file.
    Export(String, oneshot::Sender<Result<Exported, String>>),
    /// There is something new to look at.
    Wake,
}

/// A file to be kept.
#[derive(Clone, Debug)]
pub struct Exported {
    /// What it is called.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Where answers to one viewer go. What it does not take in time is lost.
#[derive(Clone, Debug)]
pub struct Reply(pub mpsc::Sender<String>);

impl Reply {
    /// Answers.
    pub fn say(&self, answer: &Answer) {
        let _ = self.0.try_send(answer.to_text());
    }
}

/// Where the simulation and the viewers meet.
#[derive(Debug)]
pub struct Hub {
    /// `live` or `replay`.
    pub mode: &'static str,
    /// Where scenes can be chosen from; none for a finished run.
    pub folder: Option<Folder>,
    /// The scene that is shown.
    pub stage: watch::Sender<Arc<Stage>>,
    /// The newest frame.
    pub frame: watch::Sender<Option<Frame>>,
    /// What can be changed, as it is now.
    pub parameters: watch::Sender<Option<Arc<Parameters>>>,
    /// Whether it runs.
    pub status: watch::Sender<Status>,
    /// What everybody is told.
    pub news: broadcast::Sender<String>,
    /// Who looks on.
    pub seats: watch::Sender<Seats>,
    errands: SyncSender<Errand>,
    let_go: AtomicBool,
    stop: AtomicBool,
}

impl Hub {
    /// A new one, whose errands go to `errands`.
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

    /// Sends the simulation an errand, if its queue is not full.
    pub fn ask(&self, errand: Errand) -> bool {
        !matches!(self.errands.try_send(errand), Err(TrySendError::Full(_)))
    }

    /// Tells all viewers.
    pub fn say(&self, answer: &Answer) {
        // If there are none, nobody misses it.
        let _ = self.news.send(answer.to_text());
    }

    /// Ends the simulation.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.ask(Errand::Wake);
    }

    /// Whether it has to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Whether someone else drives now, so that all grips have to be released; says so once.
    pub fn take_let_go(&self) -> bool {
        self.let_go.swap(false, Ordering::SeqCst)
    }

    /// Number of viewers.
    pub fn viewer_count(&self) -> usize {
        self.seats.borrow().viewers.len()
    }

    /// Whether some viewer draws on the processor.
    pub fn is_painting(&self) -> bool {
        !self.seats.borrow().painters.is_empty()
    }

    /// Viewer `number` says whether it draws on the processor.
    pub fn draws(&self, number: u32, software: bool) {
        // Nobody else is told.
        self.seats.send_if_modified(|seats| {
            seats.painters.retain(|&viewer| viewer != number);
            if software {
                seats.painters.push(number);
            }
            false
        });
    }

    /// A new viewer comes; the first one drives. None if there are too many.
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

    /// Viewer `number` leaves. If it was driving, the one that has been there longest drives.
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

    /// Viewer `number` takes the wheel.
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
