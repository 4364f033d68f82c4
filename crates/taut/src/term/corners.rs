//! Pulls of elements at their corners, and how they are summed at each vertex in a fixed order.

use super::curvature::CurvaturePulls;
use crate::kernel::{
    lanes::{BATCH, Lanes, Quad},
    real::V3,
};

/// Pulls of the elements of a batch at their corners.
pub type Pulls<const K: usize = 3> = [[Quad; BATCH]; K];

/// Writes the pulls at one corner.
#[inline(always)]
pub(crate) fn put<L: Lanes>(pulls: &mut [Quad; BATCH], at: usize, pull: V3<L>) {
    L::store_quads(pulls, at, [pull[0], pull[1], pull[2], L::splat(0.0)]);
}

/// Corners of elements at each vertex, as places in the pulls of all batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corners {
    starts: Vec<u32>,
    places: Vec<u32>,
}

impl Corners {
    /// Corners of `elements` at each of `count` vertices.
    pub fn new<const K: usize>(count: usize, elements: &[[u32; K]]) -> Self {
        let mut starts = vec![0u32; count + 1];
        for v in elements.iter().flatten() {
            starts[*v as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut places = vec![0; K * elements.len()];
        for (e, vertices) in elements.iter().enumerate() {
            for (k, v) in vertices.iter().enumerate() {
                let at = &mut next[*v as usize];
                places[*at as usize] = ((e / BATCH * K + k) * BATCH + e % BATCH) as u32;
                *at += 1;
            }
        }
        Self { starts, places }
    }

    /// Places of vertex `i`.
    #[inline(always)]
    pub fn of(&self, i: usize) -> &[u32] {
        &self.places[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// Elements at each vertex, and the part that the vertex has in the pull of each: for elements that pull at
/// all their corners in one direction. A quarter of the memory of [`Pulls`], which vertices read in every
/// iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightedCorners {
    starts: Vec<u32>,
    /// Numbers of elements, in ascending order, and weights.
    places: Vec<(u32, f32)>,
}

impl WeightedCorners {
    /// Corners of `elements` at each of `count` vertices, with the weights of these.
    pub fn new<const K: usize>(count: usize, elements: &[[u32; K]], weights: &[[f32; K]]) -> Self {
        let Corners { starts, places } = Corners::new(count, elements);
        let weighted = |place: u32| {
            let (block, lane) = (place as usize / BATCH, place as usize % BATCH);
            let e = block / K * BATCH + lane;
            (e as u32, weights[e][block % K])
        };
        Self { starts, places: places.into_iter().map(weighted).collect() }
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Elements and weights of vertex `i`.
    #[inline(always)]
    pub fn of(&self, i: usize) -> &[(u32, f32)] {
        &self.places[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// Pulls that wait to be gathered.
#[derive(Clone, Copy, Debug)]
pub enum Pulling<'a> {
    /// At the corners of elements.
    Corners(&'a Corners, &'a [Quad]),
    /// Of elements, shared out among their corners.
    Weighted(&'a WeightedCorners, &'a [Quad]),
    /// The same, of which only some batches of [`BATCH`] elements pull at all, and only at some vertices.
    Some { corners: &'a WeightedCorners, pulls: &'a [Quad], pulling: &'a [bool], pulled: &'a [bool] },
    /// At vertices.
    Vertices(&'a [Quad]),
    /// Linear in the positions.
    Rows(CurvaturePulls<'a>),
}

impl<'a> Pulling<'a> {
    /// Pulls of batches, with their places at each vertex.
    pub fn new<const K: usize>(corners: &'a Corners, pulls: &'a [Pulls<K>]) -> Self {
        Self::Corners(corners, pulls.as_flattened().as_flattened())
    }

    /// Pulls of elements of batches; with `some`, only of those batches for which its first says so, at
    /// vertices for which its second does.
    pub fn weighted(
        corners: &'a WeightedCorners,
        pulls: &'a [[Quad; BATCH]],
        some: Option<[&'a [bool]; 2]>,
    ) -> Self {
        let pulls = pulls.as_flattened();
        match some {
            None => Self::Weighted(corners, pulls),
            Some([pulling, pulled]) => Self::Some { corners, pulls, pulling, pulled },
        }
    }

    /// Adds those at vertex `i` to `sum`, in the order of the elements.
    #[inline(always)]
    pub fn add(&self, i: usize, sum: &mut Quad) {
        match self {
            Self::Corners(corners, pulls) => {
                for &c in corners.of(i) {
                    let pull = &pulls[c as usize];
                    for k in 0..4 {
                        sum[k] += pull[k];
                    }
                }
            }
            Self::Weighted(corners, pulls) => {
                corners.of(i).iter().for_each(|&(e, weight)| add_part(weight, &pulls[e as usize], sum));
            }
            Self::Some { pulled, .. } if !pulled[i] => {}
            Self::Some { corners, pulls, pulling, .. } => {
                let all = corners.of(i).iter().filter(|(e, _)| pulling[*e as usize / BATCH]);
                all.for_each(|&(e, weight)| add_part(weight, &pulls[e as usize], sum));
            }
            Self::Vertices(pulls) => (0..3).for_each(|k| sum[k] += pulls[i][k]),
            Self::Rows(rows) => rows.add(i, sum),
        }
    }
}

#[inline(always)]
fn add_part(weight: f32, pull: &Quad, sum: &mut Quad) {
    for k in 0..4 {
        sum[k] += weight * pull[k];
    }
}
