//! Levels of cloth, for schemes that limit coarser levels too.

use glam::Vec3;

use super::validate::invalid;
use crate::{
    Cloth, Description, EdgeModel, Limit, Scheme, WorldError,
    body::{
        BodyTables, PinnedVertex, cloths,
        levels::{depth, own_pins, places},
    },
    element::hinge::allowed_angles,
    hierarchy::{
        Hierarchy, Options,
        fit::{self, Method, Refit},
    },
    kernel::dihedral::dihedral,
    limit::{
        aim::Aim,
        bend_paper::{self, BendTriangle, corner_angles},
        edge_model::EdgeBody,
        levels::{
            edges::EdgeLimits,
            parts::{Bare, Leveled, Parts},
            tables::{ElementLimits, TriangleLimits},
        },
    },
    mesh::adjacency::Adjacency,
    world::HierarchyCache,
};

/// Coarse levels of all bodies with limits on their triangles or hinges, if the scheme asks for them.
pub(crate) fn levels(
    description: &Description,
    bodies: &[BodyTables],
    pins: &[PinnedVertex],
    cache: &HierarchyCache,
) -> Result<Vec<Leveled<TriangleLimits>>, WorldError> {
    let Some(depth) = depth(&description.solver) else { return Ok(Vec::new()) };
    let mut levels = Vec::new();
    let aim = Aim::new(description);
    for (cloth, body) in cloths(description, bodies).filter(|(cloth, _)| limited(cloth)) {
        let (hierarchy, limits) = limited_levels(cloth, body, depth, aim, cache)?;
        levels.push(Leveled::new(parts(cloth, body, hierarchy, pins, limits)));
    }
    Ok(levels)
}

/// At most `depth` levels of a cloth, and what is aimed at within their limits.
pub(crate) fn limited_levels(
    cloth: &Cloth,
    body: &BodyTables,
    depth: usize,
    aim: Aim,
    cache: &HierarchyCache,
) -> Result<(Hierarchy, TriangleLimits), WorldError> {
    let mut hierarchy = cache.hierarchy(&cloth.mesh, &Options::default());
    hierarchy.levels.truncate(depth);
    let mut levels = coarse_limits(cloth, &hierarchy)?;
    for range in levels.iter_mut().flat_map(|level| &mut level.strain) {
        *range = aim.inside(*range);
    }
    let method = cloth.coarse.as_ref().map(|coarse| coarse.method).unwrap_or_default();
    let refit = refit(cloth, body, [cloth.strain_bounds(), cloth.bend], method);
    Ok((hierarchy, TriangleLimits { levels, refit, aim }))
}

/// What fits elements of levels again, by limits on strain and bend.
fn refit(cloth: &Cloth, body: &BodyTables, limits: [Limit; 2], method: Method) -> Refit {
    Refit::new(rest(cloth, body), own_triangles(cloth, body), limits, method)
}

/// Rest positions in the engine's order \[m\].
fn rest(cloth: &Cloth, body: &BodyTables) -> Vec<Vec3> {
    body.order().iter().map(|&v| cloth.mesh.positions[v as usize]).collect()
}

/// What the levels of a cloth are made from.
fn parts<L>(
    cloth: &Cloth,
    body: &BodyTables,
    hierarchy: Hierarchy,
    pins: &[PinnedVertex],
    limits: L,
) -> Parts<L> {
    Parts {
        vertices: body.vertices.clone(),
        bare: Bare::of_cloth(hierarchy.reordered(body.order()), &own_triangles(cloth, body)),
        rest: rest(cloth, body),
        masses: body.order().iter().map(|&v| body.masses[v as usize]).collect(),
        pins: own_pins(body, pins),
        limits,
    }
}

/// Triangles of a cloth, of vertices within it in the engine's order.
fn own_triangles(cloth: &Cloth, body: &BodyTables) -> Vec<[u32; 3]> {
    let place = places(body);
    cloth.mesh.triangles.iter().map(|t| t.map(|v| place[v as usize])).collect()
}

/// Levels of all cloth of the edge model, the cloth itself not counted, about as coarse at the last as the
/// second paper shows them.
pub(crate) fn edge_bodies(
    description: &Description,
    bodies: &[BodyTables],
    pins: &[PinnedVertex],
    cache: &HierarchyCache,
) -> Vec<EdgeBody> {
    let aim = Aim::new(description);
    let of_model = cloths(description, bodies).filter_map(|both| Some((both, both.0.model.edge()?)));
    of_model
        .map(|((cloth, body), EdgeModel { levels, iterations })| {
            let (hierarchy, limits) = edge_levels(cloth, body, levels as usize - 1, aim, cache);
            EdgeBody {
                leveled: Leveled::new(parts(cloth, body, hierarchy, pins, limits)),
                triangles: own_triangles(cloth, body),
                iterations,
            }
        })
        .collect()
}

/// At most `depth` levels of a cloth of the edge model, and their limits.
pub(crate) fn edge_levels(
    cloth: &Cloth,
    body: &BodyTables,
    depth: usize,
    aim: Aim,
    cache: &HierarchyCache,
) -> (Hierarchy, EdgeLimits) {
    let mut hierarchy = cache.hierarchy(&cloth.mesh, &EdgeModel::options());
    hierarchy.levels.truncate(depth);
    let bounds = fit::bounds(&cloth.mesh, &hierarchy, cloth.edge, Limit::default());
    let stretches =
        bounds.levels.iter().map(|level| level.strain.iter().map(|r| aim.inside(*r).max).collect());
    let stretches = stretches.collect();
    let refit = refit(cloth, body, [cloth.edge, Limit::default()], Method::Bounds);
    (hierarchy, EdgeLimits { stretches, refit, aim })
}

fn limited(cloth: &Cloth) -> bool {
    cloth.model.edge().is_none() && (cloth.limits_strain() || cloth.bend.is_some())
}

/// Limits of the levels of a cloth: those it brings, or the closed-form bounds. Coarse triangles are limited
/// alike in all directions: where the cloth's limits differ, by the loosest, so that no state that its own
/// limits allow is refused.
fn coarse_limits(cloth: &Cloth, hierarchy: &Hierarchy) -> Result<Vec<ElementLimits>, WorldError> {
    let bounds;
    let coarse = match &cloth.coarse {
        Some(coarse) => coarse,
        None => {
            bounds = fit::bounds(&cloth.mesh, hierarchy, cloth.strain_bounds(), cloth.bend);
            &bounds
        }
    };
    let mut all = Vec::new();
    for (k, level) in hierarchy.levels.iter().enumerate() {
        let triangles = &level.mesh.triangles;
        let adjacency = Adjacency::new(triangles);
        let fitting = coarse
            .levels
            .get(k)
            .filter(|l| l.strain.len() == triangles.len() && l.bend.len() == adjacency.hinges.len());
        let Some(limits) = fitting else {
            let problem = format!(
                "its coarse limits do not fit level {}, which has {} triangles and {} hinges",
                k + 1,
                triangles.len(),
                adjacency.hinges.len()
            );
            return Err(invalid(cloth, problem));
        };
        all.push(ElementLimits {
            strain: limits.strain.clone(),
            bend: corner_angles(triangles, &adjacency, &limits.bend),
        });
    }
    Ok(all)
}

/// Triangles of level 0 with limited angles, for the paper's scheme.
pub(crate) fn bend_triangles(description: &Description, bodies: &[BodyTables]) -> Vec<BendTriangle> {
    if description.solver.scheme != Scheme::Paper {
        return Vec::new();
    }
    let mut all = Vec::new();
    let bent = |cloth: &Cloth| cloth.bend.is_some() && limited(cloth);
    for (cloth, body) in cloths(description, bodies).filter(|(cloth, _)| bent(cloth)) {
        let mesh = &cloth.mesh;
        let adjacency = Adjacency::new(&mesh.triangles);
        let angles: Vec<[f32; 2]> = adjacency
            .hinges
            .iter()
            .map(|hinge| {
                let d = dihedral(&hinge.map(|v| mesh.positions[v as usize].as_dvec3().to_array()));
                let rest = 2.0 * d.sin_half.atan2(d.cos_half);
                allowed_angles(cloth.bend, rest, d.heights).map(|a| a as f32)
            })
            .collect();
        let ranges = corner_angles(&mesh.triangles, &adjacency, &angles);
        let place = places(body);
        let first = body.vertices.start as u32;
        let triangles: Vec<_> = mesh.triangles.iter().map(|t| t.map(|v| first + place[v as usize])).collect();
        all.extend(bend_paper::bend_triangles(&triangles, &ranges));
    }
    all
}
