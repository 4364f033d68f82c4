//! How many substeps a step needs, and what stiffness an allowed number of them carries.
//!
//! Symplectic Euler, v += h M⁻¹f(x, v), x += h v, is stable for a mode of frequency ω and damping rate γ
//! while h²ω²/4 + hγ/2 < 1. For ω² and γ there are bounds by rows: a particle of mass m whose springs have
//! stiffness k_s and damping c_s adds Σ 2k_s/m and Σ 2c_s/m. An altitude spring counts like any other: its
//! weights sum to 2 in absolute value, and none exceeds 1.
//!
//! Where more substeps are needed than allowed, stiffness is scaled down to what these carry, stretch first,
//! as in [`velocity::update`](crate::velocity): the limits on strain hold the strand together, bending gives
//! it its shape.

/// How much of the room to the limit of stability is used: 0.8² of ω².
const SAFETY: f64 = 0.64;

/// Bounds on the frequencies of a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    /// On ω² of what resists stretch, and of what resists bending and twist \[1/s²\].
    pub squares: [f64; 2],
    /// On the damping rates of both \[1/s\].
    pub rates: [f64; 2],
}

impl Bounds {
    /// Bounds for both.
    pub fn with(self, other: Self) -> Self {
        let largest = |a: [f64; 2], b: [f64; 2]| [a[0].max(b[0]), a[1].max(b[1])];
        Self { squares: largest(self.squares, other.squares), rates: largest(self.rates, other.rates) }
    }
}

/// Substeps of a step, and how springs are softened for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Number of substeps.
    pub substeps: u32,
    /// Factor on the stiffness of what resists stretch, from 0 to 1.
    pub stretch: f32,
    /// Factor on that of what resists bending, twist and flat tetrahedra.
    pub shape: f32,
}

impl Bounds {
    /// Plans a step of `dt` \[s\] with at most `max_substeps` and further damping at rate `drag` \[1/s\].
    pub fn plan(&self, dt: f64, drag: f64, max_substeps: u32) -> Plan {
        let needed = |stretch: f64, shape: f64| {
            let square = stretch * self.squares[0] + shape * self.squares[1];
            let rate = stretch.sqrt() * self.rates[0] + shape.sqrt() * self.rates[1] + drag;
            let (a, b) = (0.25 * dt * dt * square, 0.5 * dt * rate);
            (b + (b * b + 4.0 * a * SAFETY).sqrt()) / (2.0 * SAFETY)
        };
        let allowed = f64::from(max_substeps.max(1));
        let all = needed(1.0, 1.0);
        if all <= allowed {
            return Plan { substeps: all.ceil().max(1.0) as u32, stretch: 1.0, shape: 1.0 };
        }
        // Bisection, since damping makes the need a curved function of the stiffness.
        let fit = |need: &dyn Fn(f64) -> f64| {
            let (mut low, mut high) = (0.0, 1.0);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if need(middle) <= allowed { low = middle } else { high = middle }
            }
            low
        };
        let shape = if needed(0.0, 1.0) <= 0.95 * allowed { 1.0 } else { fit(&|s| needed(0.0, s) / 0.95) };
        let stretch = fit(&|s| needed(s, shape));
        Plan { substeps: max_substeps.max(1), stretch: stretch as f32, shape: shape as f32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_kept_and_stretch_softens_first() {
        let bounds = Bounds { squares: [4e12, 1e8], rates: [1e5, 1e3] };
        let free = bounds.plan(1e-2, 0.0, u32::MAX);
        assert!(free.substeps > 12_000 && (free.stretch, free.shape) == (1.0, 1.0), "{free:?}");
        let some = bounds.plan(1e-2, 0.0, 500);
        assert!(some.substeps == 500 && some.shape == 1.0 && some.stretch < 0.01, "{some:?}");
        let few = bounds.plan(1e-2, 0.0, 10);
        assert!(few.substeps == 10 && few.shape < 0.1 && few.stretch < 1e-3, "{few:?}");
    }

    #[test]
    fn a_plan_is_stable_and_close_to_the_limit() {
        // One mode of the planned frequency and damping, advanced as substeps do.
        let (square, rate) = (1e6f64, 300.0);
        let plan = Bounds { squares: [square, 0.0], rates: [rate, 0.0] }.plan(0.1, 0.0, u32::MAX);
        let grows = |substeps: f64| {
            let h = 0.1 / substeps;
            let (mut x, mut v) = (1.0f64, 0.0);
            for _ in 0..2000 {
                v -= h * (square * x + rate * v);
                x += h * v;
            }
            !x.is_finite() || x.abs() > 1.0
        };
        assert!(!grows(plan.substeps.into()) && grows(0.7 * f64::from(plan.substeps)));
    }
}
