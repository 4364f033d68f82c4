//! The thread of the simulation, or of a finished run: handles requests between frames, and publishes every
//! frame.

mod body;
mod changes;
mod export;
mod grips;
mod groom;
mod levels;
mod live;
mod obstacle;
mod replay;
mod start;

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use crate::{
    hub::{Errand, Exported, Frame, Hub, Reply, Sheet, Stage, Status},
    protocol::{Answer, Parameters, Request},
    wire::{self, FrameContents},
};

use levels::ShownLevels;

pub use live::Live;
pub use replay::Replay;

/// Maximum queued requests.
pub const WAITING: usize = 512;

/// Late frames that are caught up.
const LATE: u32 = 2;

/// A running simulation or a finished run.
#[derive(Debug)]
pub enum Show {
    /// A running simulation.
    Live(Box<Live>),
    /// A finished run.
    Replay(Box<Replay>),
}

/// Effect of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// No immediate visible effect.
    Done,
    /// Another frame is shown.
    Moved,
    /// Parameters and the contents of the frame changed.
    Changed,
    /// Everything changed.
    NewScene,
    /// A file was written.
    Saved(String),
}

impl Show {
    fn stage(&self, epoch: u32, playing: bool) -> Stage {
        match self {
            Self::Live(live) => live.stage(epoch, playing),
            Self::Replay(replay) => replay.stage(epoch, playing),
        }
    }

    /// The newest change of connectivity.
    fn change(&self) -> u32 {
        match self {
            Self::Live(live) => live.change(),
            Self::Replay(replay) => replay.change(),
        }
    }

    fn meshes(&self, epoch: u32) -> Vec<Sheet> {
        match self {
            Self::Live(live) => live.meshes(epoch),
            Self::Replay(replay) => replay.meshes(epoch),
        }
    }

    fn levels(&self) -> &ShownLevels {
        match self {
            Self::Live(live) => live.levels(),
            Self::Replay(replay) => replay.levels(),
        }
    }

    fn parameters(&self) -> Parameters {
        match self {
            Self::Live(live) => live.parameters().clone(),
            Self::Replay(replay) => replay.parameters().clone(),
        }
    }

    fn contents(&mut self) -> Result<FrameContents, String> {
        match self {
            Self::Live(live) => Ok(live.contents()),
            Self::Replay(replay) => replay.contents(),
        }
    }

    /// Advances by one frame; false at the end.
    fn advance(&mut self, hub: &Hub) -> bool {
        match self {
            Self::Live(live) => {
                live.advance(hub.is_painting());
                true
            }
            Self::Replay(replay) => replay.advance(),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Live(live) => live.reset(),
            Self::Replay(replay) => replay.seek(0),
        }
    }

    fn let_go(&mut self) {
        if let Self::Live(live) = self {
            live.let_go();
        }
    }

    fn obey(&mut self, request: Request, hub: &Hub) -> Result<Outcome, String> {
        match self {
            Self::Live(live) => live.obey(request, hub),
            Self::Replay(replay) => replay.obey(&request),
        }
    }

    fn export(&mut self, format: &str) -> Result<Exported, String> {
        match self {
            Self::Live(live) => live.export(format),
            Self::Replay(replay) => replay.export(format),
        }
    }
}

/// Runs `show` until the hub is stopped.
pub fn run(hub: &Hub, errands: &Receiver<Errand>, show: Show, playing: bool) {
    Session { hub, show, playing, epoch: 1, due: Instant::now() }.run(errands);
}

struct Session<'a> {
    hub: &'a Hub,
    show: Show,
    playing: bool,
    epoch: u32,
    /// Start time of the next frame.
    due: Instant,
}

impl Session<'_> {
    fn run(mut self, errands: &Receiver<Errand>) {
        self.publish_scene();
        while !self.hub.is_stopped() {
            let running = self.playing && self.hub.viewer_count() > 0;
            let errand = if running {
                errands.recv_timeout(self.due.saturating_duration_since(Instant::now()))
            } else {
                errands.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            match errand {
                Ok(errand) => self.obey_all(errand, errands),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.hub.take_let_go() {
                self.show.let_go();
            }
            if running && self.playing && Instant::now() >= self.due {
                self.advance();
            }
        }
    }

    /// Handles queued requests before the next frame, but not those that arrive meanwhile: a flood cannot
    /// stall the simulation.
    fn obey_all(&mut self, first: Errand, errands: &Receiver<Errand>) {
        let waiting = errands.try_iter().take(WAITING);
        for errand in std::iter::once(first).chain(waiting) {
            match errand {
                Errand::Request(request, reply) => self.obey(request, &reply),
                Errand::Export(format, reply) => {
                    // The requester may be disconnected.
                    let _ = reply.send(self.show.export(&format));
                }
                Errand::Wake => {}
            }
        }
    }

    fn period(&self) -> Duration {
        Duration::from_secs_f32(1.0 / self.show.parameters().fps.clamp(1.0, 240.0))
    }

    fn advance(&mut self) {
        // Frames are spaced as in the simulation. A delay of a frame or two is caught up, more is not.
        let (now, period) = (Instant::now(), self.period());
        self.due = (self.due + period).max(now.checked_sub(LATE * period).unwrap_or(now));
        if !self.show.advance(self.hub) {
            self.playing = false;
        }
        self.publish_frame();
    }

    fn obey(&mut self, request: Request, reply: &Reply) {
        match request {
            Request::Play => {
                if matches!(&self.show, Show::Replay(replay) if replay.is_at_end()) {
                    self.show.reset();
                }
                self.playing = true;
                self.due = Instant::now();
                self.publish_status(None);
            }
            Request::Pause => {
                self.playing = false;
                self.publish_frame();
            }
            Request::Step => {
                self.playing = false;
                self.show.advance(self.hub);
                self.publish_frame();
            }
            Request::Reset => {
                self.show.reset();
                self.publish_frame();
            }
            request => match self.show.obey(request, self.hub) {
                Ok(Outcome::Done) => {}
                Ok(Outcome::Moved) => self.publish_frame(),
                Ok(Outcome::Changed) => {
                    self.publish_levels();
                    self.publish_parameters();
                    if !self.playing {
                        self.publish_frame();
                    }
                }
                Ok(Outcome::NewScene) => {
                    self.epoch += 1;
                    self.publish_scene();
                }
                Ok(Outcome::Saved(path)) => reply.say(&Answer::Saved { path: &path }),
                Err(text) => reply.say(&Answer::Problem { text: &text }),
            },
        }
    }

    fn publish_scene(&mut self) {
        self.hub.stage.send_replace(Arc::new(self.show.stage(self.epoch, self.playing)));
        self.publish_parameters();
        self.publish_frame();
    }

    /// Publishes coarser levels once they have been built.
    fn publish_levels(&self) {
        let stage = self.hub.stage.borrow().clone();
        if stage.levels.is_empty() && stage.epoch == self.epoch {
            let levels = self.show.levels().messages(self.epoch);
            if !levels.is_empty() {
                self.hub.stage.send_replace(Arc::new(Stage { levels, ..(*stage).clone() }));
            }
        }
    }

    /// Publishes meshes whose connectivity has changed, before the first frame that has them; gives the
    /// newest change.
    fn publish_meshes(&self) -> u32 {
        let (stage, change) = (self.hub.stage.borrow().clone(), self.show.change());
        if stage.epoch == self.epoch && stage.change != change {
            let meshes = self.show.meshes(self.epoch);
            self.hub.stage.send_replace(Arc::new(Stage { meshes, change, ..(*stage).clone() }));
        }
        change
    }

    fn publish_parameters(&self) {
        self.hub.parameters.send_replace(Some(Arc::new(self.show.parameters())));
    }

    fn publish_frame(&mut self) {
        let mut contents = self.show.contents();
        if let (Show::Live(live), Ok(frame)) = (&mut self.show, &contents)
            && Live::is_lost(frame)
        {
            self.hub.say(&Answer::Notice {
                text: "the simulation became unstable and was reset. Use a larger time budget or smaller forces",
            });
            live.reset();
            contents = self.show.contents();
        }
        match contents {
            Ok(contents) => {
                let (epoch, bytes) = (self.epoch, wire::frame(self.epoch, &contents));
                let change = self.publish_meshes();
                self.hub.frame.send_replace(Some(Frame { epoch, change, bytes }));
                self.publish_status(Some(contents.number));
            }
            Err(text) => {
                // A damaged file of a run: the previous frame stays.
                self.playing = false;
                self.publish_status(None);
                self.hub.say(&Answer::Problem { text: &text });
            }
        }
    }

    /// Publishes whether it runs, and the frame shown while it is paused.
    fn publish_status(&self, frame: Option<u32>) {
        let playing = self.playing;
        self.hub.status.send_if_modified(|status| {
            let changed = status.playing != playing || (!playing && frame.is_some_and(|f| f != status.frame));
            *status = Status { playing, frame: frame.unwrap_or(status.frame) };
            changed
        });
    }
}
