//! From rest tables and elements to the tables of a world: colours, forces, filters, levels, surface.

use std::sync::OnceLock;

use super::{
    HierarchyCache, Pace, World,
    filters::{Seams, build_filters},
    hair,
    law::TimeStep,
    sewing::joined,
};
use crate::{
    Description, Model, Schedule, Scheme, WorldError,
    body::{
        BodyTables, cloth,
        elements::{Elements, share_out},
        in_order, solid,
    },
    boundary::{mesh_obstacle::MeshObstacle, seam::Sewing},
    contact::surface::Surface,
    element::{
        colored,
        set::{ElementSets, LimitedElements, Quantity, Triangles},
    },
    limit::{aim::Aim, edge_model::EdgeModelTables},
    measure::Ruler,
    pbd::PbdTables,
    schedule,
    velocity::{air::Gusts, update::Forces},
};

/// Builds a world, or says what is wrong with its description.
pub(super) fn build(description: Description, cache: &HierarchyCache) -> Result<World, WorldError> {
    let (ruler, mut elements) = Ruler::assemble(description, cache)?;
    let count = ruler.vertex_count;
    let spare = count as u32;
    let Ruler { description, bodies, pins, sewing, .. } = &ruler;
    let aim = Aim::new(description);
    aim.narrow(&mut elements);
    share_out(&mut elements, count);
    let forces = forces(&ruler, &elements);
    let schedules = std::iter::once(ruler.schedule).chain(ruler.schedule.while_alone());
    let mut paces: Vec<Pace> = Vec::new();
    for schedule in schedules {
        paces.push(pace(&ruler, &elements, schedule, (cache, paces.first())));
    }
    let edge_model = edge_model(&ruler, &elements, cache);
    let levels = cloth::levels::levels(description, bodies, pins, cache)?;
    let solid_levels = solid::levels::levels(description, bodies, pins);
    let bend_triangles = cloth::levels::bend_triangles(description, bodies);
    let touches = schedule::touches_meshes(description);
    let surface = touches.then(|| surface(description, bodies, sewing, ruler.fixtures.start));
    Ok(World {
        aim,
        surface,
        paces,
        levels,
        edge_model,
        pbd: PbdTables::new(&ruler),
        solid_levels,
        judges: OnceLock::new(),
        bend_triangles,
        elements: ElementSets {
            triangles: Triangles::new(spare, elements.strain),
            tetrahedra: LimitedElements::new("tetrahedra", Quantity::Strain, spare, elements.tetrahedra),
            edges: LimitedElements::new("edges", Quantity::Strain, spare, elements.edges),
            hinges: LimitedElements::new("hinges", Quantity::Bend, spare, elements.bends),
            more: Vec::new(),
        },
        forces,
        hair: hair::tables(&ruler),
        gusts: Gusts::new(description.seed),
        ruler,
    })
}

/// Tables for steps of one length, which share what they can with those of another.
fn pace(
    ruler: &Ruler,
    elements: &Elements,
    schedule: Schedule,
    (cache, like): (&HierarchyCache, Option<&Pace>),
) -> Pace {
    let Ruler { description, bodies, sewing, .. } = ruler;
    let dt = description.frame_time / schedule.steps_per_frame as f32;
    let (filters, welded) = if description.solver.scheme == Scheme::Nearest {
        build_filters(
            (description, cache),
            (bodies, &ruler.bags),
            elements,
            Seams { sewing, folds: &elements.seam_folds, springs: &ruler.springs },
            &ruler.start,
            ruler.edge_length,
            (TimeStep::new(description, &schedule), like),
        )
    } else {
        Default::default()
    };
    Pace { schedule, dt, filters, welded }
}

/// Elements with forces.
fn forces(ruler: &Ruler, elements: &Elements) -> Forces {
    let Ruler { description, vertex_count, .. } = ruler;
    let (count, spare) = (*vertex_count, *vertex_count as u32);
    let is_elastic = ruler.schedule.is_implicit();
    let folds = elements.seam_folds.iter();
    let seam_hinges: Vec<_> = folds.filter(|_| !is_elastic).map(|fold| fold.hinge).collect();
    Forces {
        membrane: colored(count, spare, &elements.membrane),
        hinges: colored(count, spare, &elements.hinges),
        seam_hinges: colored(count, spare, &seam_hinges),
        membrane_frequency: elements.membrane_frequency,
        hinge_frequency: elements.hinge_frequency.max(elements.seam_frequency),
        stretches: description.cloths().any(|cloth| cloth.model == Model::Fem),
        springs: colored(count, spare, &elements.springs),
        solids: colored(count, spare, &elements.solids),
        viscosity: schedule::viscosity(description),
        is_elastic,
    }
}

/// What cloth of the edge model is limited by.
fn edge_model(ruler: &Ruler, elements: &Elements, cache: &HierarchyCache) -> EdgeModelTables {
    let (count, spare) = (ruler.vertex_count, ruler.vertex_count as u32);
    EdgeModelTables {
        edges: colored(count, spare, &elements.model_edges),
        bends: colored(count, spare, &elements.model_bends),
        bodies: cloth::levels::edge_bodies(&ruler.description, &ruler.bodies, &ruler.pins, cache),
    }
}

/// All triangles in the engine's order of vertices; those of mesh obstacles begin at `fixed_from`.
fn surface(description: &Description, bodies: &[BodyTables], sewing: &Sewing, fixed_from: usize) -> Surface {
    let (mut triangles, mut rest) = (Vec::new(), Vec::with_capacity(fixed_from));
    for (body, described) in bodies.iter().zip(&description.bodies) {
        rest.extend(body.order().iter().map(|&v| described.rest_positions()[v as usize]));
        let place = in_order(body.order(), body.vertices.start);
        triangles.extend(body.surface.iter().map(|t| t.map(|v| place[v as usize])));
    }
    let mut radius = vec![0.5 * description.contact.thickness; fixed_from];
    let mut friction = vec![description.contact.friction; fixed_from];
    for obstacle in &description.mesh_obstacles {
        let first = radius.len() as u32;
        // Faces that name a vertex twice are edges of their neighbours, and have no side.
        let faces = obstacle.triangles.iter().filter(|[a, b, c]| a != b && b != c && c != a);
        triangles.extend(faces.map(|t| t.map(|v| first + v)));
        radius.resize(radius.len() + obstacle.vertex_count(), obstacle.margin);
        friction.resize(radius.len(), obstacle.friction);
    }
    let mut identity: Vec<u32> = (0..radius.len() as u32).collect();
    identity[..sewing.identity.len()].copy_from_slice(&sewing.identity);
    let mut garment = vec![0; radius.len()];
    for (number, sewn) in (0..).zip(joined(sewing, bodies)) {
        let vertices = bodies[sewn.start].vertices.start..bodies[sewn.end - 1].vertices.end;
        garment[vertices].fill(number);
    }
    Surface {
        identity,
        fixed_from: fixed_from as u32,
        rest,
        between_cloth: description.contact.thickness > 0.0,
        obstacles_move: description.mesh_obstacles.iter().any(MeshObstacle::is_moving),
        radius,
        friction,
        garment,
        ..Surface::new(triangles)
    }
}
