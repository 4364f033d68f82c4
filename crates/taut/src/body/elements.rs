//! Elements of all bodies in the engine's order of vertices, while they are collected.

use std::ops::Range;

use crate::{
    element::{
        edge::EdgeElement, hinge::BendElement, shares, tetrahedron::TetrahedronElement,
        triangle::StrainElement,
    },
    term::{bending::FoldElement, curvature::CurvatureElement, jump::JumpElement},
    velocity::{
        bending::HingeElement, fem::MembraneElement, fem_tetrahedron::SolidElement, spring::SpringElement,
    },
};

/// Elements of all bodies, while they are collected.
#[derive(Default)]
pub(crate) struct Elements {
    pub strain: Vec<StrainElement>,
    /// Rest areas of `strain` \[m²\].
    pub areas: Vec<f64>,
    /// Cosine and sine of twice the angle of their warp from the first edge.
    pub warps: Vec<[f32; 2]>,
    pub tetrahedra: Vec<TetrahedronElement>,
    /// Rest volumes of `tetrahedra` \[m³\].
    pub volumes: Vec<f64>,
    pub solids: Vec<SolidElement>,
    pub edges: Vec<EdgeElement>,
    /// Edges and hinges with limits, and edges with forces, of cloth of the edge model.
    pub model_edges: Vec<EdgeElement>,
    pub model_bends: Vec<BendElement>,
    pub springs: Vec<SpringElement>,
    pub bends: Vec<BendElement>,
    pub membrane: Vec<MembraneElement>,
    pub hinges: Vec<HingeElement>,
    /// Hinges that bend inside the filter.
    pub folds: Vec<FoldElement>,
    /// Curvatures that bend inside the filter.
    pub curvatures: Vec<CurvatureElement>,
    /// Jumps of nonconforming triangles.
    pub jumps: Vec<JumpElement>,
    /// Points that are the means of two others, and these.
    pub means: Vec<(u32, [u32; 2])>,
    /// Hinges across seams, which act while these are closed.
    pub seam_folds: Vec<FoldElement>,
    /// Bound on ω² of theirs \[1/s²\]; 0 if they bend inside the filter.
    pub seam_frequency: f64,
    /// What of all these belongs to each body.
    pub ranges: Vec<Ranges>,
    pub membrane_frequency: f64,
    pub hinge_frequency: f64,
    /// Whether they are for an implicit integrator.
    pub is_implicit: bool,
    /// Whether limits of segments of particles are elements: for schemes that sweep.
    pub limits_segments: bool,
    /// Gravity \[m/s²\], with which hair that is free of sag is in balance.
    pub gravity: glam::Vec3,
    pub edge_length_sum: f64,
    pub edge_count: usize,
}

/// Elements of one body, of those of all.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    pub strain: Range<usize>,
    pub tetrahedra: Range<usize>,
    pub bends: Range<usize>,
    pub folds: Range<usize>,
    pub curvatures: Range<usize>,
    pub jumps: Range<usize>,
}

impl Elements {
    /// What has been added since there were `before` of each.
    pub fn since(&self, before: [usize; 6]) -> Ranges {
        let [strain, tetrahedra, bends, folds, curvatures, jumps] = before;
        let now = self.counts();
        Ranges {
            strain: strain..now[0],
            tetrahedra: tetrahedra..now[1],
            bends: bends..now[2],
            folds: folds..now[3],
            curvatures: curvatures..now[4],
            jumps: jumps..now[5],
        }
    }

    pub fn counts(&self) -> [usize; 6] {
        let Self { strain, tetrahedra, bends, folds, curvatures, jumps, .. } = self;
        [strain.len(), tetrahedra.len(), bends.len(), folds.len(), curvatures.len(), jumps.len()]
    }
}

/// Weights of Jacobi corrections. Triangles, edges and hinges of a vertex count together: their corrections
/// are summed.
pub(crate) fn share_out(elements: &mut Elements, vertex_count: usize) {
    let Elements { strain, edges, bends, tetrahedra, .. } = elements;
    let kinds = [strain.is_empty(), edges.is_empty(), bends.is_empty()].iter().filter(|none| !**none).count();
    let part = 1.0 / kinds.max(1) as f32;
    let own = shares(vertex_count, bends);
    bends.iter_mut().zip(own).for_each(|(element, share)| element.share = share * part);
    let own = shares(vertex_count, strain);
    strain.iter_mut().zip(own).for_each(|(element, share)| element.share = share * part);
    let own = shares(vertex_count, edges);
    edges.iter_mut().zip(own).for_each(|(element, share)| element.share = share * part);
    let own = shares(vertex_count, tetrahedra);
    tetrahedra.iter_mut().zip(own).for_each(|(element, share)| element.share = share);
}
