//! Strands of hair.

pub(crate) mod assemble;
pub mod measure;
pub(crate) mod tear;
pub(crate) mod validate;
