//! The engine as a user of the crate sees it.

mod acceptance_hanging;
mod allocations;
mod live;
mod simulation;
mod soak;
