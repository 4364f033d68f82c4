//! Limits: how far strains and bends may go.

/// A lower and an upper limit, each of which may be absent.
///
/// For strain: relative change of length, so that `max = 0.05` allows principal stretches up to 1.05, and
/// `min = -0.05` down to 0.95.
///
/// For bend: degrees per centimetre (Eq. 5 of the paper), so that `max = 30.0` lets a hinge whose wings are
/// both 1 cm high fold by 60 degrees past its rest angle towards the back of the surface, and `min = -30.0`
/// as far towards its front.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// Largest allowed compression (a negative number, at least −1) or bend towards the front, or none.
    pub min: Option<f32>,
    /// Largest allowed stretch or bend towards the back, or none.
    pub max: Option<f32>,
}
