//! How loops over elements and vertices run: threads, colours and batches of lanes. With `kernel/lanes` the
//! only place of this crate that has `unsafe`; everything here that is safe to call is safe whatever it is
//! called with.
//!
//! [`threads`] shares out loops. [`batch`] holds elements in batches of lanes and reads their vertices.
//! [`colored`] holds such batches by colour ([`color`]), so that threads may move vertices at the same time.
//! [`sparse`] multiplies sparse matrices. [`strips`] holds strands in batches.

pub mod batch;
pub mod color;
pub mod colored;
pub mod sparse;
// For hair bodies, which come next.
#[allow(dead_code)]
pub(crate) mod strips;
pub mod threads;
