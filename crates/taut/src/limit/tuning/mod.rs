//! Tuned numbers of the solvers in this folder, a file a solver. Those of the default solver are in
//! [`solve::nearest::tuning`](crate::solve::nearest::tuning).

pub mod edge_model;
pub mod levels;
