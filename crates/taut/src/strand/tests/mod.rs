//! Strands: formulas against finite differences, physics against closed forms, limits and bits.

mod bench;
mod formulas;
mod lone;
mod motion;
mod physics;
mod scene;
