//! Pictures and clips, read back.

mod clip;
mod pixels;
