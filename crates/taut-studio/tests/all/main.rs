//! The studio as a browser sees it: over real sockets, with a WebSocket client of another library's making.

mod client;
mod driving;
mod groom;
mod materials;
mod no_levels;
mod replay;
mod saving;
mod security;
mod stream;
mod tearing;
