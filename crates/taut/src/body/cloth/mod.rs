//! Cloth: triangles, hinges and edges.

pub(crate) mod assemble;
pub(crate) mod imperfection;
pub(crate) mod levels;
pub mod measure;
mod nonconforming;
pub(crate) mod tear;
pub(crate) mod validate;
