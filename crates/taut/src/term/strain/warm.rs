//! Duals from one step to the next, turned along with their triangles.
//!
//! A dual has the principal directions of its triangle's deformation gradient: u = R S, where R is the
//! rotation of the triangle and S a symmetric 2×2 matrix in its rest frame. S is what is kept. A dual kept in
//! space would pull a triangle that has turned since towards where it was, the more the softer the first
//! iterations are. By how much limits have given way is kept beside it.

use super::{
    KEPT,
    local::{BatchState, LimitSource, NearestBatch},
};
use crate::{
    element::woven::WeaveLanes,
    exec::batch::Over,
    kernel::{
        clamp::rotation,
        lanes::{BATCH, Lanes, Work},
        real::{combine, dot, scale},
        strain::strain_residual,
        svd2::deformation_gradient,
    },
    solve::nearest::tuning::{CLOTH_SLACK_WARM, SLACK_FORGOTTEN},
};

/// Stretches of a triangle beyond which its kept dual is debris.
const DEBRIS: f32 = 1e6;

/// Which way duals go.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Kept ones to where the triangles are now.
    Begin,
    /// Those of the last iteration to what is kept.
    End,
}

/// Turns the duals of some batches.
pub struct TurnDuals<'a> {
    /// Triangles.
    pub batches: Over<'a, NearestBatch, 3>,
    /// Their limits along warp, weft and bias, if they have such.
    pub weaves: Option<&'a [WeaveLanes]>,
    /// Their duals.
    pub states: &'a mut [BatchState],
    /// What is kept of them.
    pub kept: &'a mut [f32],
    /// Which way.
    pub way: Way,
    /// Factor on the way.
    pub factor: f32,
}

impl Work for TurnDuals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        match self.weaves {
            None => {
                let batches = self.batches;
                self.turn::<L, _>(batches);
            }
            Some(weaves) => self.turn::<L, _>(weaves),
        }
    }
}

impl TurnDuals<'_> {
    #[inline(always)]
    fn turn<L: Lanes, S: LimitSource>(self, source: S) {
        let (factor, half, limit) = (L::splat(self.factor), L::splat(0.5), L::splat(DEBRIS));
        for (b, ((batch, state), kept)) in
            self.batches.iter().zip(self.states).zip(self.kept.chunks_exact_mut(KEPT)).enumerate()
        {
            let (kept, _) = kept.as_chunks_mut::<BATCH>();
            let mut residuals = [0.0; BATCH];
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x = batch.corners(at);
                let (rest, limits) = (batch.rest::<L>(at), source.limits::<L>(b, at));
                let r = rotation(&deformation_gradient(&x, rest), L::load_all(&state.facing, at));
                strain_residual(&x, rest, limits).store(&mut residuals, at);
                match self.way {
                    Way::Begin => {
                        let (a, b, c) = (L::load(&kept[0], at), L::load(&kept[1], at), L::load(&kept[2], at));
                        let sane = (a.abs() + b.abs() + c.abs()).le(limit);
                        let first = scale(combine(r[0], a, r[1], b), factor);
                        let second = scale(combine(r[0], b, r[1], c), factor);
                        for k in 0..3 {
                            L::select(sane, first[k], L::splat(0.0)).store(&mut state.dual[k], at);
                            L::select(sane, second[k], L::splat(0.0)).store(&mut state.dual[3 + k], at);
                        }
                        for side in 0..2 {
                            let slack = L::load(&kept[3 + side], at) * L::splat(CLOTH_SLACK_WARM);
                            let sane = slack.le(L::splat(1.0)) & L::splat(SLACK_FORGOTTEN).le(slack);
                            L::select(sane, slack, L::splat(0.0)).store(&mut state.slack[side], at);
                        }
                    }
                    Way::End => {
                        let [a, b, c, d, e, f]: [L; 6] = L::load_all(&state.dual, at);
                        let (u, w) = ([a, b, c], [d, e, f]);
                        (dot(r[0], u) * factor).store(&mut kept[0], at);
                        ((dot(r[1], u) + dot(r[0], w)) * half * factor).store(&mut kept[1], at);
                        (dot(r[1], w) * factor).store(&mut kept[2], at);
                        for side in 0..2 {
                            L::load(&state.slack[side], at).store(&mut kept[3 + side], at);
                        }
                    }
                }
            }
            state.note(residuals);
        }
    }
}
