//! Point masses and segments.

pub(crate) mod assemble;
pub mod measure;
pub(crate) mod validate;
