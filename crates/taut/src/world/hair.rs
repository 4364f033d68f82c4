//! Tables of hair: its strands as rods or as springs, and where it is in what they keep.

use std::{ops::Range, sync::Arc};

use crate::{
    HairModel, Ruler, State,
    body::Rest,
    kernel::lanes::Quad,
    strand::Strands,
    strand_springs::{SpringModel, SpringSetup, SpringState, StrandMaterial},
};

/// Damping of the lecture's springs, by what would damp their particles critically.
const DAMPING_RATIO: f64 = 0.05;

/// One hair.
#[derive(Debug)]
pub(crate) struct HairTables {
    /// Its number among all bodies.
    pub body: usize,
    /// Its vertices, of all vertices.
    pub vertices: Range<usize>,
    /// Its part of what strands keep.
    pub kept: Range<usize>,
    /// Its strands as rods: also those of springs are measured by them.
    pub strands: Arc<Strands>,
    /// Its strands as springs, if that is its model.
    pub springs: Option<SpringModel>,
}

/// Tables of all hair of a ruler.
pub(super) fn tables(ruler: &Ruler) -> Vec<HairTables> {
    let mut first = 0;
    let mut all = Vec::new();
    for (body, (described, tables)) in ruler.description.bodies.iter().zip(&ruler.bodies).enumerate() {
        let (Some(hair), Rest::Hair(rest)) = (described.as_hair(), &tables.rest) else { continue };
        let springs = (hair.model == HairModel::Springs).then(|| {
            let material = StrandMaterial {
                density: hair.material.density.into(),
                young: hair.material.young.into(),
                shear: hair.material.shear.into(),
                radius: hair.material.radius.into(),
            };
            let is_rooted = ruler.roots_of(body).is_some();
            let setup = SpringSetup {
                material,
                damping_ratio: DAMPING_RATIO,
                is_rooted,
                seed: ruler.description.seed,
            };
            SpringModel::new(&hair.groom, &setup)
        });
        let count = match &springs {
            Some(springs) => springs.kept_count(),
            None => rest.strands.kept_count(),
        };
        let kept = first..first + count;
        first = kept.end;
        let (vertices, strands) = (tables.vertices.clone(), Arc::clone(&rest.strands));
        all.push(HairTables { body, vertices, kept, strands, springs });
    }
    all
}

impl HairTables {
    /// Fills what strands keep, at the start or where they were put somewhere else.
    pub fn begin(&self, (x, v): (&mut [Quad], &mut [Quad]), kept: &mut [f32]) {
        let kept = &mut kept[self.kept.clone()];
        match &self.springs {
            Some(springs) => springs.begin(SpringState { x, v, kept }),
            None => self.strands.begin(kept),
        }
    }
}

impl State {
    /// Begins what strands keep anew: those of hair number `only`, or of all.
    pub(crate) fn begin_strands(&mut self, hair: &[HairTables], only: Option<usize>) {
        let Self { x, v, strands, .. } = self;
        strands.resize(hair.last().map_or(0, |hair| hair.kept.end), 0.0);
        for hair in hair.iter().filter(|hair| only.is_none_or(|body| hair.body == body)) {
            let own = hair.vertices.clone();
            hair.begin((&mut x[own.clone()], &mut v[own]), strands);
        }
    }
}
