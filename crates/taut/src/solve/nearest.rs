//! The nearest feasible state in the mass metric: `Scheme::Nearest`.
//!
//! Of all states within the limits, a step should end in the one that changes velocities least: minimise
//! ½ (x − x₀)ᵀ M (x − x₀) with every triangle's stretches in range and every vertex outside obstacles. ADMM
//! splits that: B x are the deformation gradients, p the same clamped, u their disagreement so far. One
//! iteration:
//!
//! ```text
//! f = B x + u;  p = f clamped                       every triangle by itself, in lanes
//! r = M (x₀ − x) + κ Bᵀ A (2 (p − f) + u);  u ← f − p    gathered by vertex in a fixed order
//! x ← x + V-cycle(r)                                about (M + κ Bᵀ A B)⁻¹ r
//! ```
//!
//! The matrix never changes, so one linear multigrid cycle replaces the coarse limits of section 3.3 of the
//! paper (its section 6 asks for such a constrained-Lagrangian solve). κ = c ℓ² n / Area in units of the mean
//! mass, ℓ the size of the body: soft at first, which finds the right place, then stiffer, until the limits
//! are met ([`ramp`]). Duals start from nine tenths of the last step's, turned with their triangles. The last
//! few triangles are settled one by one. Stopping at the first feasible state would bias motion towards
//! stiffness, so there is a least number of iterations.
//!
//! What is kept in range is a list of [terms](crate::term): strains, bends, jumps, obstacles, contacts,
//! seams, grips, rigid bodies. A projection out of obstacles after each iteration, in place of a term,
//! diverges, and one at the end leaves strain. Bodies that may touch are solved together, in one
//! [`filter::Filter`]; where there is contact the solve is elastic: stretches are drawn to 1 before they are
//! clamped, and bending is a part of the matrix. Limits on edges keep to the sweeps, which run afterwards.
//!
//! | part | file |
//! |---|---|
//! | the loop | [`admm`] |
//! | its memory; pulls gathered, weights in the matrix | [`memory`] |
//! | points of developable cloth that are no unknowns | [`means`] |
//! | κ, stage by stage | [`ramp`] |
//! | when it ends | [`stop`] |
//! | tables of bodies that are solved together | [`filter`] |
//! | all filters of a world in one step | [`step`] |
//! | every tuned number | [`tuning`] |
//! | what it is measured against | [`reference`] |

pub mod admm;
pub mod filter;
pub mod means;
pub mod memory;
pub mod ramp;
pub mod reference;
pub mod step;
pub mod stop;
pub mod tuning;
