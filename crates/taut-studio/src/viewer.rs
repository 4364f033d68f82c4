//! The connection of one page: what it is sent, its requests, and when it is disconnected.
//!
//! A frame is sent while at most one other lacks an `ack`, so that at most two are in flight, and always the
//! newest.

use std::{sync::Arc, time::Duration};

use futures_util::{SinkExt, StreamExt};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{broadcast::error::RecvError, mpsc, watch},
    time::{Instant, MissedTickBehavior, interval, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode},
    },
};

use crate::{
    hub::{Errand, Frame, Hub, Reply, Stage},
    protocol::{Answer, Request, VERSION},
    rate::{Bucket, Verdict},
};

/// Maximum size of a message \[bytes\].
pub const LONGEST_MESSAGE: usize = 64 << 10;
/// Maximum size of an acknowledgement past the rate \[bytes\].
const LONGEST_ACK: usize = 64;
/// Maximum frames in flight.
const UNDER_WAY: u32 = 2;
/// Timeout for sending a message, after which the viewer is dropped.
const PATIENCE: Duration = Duration::from_secs(20);
/// Interval of pings.
const PULSE: Duration = Duration::from_secs(15);
/// Maximum silence of a viewer.
const SILENCE: Duration = Duration::from_secs(50);
/// Maximum queued answers.
const ANSWERS: usize = 32;

/// Limits of the WebSocket.
pub fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(LONGEST_MESSAGE))
        .max_frame_size(Some(LONGEST_MESSAGE))
        .read_buffer_size(16 << 10)
        .write_buffer_size(0)
}

/// Why a viewer leaves.
enum Leaving {
    /// The connection is closed.
    Gone,
    /// A violation of the protocol.
    Sent(CloseCode, &'static str),
}

impl From<Error> for Leaving {
    fn from(error: Error) -> Self {
        match error {
            Error::Capacity(_) => Self::Sent(CloseCode::Size, "messages are limited to 64 KiB"),
            Error::Utf8(_) => Self::Sent(CloseCode::Invalid, "text must be UTF-8"),
            Error::Protocol(_) => Self::Sent(CloseCode::Protocol, "not a WebSocket"),
            _ => Self::Gone,
        }
    }
}

/// Shows the simulation to a page until it leaves.
pub async fn show<S: AsyncRead + AsyncWrite + Unpin>(hub: Arc<Hub>, mut socket: WebSocketStream<S>) {
    let Some(number) = hub.sit_down() else {
        close(&mut socket, CloseCode::Again, "too many viewers").await;
        return;
    };
    let mut viewer = Viewer::new(&hub, number, &mut socket);
    let leaving = viewer.converse().await;
    hub.leave(number);
    if let Err(Leaving::Sent(code, reason)) = leaving {
        close(&mut socket, code, reason).await;
    }
}

async fn close<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut WebSocketStream<S>,
    code: CloseCode,
    reason: &'static str,
) {
    // The connection may be closed already.
    let _ =
        timeout(Duration::from_secs(1), socket.close(Some(CloseFrame { code, reason: reason.into() }))).await;
}

struct Viewer<'a, S> {
    hub: &'a Hub,
    number: u32,
    socket: &'a mut WebSocketStream<S>,
    stage: watch::Receiver<Arc<Stage>>,
    frame: watch::Receiver<Option<Frame>>,
    reply: Reply,
    answers: mpsc::Receiver<String>,
    bucket: Bucket,
    /// The scene it was sent.
    epoch: Option<u32>,
    /// The newest change of connectivity of that scene that it was sent.
    change: u32,
    /// Coarser levels of that scene that it was sent.
    levels: usize,
    /// Frames sent and not acknowledged.
    under_way: u32,
    heard: Instant,
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin> Viewer<'a, S> {
    fn new(hub: &'a Hub, number: u32, socket: &'a mut WebSocketStream<S>) -> Self {
        let (reply, answers) = mpsc::channel(ANSWERS);
        let now = Instant::now();
        Self {
            hub,
            number,
            socket,
            stage: hub.stage.subscribe(),
            frame: hub.frame.subscribe(),
            reply: Reply(reply),
            answers,
            bucket: Bucket::new(now.into_std()),
            epoch: None,
            change: 0,
            levels: 0,
            under_way: 0,
            heard: now,
        }
    }

    async fn converse(&mut self) -> Result<(), Leaving> {
        let (mut parameters, mut status) = (self.hub.parameters.subscribe(), self.hub.status.subscribe());
        let (mut seats, mut news) = (self.hub.seats.subscribe(), self.hub.news.subscribe());
        let (driving, viewers) = self.seat();
        let hello =
            Answer::Hello { version: VERSION, viewer: self.number, driving, mode: self.hub.mode, viewers };
        self.send(hello.to_text().into()).await?;
        self.send_stage().await?;
        self.send_state().await?;
        self.frame.mark_changed();
        let mut pulse = interval(PULSE);
        pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                message = self.socket.next() => match message {
                    None | Some(Ok(Message::Close(_))) => return Ok(()),
                    Some(message) => self.hear(message?).await?,
                },
                Some(text) = self.answers.recv() => self.send(text.into()).await?,
                text = news.recv() => match text {
                    Ok(text) => self.send(text.into()).await?,
                    // It was too slow, and newer messages exist.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Ok(()),
                },
                Ok(()) = self.stage.changed() => self.send_stage().await?,
                Ok(()) = parameters.changed() => {
                    let newest = parameters.borrow_and_update().clone();
                    if let Some(newest) = newest {
                        self.send(Answer::Parameters(&newest).to_text().into()).await?;
                    }
                }
                Ok(()) = status.changed() => self.send_state().await?,
                Ok(()) = seats.changed() => self.send_state().await?,
                Ok(()) = self.frame.changed(), if self.under_way < UNDER_WAY => self.send_frame().await?,
                _ = pulse.tick() => {
                    if self.heard.elapsed() > SILENCE {
                        return Err(Leaving::Gone);
                    }
                    self.send(Message::Ping(Default::default())).await?;
                }
                else => return Ok(()),
            }
        }
    }

    /// Sends whether it has control, and the number of viewers.
    fn seat(&self) -> (bool, usize) {
        let seats = self.hub.seats.borrow();
        (seats.driver == Some(self.number), seats.viewers.len())
    }

    async fn send(&mut self, message: Message) -> Result<(), Leaving> {
        match timeout(PATIENCE, self.socket.send(message)).await {
            Ok(sent) => Ok(sent?),
            Err(_) => Err(Leaving::Gone),
        }
    }

    async fn send_state(&mut self) -> Result<(), Leaving> {
        let status = *self.hub.status.borrow();
        let (driving, viewers) = self.seat();
        let state = Answer::State { playing: status.playing, frame: status.frame, driving, viewers };
        self.send(state.to_text().into()).await
    }

    /// Sends what has not been sent of the current scene.
    async fn send_stage(&mut self) -> Result<(), Leaving> {
        let stage = self.stage.borrow_and_update().clone();
        if stage.scene.is_empty() {
            return Ok(());
        }
        if self.epoch != Some(stage.epoch) {
            (self.epoch, self.change, self.levels) = (Some(stage.epoch), stage.change, 0);
            self.send(stage.scene.clone().into()).await?;
            for mesh in &stage.meshes {
                self.send(Message::Binary(mesh.bytes.clone())).await?;
            }
        }
        if self.change != stage.change {
            let sent = std::mem::replace(&mut self.change, stage.change);
            for mesh in stage.meshes.iter().filter(|mesh| mesh.change > sent) {
                self.send(Message::Binary(mesh.bytes.clone())).await?;
            }
        }
        while let Some(level) = stage.levels.get(self.levels) {
            self.levels += 1;
            self.send(Message::Binary(level.clone())).await?;
        }
        Ok(())
    }

    async fn send_frame(&mut self) -> Result<(), Leaving> {
        let Some(frame) = self.frame.borrow_and_update().clone() else { return Ok(()) };
        // Levels are published before the first frame that has them.
        self.send_stage().await?;
        // A frame of the previous scene, or of cloth before it tore, may be the newest for a moment.
        if self.epoch == Some(frame.epoch) && self.change == frame.change {
            self.under_way += 1;
            self.send(Message::Binary(frame.bytes)).await?;
        }
        Ok(())
    }

    async fn hear(&mut self, message: Message) -> Result<(), Leaving> {
        self.heard = Instant::now();
        let verdict = self.bucket.take(self.heard.into_std());
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                return Err(Leaving::Sent(CloseCode::Unsupported, "only text messages are supported"));
            }
            _ if verdict == Verdict::Flood => return Err(flood()),
            // The library answers pings.
            _ => return Ok(()),
        };
        if verdict == Verdict::Flood {
            return Err(flood());
        }
        if verdict == Verdict::Dropped {
            self.reply.say(&Answer::Problem { text: "too many messages: some were dropped" });
        }
        if verdict != Verdict::Read && !acknowledges(&text) {
            return Ok(());
        }
        match serde_json::from_str::<Request>(&text) {
            Ok(request) => self.obey(request),
            Err(error) => {
                self.reply.say(&Answer::Problem { text: &format!("invalid message: {error}") });
            }
        }
        Ok(())
    }

    fn obey(&mut self, request: Request) {
        if !request.is_free() && !self.seat().0 {
            self.reply
                .say(&Answer::Problem { text: "another viewer has control: take control first (`drive`)" });
            return;
        }
        match request {
            Request::Ack { .. } => self.under_way = self.under_way.saturating_sub(1),
            Request::Ping { stamp } => self.reply.say(&Answer::Pong { stamp }),
            Request::Drive => self.hub.drive(self.number),
            Request::Draws { software } => self.hub.draws(self.number, software),
            request => {
                if !self.hub.ask(Errand::Request(request, self.reply.clone())) {
                    self.reply.say(&Answer::Problem { text: "the simulation is busy: try again" });
                }
            }
        }
    }
}

/// Whether a message acknowledges a frame. Those are heard past the rate too: a page that had both of its
/// acknowledgements dropped would see no other frame.
fn acknowledges(text: &str) -> bool {
    text.len() <= LONGEST_ACK && matches!(serde_json::from_str(text), Ok(Request::Ack { .. }))
}

fn flood() -> Leaving {
    Leaving::Sent(CloseCode::Policy, "too many messages")
}
