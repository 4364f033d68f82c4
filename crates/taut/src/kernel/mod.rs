//! Pure maths on values: no allocation, no input or output.

pub mod svd3;
