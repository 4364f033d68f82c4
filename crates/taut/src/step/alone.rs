//! Frames in which no cloth comes near an obstacle or another surface.
//!
//! Cloth that nothing is near moves as if there were nothing: with as many steps a frame, and as many
//! iterations, bit for bit. Whether something is near is not foreseen but tried: a frame is begun alone if
//! the last one came near nothing, and begun again with the usual steps as soon as a vertex may meet an
//! obstacle, or a limited motion would take two surfaces nearer to each other than they may be.

use super::{FrameReport, Stepper, boxes::Span};
use crate::{State, World, boundary::grip::Grips, contact::intersection::Piercing, kernel::lanes::Quad};

/// What a frame began with.
#[derive(Debug, Default)]
pub(super) struct FrameStart {
    /// Position \[m\] and velocity \[m/s\] of every vertex.
    pub places: Vec<[Quad; 2]>,
    mean_v: Vec<Quad>,
    history: Vec<[Quad; 2]>,
    is_known: bool,
    duals: Vec<f32>,
    grips: Grips,
    piercings: Option<Vec<Piercing>>,
}

impl FrameStart {
    /// Keeps what steps of cloth without rigid bodies change.
    pub fn keep(&mut self, state: &State) {
        self.places.clear();
        self.places.extend(state.x.iter().zip(&state.v).map(|(x, v)| [*x, *v]));
        self.mean_v.clone_from(&state.mean_v);
        self.history.clone_from(&state.history.steps);
        self.is_known = state.history.is_known;
        self.duals.clone_from(&state.duals);
        self.grips.clone_from(&state.grips);
        self.piercings.clone_from(&state.piercings);
    }

    fn give_back(&self, state: &mut State) {
        for (i, [x, v]) in self.places.iter().enumerate() {
            (state.x[i], state.v[i]) = (*x, *v);
        }
        state.mean_v.copy_from_slice(&self.mean_v);
        state.history.steps.copy_from_slice(&self.history);
        state.history.is_known = self.is_known;
        state.duals.copy_from_slice(&self.duals);
        state.grips.clone_from(&self.grips);
        state.piercings.clone_from(&self.piercings);
    }
}

impl Stepper {
    /// Begins a frame that was tried alone again, with the usual steps. Its time and iterations count.
    pub(super) fn begin_again(&mut self, world: &World, state: &mut State, report: &mut FrameReport) {
        self.frame_start.give_back(state);
        state.set_alone(world, false, &[]);
        self.rescued.iter_mut().for_each(Vec::clear);
        *report = FrameReport {
            converged: true,
            substeps: 0,
            rescued: 0,
            stopped: 0,
            tangled: 0,
            given_way: 0,
            residual: 0.0,
            bend_excess: 0.0,
            ..*report
        };
    }

    /// Whether cloth came near anything in this step, before the guard. In a step that is taken alone,
    /// surfaces are looked at only now, on the way that they are to go: predictions, which know no stiffness,
    /// take neighbours in a mesh nearer to each other.
    pub(super) fn is_near(&mut self, world: &World, state: &State, span: Span) -> bool {
        let Self { threads, old, scratch, obstacle_contacts, .. } = self;
        if !world.has_alone() || !obstacle_contacts.candidates().is_empty() || !scratch.tangle.is_empty() {
            return world.has_alone();
        }
        match (&mut scratch.finder, &world.surface) {
            (Some(finder), Some(surface)) if span.is_alone => {
                !finder.find(threads, surface, &scratch.tangle, [&world.start, old, &state.x]).is_empty()
            }
            (Some(finder), _) => !finder.touching().is_empty(),
            _ => false,
        }
    }
}
