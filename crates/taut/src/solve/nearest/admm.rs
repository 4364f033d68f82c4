//! The ADMM loop: begin, local, gather, precondition, stop, end. It knows no term by name.

use super::{
    filter::Filter,
    memory::Memory,
    ramp::Ramp,
    stop::Stop,
    tuning::{FINISH_EVERY, FINISH_LONG, MEAN_TOLERANCE, STRENGTHEN_EVERY, STRENGTHEN_FROM},
};
use crate::{
    kernel::lanes::Quad,
    limit::{Settings, enforce::Enforced},
    term::{Excess, Iteration, Stage, Stale, Step, obstacle::Surroundings},
};

impl Filter {
    /// Moves the bodies' vertices `x` to about the nearest state within their limits. `kept` goes from step
    /// to step.
    pub fn solve(
        &self,
        settings: &Settings,
        x: &mut [Quad],
        around: Surroundings,
        kept: &mut [f32],
        memory: &mut Memory,
        stop: Stop,
    ) -> Enforced {
        let (step, alone, mut ramp) = self.begin(settings, x, around, kept, memory, &stop);
        let least = memory.least_iterations(&step, stop.least.saturating_add(ramp.more)).min(stop.iterations);
        let mut enforced = Enforced::default();
        for iteration in 0..=stop.iterations {
            self.bring_up_to_date(&step, &mut ramp, memory, iteration);
            let (late, impatient) = (stop.is_late(iteration), ramp.is_impatient());
            let look = iteration >= least || impatient || late;
            for term in &mut memory.terms {
                term.local(&step, x, &ramp.stage, look);
            }
            ramp.count();
            let mut met = false;
            if look {
                let may_finish = alone && iteration >= least;
                let (looked, exhausted) = self.look(&step, x, memory, iteration, may_finish, &ramp.stage);
                enforced = looked;
                ramp.ask(impatient && !enforced.converged);
                met = enforced.converged || exhausted;
                if met && !step.touching && iteration >= least || late || iteration == stop.iterations {
                    break;
                }
            }
            self.gather(settings, x, memory);
            for term in &mut memory.terms {
                term.pull(&step, x, &ramp.stage, memory.cycle.residual());
            }
            if met && iteration >= least && memory.is_settled(&step, x, enforced.converged) {
                break;
            }
            if memory.terms.iter().any(|term| term.stale() == Stale::Now) {
                self.weigh(&step, &ramp.stage, memory);
            }
            self.follow(&step, &ramp.stage, x, memory);
        }
        memory.each_kept(kept, |term, kept| term.end(&step, x, &ramp.stage, kept));
        memory.terms.iter().for_each(|term| term.expel(x));
        enforced
    }

    /// Warm start, and the first stage of the ramp. Also says whether nothing but strains is at stake.
    fn begin<'a>(
        &'a self,
        settings: &'a Settings<'a>,
        x: &mut [Quad],
        around: Surroundings<'a>,
        kept: &mut [f32],
        memory: &mut Memory,
        stop: &Stop,
    ) -> (Step<'a>, bool, Ramp) {
        let tolerance = memory.tolerance(stop.tolerance);
        self.means.follow(x);
        let Memory { terms, goal, .. } = memory;
        goal.copy_from_slice(x);
        terms.iter().for_each(|term| term.set_goal(self, goal));
        let shallow = terms
            .iter()
            .fold(f32::INFINITY, |shallow, term| term.depth_allowed(shallow, self.edge_length, tolerance));
        let touching = terms.iter().any(|term| term.touches());
        let step = Step {
            settings,
            filter: self,
            around,
            tolerance,
            bend_tolerance: stop.bend,
            shallow,
            touching,
            between_surfaces: terms.iter().any(|term| term.is_between_surfaces()),
            is_loaded: terms.iter().any(|term| term.is_load()),
            stiffening: stop.stiffening,
            is_calm: stop.is_calm,
            is_short: stop.is_short,
        };
        memory.each_kept(kept, |term, kept| term.begin(&step, x, kept));
        let terms = &memory.terms;
        let alone = !touching && terms.iter().all(|term| term.allows_finish());
        let mut excess = Excess::default();
        terms.iter().for_each(|term| term.measure(&step, x, 0, &mut excess));
        let wish = terms.iter().rev().find_map(|term| term.opening(&step, x));
        let opening = wish.unwrap_or_else(|| Ramp::opening(&excess, alone));
        let ramp = Ramp::begin(opening, self.stiffness, touching, self.strain.is_implicit());
        memory.each_kept(kept, |term, kept| term.enter(&step, x, kept, &ramp.stage));
        self.weigh(&step, &ramp.stage, memory);
        let Memory { terms, touched, .. } = memory;
        if touching && terms.iter().any(|term| term.has_given_way()) {
            touched.fill(false);
            terms.iter().for_each(|term| term.mark_touched(touched));
            terms.iter_mut().for_each(|term| term.come_back(touched));
        }
        (step, alone, ramp)
    }

    /// The next stage of the ramp, if it is due, and the weights of what has begun to touch or stays inside.
    fn bring_up_to_date(&self, step: &Step, ramp: &mut Ramp, memory: &mut Memory, iteration: u32) {
        if let Some(growth) = ramp.advance() {
            memory.terms.iter_mut().for_each(|term| term.rescale(growth));
            self.weigh(step, &ramp.stage, memory);
        }
        if step.touching && iteration.is_multiple_of(STRENGTHEN_EVERY) {
            let diagonal = self.multigrid.diagonal(ramp.stage.index);
            let mut grown = false;
            for term in memory.terms.iter_mut().filter(|_| iteration >= STRENGTHEN_FROM) {
                grown |= term.strengthen(step, &ramp.stage, diagonal);
            }
            if grown || memory.terms.iter().any(|term| term.stale() == Stale::Waits) {
                self.weigh(step, &ramp.stage, memory);
            }
        }
    }

    /// How far everything is from being met. Lets limits that cannot be met give way; says whether all is met
    /// as far as they have.
    fn look(
        &self,
        step: &Step,
        x: &mut [Quad],
        memory: &mut Memory,
        number: u32,
        may_finish: bool,
        stage: &Stage,
    ) -> (Enforced, bool) {
        let (terms, tolerance) = (&mut memory.terms, step.tolerance);
        let mut excess = Excess::default();
        terms.iter().for_each(|term| term.measure(step, x, number, &mut excess));
        let even = excess.mean() <= MEAN_TOLERANCE * tolerance;
        let mut within =
            even && excess.worst <= tolerance && excess.bend <= step.bend_tolerance && !excess.unmet;
        let often = number < FINISH_LONG || number.is_multiple_of(FINISH_EVERY);
        if even && !within && may_finish && often {
            within = terms.iter_mut().any(|term| term.finish(step, x, number));
        }
        let mut weaker = false;
        for term in terms.iter_mut() {
            weaker |= term.give_way(step, Iteration { number, within });
        }
        let residual = if within { excess.worst.min(tolerance) } else { excess.worst };
        let exhausted = !within
            && excess.is_met_after_giving_way(step, number)
            && terms.iter().all(|term| term.is_exhausted(step));
        let given_way = terms.iter().map(|term| term.given_way(step)).sum();
        if weaker {
            self.weigh(step, stage, memory);
        }
        let bend = excess.bend;
        (Enforced { iterations: number, residual, bend, converged: within, given_way }, exhausted)
    }
}
