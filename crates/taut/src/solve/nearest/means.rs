//! Points of developable cloth that are no unknowns: each is the mean of two others.
//!
//! Terms see them as vertices. What pulls at one pulls at its ends, half each; in the matrix they do not
//! occur ([`Stiff::ends`](crate::hierarchy::multigrid::Stiff)).

use crate::kernel::lanes::Quad;

/// The means of a filter.
#[derive(Clone, Debug, Default)]
pub struct Means {
    /// Each, and its ends; vertices of the filter.
    list: Vec<(u32, [u32; 2])>,
    /// By vertex: its ends, or itself twice. Empty if there are no means.
    ends: Vec<[u32; 2]>,
}

impl Means {
    /// Those of a filter of `count` vertices.
    pub fn new(list: Vec<(u32, [u32; 2])>, count: usize) -> Self {
        let mut ends: Vec<[u32; 2]> = Vec::new();
        if !list.is_empty() {
            ends.extend((0..count as u32).map(|v| [v; 2]));
            list.iter().for_each(|(mean, own)| ends[*mean as usize] = *own);
        }
        Self { list, ends }
    }

    /// By vertex: its ends, or itself twice. Empty if there are no means.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.list.is_empty()
    }

    /// Whether vertex `i` is one.
    #[inline(always)]
    pub fn is_mean(&self, i: usize) -> bool {
        self.ends.get(i).is_some_and(|[a, b]| a != b)
    }

    /// Puts them where they are.
    pub fn follow(&self, x: &mut [Quad]) {
        for (mean, [a, b]) in &self.list {
            let [a, b] = [x[*a as usize], x[*b as usize]];
            let own = &mut x[*mean as usize];
            (0..3).for_each(|k| own[k] = 0.5 * (a[k] + b[k]));
        }
    }

    /// Gives the residual `r` at them to their ends, as far as these have mass.
    pub fn hand_on(&self, r: &mut [Quad], masses: &[f32]) {
        for (mean, ends) in &self.list {
            let pull = std::mem::replace(&mut r[*mean as usize], [0.0; 4]);
            for end in ends.map(|end| end as usize).into_iter().filter(|end| masses[*end] > 0.0) {
                (0..3).for_each(|k| r[end][k] += 0.5 * pull[k]);
            }
        }
    }
}
