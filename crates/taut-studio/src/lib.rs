//! The studio of taut: a running simulation, or a finished run, in the browser.
//!
//! [`Studio::start`] opens a server on the loopback address. The simulation runs in its own thread
//! ([`session`]) and publishes every frame to the viewers ([`hub`]); another thread serves the page
//! ([`page`]) and its WebSockets ([`http`], [`viewer`]). The protocol is described in `PROTOCOL.md`, as types
//! in [`protocol`], as bytes in [`wire`].
//!
//! Viewers cannot stall the simulation: late frames are never sent, message size and rate are limited, and
//! pages of other sites are refused ([`gate`]). Files are read and written only in one folder ([`folder`]).

pub mod folder;
pub mod gate;
pub mod http;
pub mod hub;
pub mod page;
pub mod protocol;
pub mod rate;
pub mod session;
pub mod viewer;
pub mod wire;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use taut_io::{Problems, output::folder::holds_run, recording::Recording, scene};
use tokio::sync::watch;

use crate::{
    folder::{Chosen, Folder},
    gate::Gate,
    http::Shared,
    hub::Hub,
    page::Page,
    session::{Live, Replay, Show},
};

/// The default port, tried first.
pub const USUAL_PORT: u16 = 8420;

/// What to show, and where to listen.
#[derive(Clone, Debug)]
pub struct Options {
    /// A scene file, the name of a built-in scene, or a run folder.
    pub what: String,
    /// Overrides of the scene, `KEY=VALUE` each.
    pub overrides: Vec<String>,
    /// The port; none: the default one, or a free one if it is in use. 0: any free one.
    pub port: Option<u16>,
    /// An address other than the loopback address.
    pub listen: Option<IpAddr>,
    /// Threads of the simulation; 0: one per core, less one for the browser in small scenes.
    pub threads: usize,
    /// The files of the page.
    pub page: Page,
    /// Whether it starts running.
    pub playing: bool,
}

impl Options {
    /// Shows `what` on the loopback address.
    pub fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            overrides: Vec::new(),
            port: None,
            listen: None,
            threads: 0,
            page: Page::Built,
            playing: true,
        }
    }
}

/// Why the studio cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    /// The scene or the run is invalid.
    #[error("{0}")]
    Input(Problems),
    /// It cannot be shown.
    #[error("{0}")]
    Refused(String),
    /// The port cannot be opened.
    #[error("could not listen on {address}: {source}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// Another system error.
    #[error("{action}: {source}")]
    System {
        /// The attempted action.
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

/// A running studio. It stops when it is dropped.
#[derive(Debug)]
pub struct Studio {
    address: SocketAddr,
    token: Option<String>,
    hub: Arc<Hub>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Studio {
    /// Starts the studio.
    ///
    /// # Errors
    /// If the scene or the run cannot be shown, or the port cannot be opened.
    pub fn start(options: Options) -> Result<Self, StudioError> {
        let (show, folder) = open(&options)?;
        let listener = listen(&options)?;
        let address = listener.local_addr().map_err(system("ask for the port"))?;
        let token = match options.listen {
            Some(_) => Some(
                gate::new_token()
                    .map_err(|error| StudioError::Refused(format!("no random numbers: {error}")))?,
            ),
            None => None,
        };
        let mode = if matches!(show, Show::Live(_)) { "live" } else { "replay" };
        let (errands, waiting) = mpsc::sync_channel(session::WAITING);
        let hub = Arc::new(Hub::new(mode, folder, errands));
        let gate = Gate { port: address.port(), listen: options.listen, token: token.clone() };
        let shared = Arc::new(Shared { gate, page: options.page, hub: hub.clone() });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(2)
            .build()
            .map_err(system("start the server"))?;
        let (stop, stopped) = watch::channel(false);
        let (shown, playing) = (hub.clone(), options.playing);
        let simulating = std::thread::Builder::new()
            .name("simulation".into())
            .spawn(move || session::run(&shown, &waiting, show, playing))
            .map_err(system("start a thread"))?;
        let mut studio = Self { address, token, hub, stop, threads: vec![simulating] };
        let serving = std::thread::Builder::new()
            .name("server".into())
            .spawn(move || {
                // It ends when it is asked to.
                let _ = runtime.block_on(http::serve(listener, shared, stopped));
                runtime.shutdown_background();
            })
            .map_err(system("start a thread"))?;
        studio.threads.push(serving);
        Ok(studio)
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The token that clients need, if it listens beyond the loopback address.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The URL to open in a browser.
    pub fn url(&self) -> String {
        let ip = self.address.ip();
        let host = if ip.is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { ip };
        let base = format!("http://{}/", SocketAddr::new(host, self.address.port()));
        match &self.token {
            Some(token) => format!("{base}?token={token}"),
            None => base,
        }
    }

    /// Number of connected pages.
    pub fn viewers(&self) -> usize {
        self.hub.viewer_count()
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        self.hub.stop();
        self.stop.send_replace(true);
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended, too.
            let _ = thread.join();
        }
    }
}

fn system(action: &'static str) -> impl Fn(io::Error) -> StudioError {
    move |source| StudioError::System { action, source }
}

/// What to show, and the scene folder.
fn open(options: &Options) -> Result<(Show, Option<Folder>), StudioError> {
    let path = Path::new(&options.what);
    let known = scene::built_in().iter().find(|scene| scene.name == options.what);
    if known.is_none() && path.is_dir() {
        if !holds_run(path) {
            let message = format!("{} is neither a scene file nor a run folder", path.display());
            return Err(StudioError::Refused(message));
        }
        if let Some(change) = options.overrides.first() {
            return Err(StudioError::Refused(format!(
                "a finished run cannot be changed: omit --set {change}"
            )));
        }
        let recording = Recording::open(path).map_err(StudioError::Input)?;
        let replay = Replay::new(recording).map_err(StudioError::Refused)?;
        return Ok((Show::Replay(Box::new(replay)), None));
    }
    let scene = scene::load(&options.what, &options.overrides).map_err(StudioError::Input)?;
    let (text, file, folder) = match known {
        Some(known) => (known.text.to_owned(), None, PathBuf::from(".")),
        None => {
            let text = std::fs::read_to_string(path).map_err(system("read the scene"))?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            (text, Some(path.to_owned()), folder.unwrap_or(Path::new(".")).to_owned())
        }
    };
    let folder = Folder::new(&folder).map_err(system("find the scene folder"))?;
    let chosen = Chosen { scene, text, file };
    let live =
        Live::new(chosen, !options.overrides.is_empty(), options.threads).map_err(StudioError::Refused)?;
    Ok((Show::Live(Box::new(live)), Some(folder)))
}

fn listen(options: &Options) -> Result<TcpListener, StudioError> {
    let ip = options.listen.unwrap_or(Ipv4Addr::LOCALHOST.into());
    let bind = |port: u16| {
        let address = SocketAddr::new(ip, port);
        TcpListener::bind(address).map_err(|source| StudioError::Listen { address, source })
    };
    match options.port {
        Some(port) => bind(port),
        None => bind(USUAL_PORT).or_else(|_| bind(0)),
    }
}
