//! Pure maths on values: no allocation, no input or output.
//!
//! Every kernel is written once, over [`real::Real`], and runs on one `f32`, one `f64` (the reference), or 8
//! or 16 lanes of `f32` ([`lanes`]). Only operations that IEEE 754 rounds exactly are used (no fused or
//! approximate ones), so that all of them, on any processor, give the same bits.

pub mod angle;
pub mod bend;
pub mod bend_paper;
pub mod clamp;
pub mod dihedral;
pub mod jacobi3;
pub mod lanes;
pub mod membrane;
pub mod pbd;
pub mod random;
pub mod real;
pub mod strain;
pub mod strain3;
pub mod svd2;
pub mod svd3;
pub mod tetrahedron;
pub mod weave;
