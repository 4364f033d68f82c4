//! Solvers over a whole filter. Today the default, [`nearest`]; the schemes over single elements are in
//! [`limit`](crate::limit).

pub mod nearest;
