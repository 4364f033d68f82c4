//! One level below [`Simulation`](crate::Simulation): what programs need that record, resume, verify and draw
//! runs, as `taut` itself does.
//!
//! A [`Description`](crate::Description) makes a [`World`](crate::World), that a [`State`](crate::State), and
//! a [`Stepper`](crate::Stepper) advances it frame by frame. A [`Snapshot`] of a state is all that a resume
//! needs.

pub use crate::{
    boundary::{
        hold::{Caught, PinOverride},
        motion::Keyframe,
        obstacle::surface::Surface,
        seam::DEFAULT_CLOSING_SPEED as SEAM_SPEED,
    },
    contact::continuous::{Kind as ContactKind, first_contact},
    embedding::Embedding,
    exec::threads::Threads,
    hierarchy::{Hierarchy, Level, Options as LevelOptions, Site, build as build_levels, fit},
    kernel::{lanes::LaneKind, random::Random, strain::Range as StretchRange},
    limit::NO_LIMIT,
    state::Snapshot,
};

#[doc(hidden)]
pub use crate::hierarchy::levels_built;
