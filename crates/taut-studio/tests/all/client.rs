//! A page that is none: connects, reads frames as PROTOCOL.md has them, and says what it is told to.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use taut_studio::{Options, Studio, page::Page};
use tungstenite::{
    Error, Message, WebSocket,
    handshake::client::generate_key,
    http::{Request, Uri},
};

/// How long anything may take, on a machine that does much else.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Messages that a client says at once, and a second: less than what the studio takes.
const BURST: u32 = 500;
const RATE: f64 = 330.0;

/// A sheet that hangs from two corners, with comments to be kept.
pub const SHEET: &str = r#"# A small sheet.
[scene]
description = "A small sheet."

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [8, 8] } }
material = "polyester"
strain = { min = -0.3, max = 0.05 }      # five in a hundred
pin = [{ select = "corner:top-left" }, { select = "corner:top-right" }]
"#;

/// Opens the studio with `what`, on any free port.
pub fn open(what: &str) -> Studio {
    Studio::start(Options {
        port: Some(0),
        threads: 1,
        page: Page::Single("<!doctype html><title>studio</title>"),
        ..Options::new(what)
    })
    .unwrap()
}

/// The same with a sheet in a folder of its own.
pub fn open_sheet(folder: &Path) -> Studio {
    let path = folder.join("sheet.toml");
    std::fs::write(&path, SHEET).unwrap();
    open(path.to_str().unwrap())
}

/// What is asked for when a socket is opened.
pub fn request(address: SocketAddr, host: &str, origin: Option<&str>) -> Request<()> {
    let uri: Uri = format!("ws://{address}/ws").parse().unwrap();
    let mut request = Request::builder()
        .uri(uri)
        .header("Host", host)
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", generate_key());
    if let Some(origin) = origin {
        request = request.header("Origin", origin);
    }
    request.body(()).unwrap()
}

/// A connection to the studio.
pub fn tcp(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Opens a socket with headers of one's own; the status where it is refused.
pub fn try_connect(
    address: SocketAddr,
    host: &str,
    origin: Option<&str>,
) -> Result<WebSocket<TcpStream>, u16> {
    match tungstenite::client::client(request(address, host, origin), tcp(address)) {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::HandshakeError::Failure(Error::Http(answer))) => Err(answer.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

/// Asks over HTTP; gives status, headers and body.
pub fn get(address: SocketAddr, target: &str, headers: &[(&str, &str)]) -> (u16, String, Vec<u8>) {
    ask(address, "GET", target, headers)
}

/// The same with another method.
pub fn ask(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
) -> (u16, String, Vec<u8>) {
    let mut stream = tcp(address);
    let mut text = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{text}\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, answer[end + 4..].to_vec())
}

/// A frame as it came.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    pub epoch: u32,
    pub number: u32,
    pub time: f64,
    pub echo: f64,
    pub largest_residual: f32,
    pub max_strain: f32,
    pub bodies: Vec<Vec<[f32; 3]>>,
    pub colours: Vec<Vec<[u8; 4]>>,
    pub obstacles: Vec<[f32; 12]>,
    pub levels: Vec<(u32, Vec<[f32; 3]>)>,
    pub pins: Vec<[u32; 2]>,
    /// Elements, and mean and largest residual past lower and past upper limits.
    pub given_way: Option<(u32, [f32; 4])>,
}

/// A mesh as it came.
#[derive(Clone, Debug, Default)]
pub struct Mesh {
    pub epoch: u32,
    pub what: u32,
    pub index: u32,
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

/// What comes.
#[derive(Clone, Debug)]
pub enum Heard {
    Text(Value),
    Mesh(Mesh),
    Frame(Frame),
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_at(N);
        self.0 = rest;
        first.try_into().unwrap()
    }
    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }
    fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }
    fn f64(&mut self) -> f64 {
        f64::from_le_bytes(self.take())
    }
    fn vectors(&mut self, count: u32) -> Vec<[f32; 3]> {
        (0..count).map(|_| [self.f32(), self.f32(), self.f32()]).collect()
    }
}

fn read_binary(bytes: &[u8]) -> Heard {
    let mut r = Reader(bytes);
    assert_eq!(r.u32(), 0x5455_5431);
    let (kind, epoch) = (r.u32(), r.u32());
    let heard = if kind == 1 {
        let (what, index, vertices, triangles) = (r.u32(), r.u32(), r.u32(), r.u32());
        let positions = r.vectors(vertices);
        let triangles = (0..triangles).map(|_| [r.u32(), r.u32(), r.u32()]).collect();
        if r.u32() == 1 {
            (0..2 * vertices).for_each(|_| _ = r.f32());
        }
        Heard::Mesh(Mesh { epoch, what, index, positions, triangles })
    } else {
        assert_eq!(kind, 2);
        let mut frame = Frame { epoch, number: r.u32(), time: r.f64(), echo: r.f64(), ..Frame::default() };
        (0..6).for_each(|_| assert!(r.f32() >= 0.0));
        (frame.largest_residual, _, frame.max_strain, _) = (r.f32(), r.f32(), r.f32(), r.f32());
        let (_iterations, flags) = (r.u32(), r.u32());
        for _ in 0..r.u32() {
            let count = r.u32();
            frame.bodies.push(r.vectors(count));
        }
        if flags & 2 != 0 {
            frame.colours = frame.bodies.iter().map(|b| b.iter().map(|_| r.take()).collect()).collect();
        }
        frame.obstacles = (0..r.u32()).map(|_| std::array::from_fn(|_| r.f32())).collect();
        if flags & 4 != 0 {
            for _ in 0..r.u32() {
                let (level, count) = (r.u32(), r.u32());
                frame.levels.push((level, r.vectors(count)));
            }
        }
        if flags & 8 != 0 {
            frame.pins = (0..r.u32()).map(|_| [r.u32(), r.u32()]).collect();
        }
        if flags & 32 != 0 {
            frame.given_way = Some((r.u32(), std::array::from_fn(|_| r.f32())));
        }
        Heard::Frame(frame)
    };
    assert!(r.0.is_empty(), "{} bytes are left", r.0.len());
    heard
}

/// A page that looks on.
pub struct Client {
    pub socket: WebSocket<TcpStream>,
    /// How many messages it has sent, and since when.
    said: u32,
    since: Instant,
}

impl Client {
    /// Connects as the page of `studio` does.
    pub fn new(studio: &Studio) -> Self {
        let host = studio.address().to_string();
        let socket = try_connect(studio.address(), &host, Some(&format!("http://{host}"))).unwrap();
        Self { socket, said: 0, since: Instant::now() }
    }

    /// Says something, no faster than the studio listens: on a fast machine it would drop what is said.
    pub fn say(&mut self, message: Value) {
        self.said += 1;
        let spoken = Duration::from_secs_f64(f64::from(self.said.saturating_sub(BURST)) / RATE);
        std::thread::sleep(spoken.saturating_sub(self.since.elapsed()));
        self.socket.send(Message::text(message.to_string())).unwrap();
    }

    /// Sets a parameter.
    pub fn set(&mut self, key: &str, value: Value) {
        self.say(json!({"type": "set", "key": key, "value": value}));
    }

    /// The next thing that comes, unless the connection ends.
    pub fn hear(&mut self) -> Result<Heard, Error> {
        let begun = Instant::now();
        loop {
            // Pings alone would keep the socket from timing out.
            assert!(begun.elapsed() < PATIENCE, "nothing comes but pings");
            match self.socket.read()? {
                Message::Text(text) => return Ok(Heard::Text(serde_json::from_str(&text).unwrap())),
                Message::Binary(bytes) => return Ok(read_binary(&bytes)),
                Message::Close(_) => return Err(Error::ConnectionClosed),
                _ => {}
            }
        }
    }

    /// The next thing for which `wanted` gives something; frames are answered meanwhile.
    pub fn wait<T>(&mut self, what: &str, mut wanted: impl FnMut(&Heard) -> Option<T>) -> T {
        let begun = Instant::now();
        loop {
            let heard = self.hear().unwrap_or_else(|error| panic!("while waiting for {what}: {error}"));
            if let Heard::Frame(frame) = &heard {
                self.say(json!({"type": "ack", "frame": frame.number}));
            }
            if let Some(found) = wanted(&heard) {
                return found;
            }
            assert!(begun.elapsed() < PATIENCE, "{what} does not come");
        }
    }

    /// The next text of a type.
    pub fn text(&mut self, kind: &str) -> Value {
        self.wait(kind, |heard| match heard {
            Heard::Text(text) if text["type"] == kind => Some(text.clone()),
            _ => None,
        })
    }

    /// The next frame for which `wanted` holds.
    pub fn frame(&mut self, what: &str, wanted: impl Fn(&Frame) -> bool) -> Frame {
        self.wait(what, |heard| match heard {
            Heard::Frame(frame) if wanted(frame) => Some(frame.clone()),
            _ => None,
        })
    }

    /// The next `count` frames.
    pub fn frames(&mut self, count: usize) -> Vec<Frame> {
        (0..count).map(|_| self.frame("a frame", |_| true)).collect()
    }
}
