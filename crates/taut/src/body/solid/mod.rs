//! Soft solids: tetrahedra.

pub(crate) mod assemble;
pub(crate) mod levels;
pub mod measure;
pub(crate) mod validate;
