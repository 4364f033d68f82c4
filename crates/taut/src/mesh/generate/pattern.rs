//! Sewing patterns: panels cut along curves on a surface in space, flattened, and filled with even triangles.

mod constrain;
pub(crate) mod delaunay;
pub(super) mod fill;
pub(super) mod flatten;
pub(super) mod panel;
