//! The program `taut`, from outside.

mod bad_input;
mod bench;
mod book;
mod clients;
mod contact;
mod detection;
mod every_body;
mod export;
mod export_formats;
mod export_usd;
mod fabric;
mod fit;
mod folder;
mod hostile;
mod mesh_obstacle;
mod no_softening;
mod plot;
mod program;
mod render;
mod resume;
mod rigid;
mod solids;
mod verify;
mod view;
mod view_page;
mod words;
