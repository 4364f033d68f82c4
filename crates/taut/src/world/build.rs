//! From a description to the tables of a world: vertex order, masses, elements, colours.

use std::{ops::Range, sync::OnceLock};

use super::{
    Body, BodyTables, Cloth, Description, EdgeModel, Known, Limit, Model, PinnedVertex, Scheme, World,
    WorldError, cloths, coarse, elastic,
    filters::{Seams, build_filters},
    imperfection, sewing,
};
use crate::{
    boundary::{
        attachment::{self, Attachment},
        mesh_obstacle::MeshObstacle,
        pin::Pin,
        seam::Sewing,
    },
    certificate::RestShape,
    contact::{inside::ClosedMesh, surface::Surface},
    element::{
        colored,
        edge::EdgeElement,
        hinge::{BendElement, RestBend, allowed_angles},
        set::{ElementSets, LimitedElements, Quantity, Triangles},
        shares,
        tetrahedron::TetrahedronElement,
        triangle::StrainElement,
    },
    kernel::{
        dihedral::dihedral,
        lanes::{Quad, VertexOffset},
        svd2::rest_inverse,
    },
    limit::edge_model::EdgeModelTables,
    mesh::{adjacency::Adjacency, reorder::locality_order},
    term::bending::FoldElement,
    velocity::{
        air::Gusts,
        bending::{HingeElement, RestHinge, hinge_frequency},
        fem::{MembraneElement, membrane_frequency, moduli},
        fem_tetrahedron::SolidElement,
        spring::{RestSpring, SpringElement, spring_frequency, spring_stiffness},
        update::Forces,
    },
};

/// Substeps of the velocity update after which limits are to act again, where the number of steps is chosen.
/// With 12 a stretched sheet is calm, with 24 it shakes.
const SUBSTEPS_A_STEP: u32 = 12;

/// Steps a frame where cloth touches: what touches is looked for once a step.
const STEPS_WITH_CONTACT: u32 = 4;

/// Steps a frame where cloth touches nothing but rigid bodies: how far these are from where they should be
/// makes more of a velocity in shorter steps.
const STEPS_WITH_BODIES: u32 = 2;

/// Steps a frame of cloth of the edge model, if it has enough iterations for that. Of a sheet of 1600
/// vertices, hung by two corners within ±10 %, edges at the corners are stretched by up to 12 % then, with 50
/// iterations a frame on each of four levels; by 14 % with 10 steps, which take three quarters of the time.
const STEPS_OF_EDGES: u32 = 15;

/// Least iterations on each level in a step of such cloth: with a single one it trembles.
const ITERATIONS_A_STEP: u32 = 2;

/// Sine of half a hinge's bend up to which a rest shape counts as flat.
const FLAT: f64 = 1e-3;

/// Whether limits are enforced over levels, all of them, and with nothing in the way: obstacles need short
/// steps too. With contact the filter is elastic itself, and [`STEPS_WITH_CONTACT`] says how many.
fn over_levels(description: &Description) -> bool {
    let solid = !description.obstacles.is_empty() || !description.rigid_bodies.is_empty();
    if solid || !description.mesh_obstacles.is_empty() {
        return false;
    }
    let levels = matches!(description.solver.scheme, Scheme::Nearest | Scheme::Cycle | Scheme::Paper);
    // Forces alone do not hold cloth without limits together over steps as long as a frame.
    levels && !description.cloths().any(|cloth| cloth.edge.is_some() || !cloth.limits_strain())
}

/// Whether stretching inside the limits and bending are left to the filter.
pub(super) fn elastic_inside(description: &Description) -> bool {
    let touching = between_meshes(description) || !description.rigid_bodies.is_empty();
    // Solids are far too stiff for explicit steps of a useful length.
    (touching || description.solids().next().is_some()) && description.solver.scheme == Scheme::Nearest
}

/// Whether cloth keeps off cloth or off meshes.
fn between_meshes(description: &Description) -> bool {
    description.contact.thickness > 0.0 || !description.mesh_obstacles.is_empty()
}

/// Elements of all bodies, while they are collected.
#[derive(Default)]
pub(super) struct Elements {
    pub strain: Vec<StrainElement>,
    /// Rest areas of `strain` \[m²\].
    pub areas: Vec<f64>,
    pub tetrahedra: Vec<TetrahedronElement>,
    /// Rest volumes of `tetrahedra` \[m³\].
    pub volumes: Vec<f64>,
    pub solids: Vec<SolidElement>,
    edges: Vec<EdgeElement>,
    /// Edges and hinges with limits, and edges with forces, of cloth of the edge model.
    model_edges: Vec<EdgeElement>,
    model_bends: Vec<BendElement>,
    springs: Vec<SpringElement>,
    pub bends: Vec<BendElement>,
    membrane: Vec<MembraneElement>,
    hinges: Vec<HingeElement>,
    /// Hinges that bend inside the filter.
    pub folds: Vec<FoldElement>,
    /// What of all these belongs to each body.
    pub ranges: Vec<Ranges>,
    pub membrane_frequency: f64,
    hinge_frequency: f64,
    pub edge_length_sum: f64,
    pub edge_count: usize,
}

/// Elements of one body, of those of all.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    pub strain: Range<usize>,
    pub tetrahedra: Range<usize>,
    pub bends: Range<usize>,
    pub folds: Range<usize>,
}

impl Elements {
    /// What has been added since there were `before` of each.
    fn since(&self, before: [usize; 4]) -> Ranges {
        let [strain, tetrahedra, bends, folds] = before;
        let now = self.counts();
        Ranges {
            strain: strain..now[0],
            tetrahedra: tetrahedra..now[1],
            bends: bends..now[2],
            folds: folds..now[3],
        }
    }

    fn counts(&self) -> [usize; 4] {
        [self.strain.len(), self.tetrahedra.len(), self.bends.len(), self.folds.len()]
    }
}

/// Builds a world, or says what is wrong with its description.
pub(super) fn build(description: Description, known: &Known) -> Result<World, WorldError> {
    check(&description)?;
    let of_obstacles: usize = description.mesh_obstacles.iter().map(MeshObstacle::vertex_count).sum();
    let of_bodies = description.bodies.iter().map(|body| body.rest_positions().len());
    check_vertex_count(of_bodies.chain([of_obstacles]))?;
    let mut elements = Elements::default();
    let mut bodies = Vec::new();
    let mut start: Vec<Quad> = Vec::new();
    let mut pins: Vec<PinnedVertex> = Vec::new();
    let mut motions = Vec::new();
    for (number, described) in description.bodies.iter().enumerate() {
        let first = start.len();
        let (length, count, before) = (elements.edge_length_sum, elements.edge_count, elements.counts());
        let implicit = elastic_inside(&description);
        let body = match described {
            Body::Cloth(cloth) => add_body(cloth, first, implicit, &mut elements)?,
            Body::Solid(solid) => elastic::add_solid(solid, first, implicit, &mut elements)?,
        };
        elements.ranges.push(elements.since(before));
        let edge = (elements.edge_length_sum - length) / (elements.edge_count - count).max(1) as f64;
        let place = in_order(&body.order, first);
        let begins = match described {
            Body::Cloth(cloth) => imperfection::start(cloth, edge as f32, number as u64, &description),
            Body::Solid(solid) => solid.start.clone(),
        };
        start.extend(body.order.iter().map(|&v| {
            let p = begins[v as usize];
            [p.x, p.y, p.z, (1.0 / body.masses[v as usize]) as f32]
        }));
        for pin in described.pins() {
            let mut attached = attachments(&description, described, pin)?.into_iter();
            pins.extend(pin.vertices.iter().map(|&v| PinnedVertex {
                vertex: place[v as usize],
                start: described.start()[v as usize],
                motion: motions.len() as u32,
                frames: pin.frames(description.frame_time),
                attachment: attached.next(),
            }));
            motions.push(pin.motion.clone());
        }
        bodies.push(body);
    }
    pins.sort_by_key(|p| p.vertex);

    let vertex_count = start.len();
    let total: f64 = bodies.iter().flat_map(|b| &b.masses).sum();
    // A world without bodies has no masses and no edges to scale by.
    let (mean, edge_length) = if vertex_count == 0 {
        (1.0, 1.0)
    } else {
        (total / vertex_count as f64, elements.edge_length_sum / elements.edge_count.max(1) as f64)
    };
    let unit = 1.0 / (mean * edge_length * edge_length);
    for quad in &mut start {
        quad[3] = (f64::from(quad[3]) / unit) as f32;
    }
    let mut inverse_masses: Vec<f32> = start.iter().map(|quad| quad[3]).collect();
    inverse_masses.resize(vertex_count + 1 + of_obstacles, 0.0);
    for pin in pins.iter().filter(|pin| pin.frames.contains(&0)) {
        start[pin.vertex as usize][3] = 0.0;
    }
    let sewing = sewing::sewing(&description, &bodies, edge_length as f32)?;
    sewing.close(&mut start);
    // A spare vertex at the end is where batches point with the lanes that they have left.
    let spare = vertex_count as u32;
    start.push([0.0; 4]);
    let fixtures = start.len()..start.len() + of_obstacles;
    start.resize(fixtures.end, [0.0; 4]);

    share_out(&mut elements, vertex_count);
    let (seam_folds, seam_frequency) = sewing::hinges(&description, &bodies, &sewing);
    let inside = elastic_inside(&description);
    let seam_hinges: Vec<_> = seam_folds.iter().filter(|_| !inside).map(|fold| fold.hinge).collect();
    let seam_frequency = if inside { 0.0 } else { seam_frequency };
    let forces = Forces {
        membrane: colored(vertex_count, spare, &elements.membrane),
        hinges: colored(vertex_count, spare, &elements.hinges),
        seam_hinges: colored(vertex_count, spare, &seam_hinges),
        membrane_frequency: elements.membrane_frequency,
        hinge_frequency: elements.hinge_frequency.max(seam_frequency),
        stretches: description.cloths().any(|cloth| cloth.model == Model::Fem),
        springs: colored(vertex_count, spare, &elements.springs),
        solids: colored(vertex_count, spare, &elements.solids),
        viscosity: description
            .bodies
            .iter()
            .map(|body| match body {
                Body::Cloth(cloth) => cloth.material.viscosity,
                Body::Solid(solid) => solid.material.viscosity,
            })
            .fold(0.0, |largest, viscosity| f64::max(largest, viscosity.into())),
        inside,
    };
    let steps_per_frame = match description.solver.steps_per_frame {
        0 if let Some(most) = most_edge_iterations(&description) => {
            (most / ITERATIONS_A_STEP).clamp(1, STEPS_OF_EDGES)
        }
        0 if over_levels(&description) || elastic_inside(&description) => {
            let crumples = cloths(&description, &bodies).any(|(cloth, body)| {
                let lower = cloth.strain.min.is_some()
                    || cloth.weave.as_ref().is_some_and(|weave| weave.warp.min.is_some());
                lower && body.hinges.iter().any(|hinge| hinge.rest_sin_half.abs() > FLAT)
            });
            // Cloth should not fall further than its own size in a step.
            let size = bodies.iter().map(BodyTables::size).fold(f64::INFINITY, f64::min).max(1e-9);
            let fall =
                f64::from(description.frame_time) * (f64::from(description.gravity.length()) / size).sqrt();
            let meets_solids = description.solids().next().is_some() && !description.obstacles.is_empty();
            let least = if !elastic_inside(&description) {
                1
            } else if between_meshes(&description) || meets_solids {
                STEPS_WITH_CONTACT
            } else if !description.rigid_bodies.is_empty() {
                STEPS_WITH_BODIES
            } else {
                1
            };
            (fall.ceil() as u32).clamp(if crumples { least.max(3) } else { least }, 32)
        }
        0 => {
            let needed = forces.plan(f64::from(description.frame_time), 1.0, u32::MAX).substeps;
            needed.div_ceil(SUBSTEPS_A_STEP).clamp(4, 32)
        }
        asked => asked,
    };
    let (filters, welded) = if description.solver.scheme == Scheme::Nearest {
        build_filters(
            (&description, known),
            &bodies,
            &elements,
            Seams { sewing: &sewing, folds: &seam_folds },
            &start,
            edge_length as f32,
            f64::from(description.frame_time) / f64::from(steps_per_frame),
        )
    } else {
        Default::default()
    };
    let edge_model = EdgeModelTables {
        edges: colored(vertex_count, spare, &elements.model_edges),
        bends: colored(vertex_count, spare, &elements.model_bends),
        bodies: coarse::edge_bodies(&description, &bodies, &pins, known),
    };
    let levels = coarse::levels(&description, &bodies, &pins, known)?;
    let solid_levels = coarse::solid_levels(&description, &bodies, &pins);
    let bend_triangles = coarse::bend_triangles(&description, &bodies);
    let between_cloth = description.contact.thickness > 0.0;
    let touches = between_cloth || !description.mesh_obstacles.is_empty();
    let surface = touches.then(|| surface(&description, &bodies, &sewing, fixtures.start));
    let insides = description
        .mesh_obstacles
        .iter()
        .map(|obstacle| ClosedMesh::new(&obstacle.triangles, &obstacle.positions_at(0.0)))
        .collect();
    let mut world = World {
        surface,
        steps_per_frame,
        origin: 0.0,
        filters,
        welded,
        sewing,
        levels,
        edge_model,
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
        gusts: Gusts::new(description.seed),
        edge_length: edge_length as f32,
        inverse_mass_unit: unit as f32,
        description,
        bodies,
        vertex_count,
        start,
        inverse_masses,
        pins,
        motions,
        fixtures,
        insides,
    };
    let mut start = std::mem::take(&mut world.start);
    world.place_fixtures(0.0, &mut start);
    world.start = start;
    Ok(world)
}

/// Where each vertex of a body is in the engine's order, whose first is `first`.
pub(super) fn in_order(order: &[u32], first: usize) -> Vec<u32> {
    let mut place = vec![0u32; order.len()];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = (first + k) as u32;
    }
    place
}

/// Adds the elements of one cloth whose vertices begin at `first`; `implicit`: its hinges bend inside the
/// filter.
fn add_body(
    cloth: &Cloth,
    first: usize,
    implicit: bool,
    elements: &mut Elements,
) -> Result<BodyTables, WorldError> {
    let mesh = &cloth.mesh;
    let count = mesh.positions.len();
    let adjacency = Adjacency::new(&mesh.triangles);
    let order = locality_order(count, &adjacency.edges);
    let place = in_order(&order, first);
    let p = |v: u32| mesh.positions[v as usize].as_dvec3().to_array();
    let material = &cloth.material;
    let [density, stretch, poisson, bend] =
        [material.density, material.stretch, material.poisson, material.bend].map(f64::from);
    let area_moduli = moduli(stretch, poisson);
    let of_edges = cloth.model.edge().is_some();

    // Triangles in the order of their vertices, so that neighbours in memory are neighbours in the mesh.
    let mut by_place: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
    by_place.sort_by_key(|&t| mesh.triangles[t as usize].map(|v| place[v as usize]).into_iter().min());
    let (bounds, weaves) =
        (cloth.strain_bounds(), cloth.weave_ranges().map_err(|problem| invalid(cloth, problem))?);
    let mut masses = vec![0.0; count];
    let mut areas = vec![0.0; mesh.triangles.len()];
    for &t in &by_place {
        let corners = mesh.triangles[t as usize];
        let Some((rest, area)) = rest_inverse(corners.map(p)) else {
            return Err(invalid(cloth, format!("face {t} has no area")));
        };
        areas[t as usize] = area;
        for v in corners {
            masses[v as usize] += density * area / 3.0;
        }
        let vertices = corners.map(|v| place[v as usize]);
        let rest_single = rest.map(|r| r as f32);
        if bounds.is_some() || implicit {
            elements.strain.push(StrainElement {
                vertices,
                rest: rest_single,
                range: bounds.range(),
                weave: weaves.get(t as usize).copied(),
                share: 1.0,
            });
            elements.areas.push(area);
        }
        elements.membrane.push(MembraneElement {
            vertices,
            rest: rest_single,
            moduli: area_moduli.map(|m| if of_edges { 0.0 } else { (m * area) as f32 }),
            viscosity: material.viscosity,
            density: material.density,
        });
        if !of_edges {
            let frequency = membrane_frequency(rest, stretch, poisson, density);
            elements.membrane_frequency = elements.membrane_frequency.max(frequency);
        }
    }
    if let Some(given) = &cloth.masses {
        masses.clone_from(given);
    }
    let (mut hinges, mut bends) = (Vec::new(), Vec::new());
    let (first_bend, first_fold) = (elements.bends.len(), elements.folds.len());
    for (hinge, triangles) in adjacency.hinges.iter().zip(&adjacency.hinge_triangles) {
        let x = hinge.map(p);
        let d = dihedral(&x);
        let [a1, a2] = triangles.map(|t| areas[t as usize]);
        let rest_angle = 2.0 * d.sin_half.atan2(d.cos_half);
        bends.push(RestBend { vertices: *hinge, rest_angle, heights: d.heights });
        let edge = (mesh.positions[hinge[1] as usize] - mesh.positions[hinge[0] as usize]).as_dvec3();
        let foot = |wing: u32| {
            let arm = (mesh.positions[wing as usize] - mesh.positions[hinge[0] as usize]).as_dvec3();
            (arm.dot(edge) / edge.length_squared()) as f32
        };
        if cloth.bend.is_some() {
            let [min, max] = allowed_angles(cloth.bend, rest_angle, d.heights).map(|a| a as f32);
            let bends = if of_edges { &mut elements.model_bends } else { &mut elements.bends };
            bends.push(BendElement {
                vertices: hinge.map(|v| place[v as usize]),
                rest_angle: rest_angle as f32,
                min,
                max,
                heights: d.heights.map(|h| h as f32),
                feet: [foot(hinge[2]), foot(hinge[3])],
                area: (a1 + a2) as f32,
                share: 1.0,
            });
        }
        let stiffness = bend * edge.length_squared() / (a1 + a2);
        if stiffness <= 0.0 {
            continue;
        }
        hinges.push(RestHinge { vertices: *hinge, stiffness, rest_sin_half: d.sin_half });
        let element = HingeElement {
            vertices: hinge.map(|v| place[v as usize]),
            stiffness: stiffness as f32,
            rest_sin_half: d.sin_half as f32,
            heights: d.heights.map(|h| h as f32),
        };
        if implicit {
            elements.folds.push(FoldElement { hinge: element, feet: [foot(hinge[2]), foot(hinge[3])] });
            continue;
        }
        elements.hinges.push(element);
        // A third of each triangle's mass belongs to each of its hinges, a third of that to each of its
        // vertices.
        let (m1, m2) = (density * a1 / 9.0, density * a2 / 9.0);
        let frequency = hinge_frequency(&x, stiffness, [m1 + m2, m1 + m2, m1, m2]);
        elements.hinge_frequency = elements.hinge_frequency.max(frequency);
    }
    elements.folds[first_fold..].sort_by_key(|e| (e.hinge.vertices.into_iter().min(), e.hinge.vertices));
    elements.bends[first_bend..].sort_by_key(|e| (e.vertices.into_iter().min(), e.vertices));
    let beside = areas_beside(&adjacency.edges, &mesh.triangles, &areas);
    let mut springs = Vec::new();
    for (&[a, b], &area) in adjacency.edges.iter().zip(&beside) {
        let length = (mesh.positions[a as usize] - mesh.positions[b as usize]).as_dvec3().length();
        elements.edge_length_sum += length;
        elements.edge_count += 1;
        if of_edges {
            let stiffness = spring_stiffness(stretch, area, length);
            springs.push(RestSpring { vertices: [a, b], rest: length, stiffness });
            elements.springs.push(SpringElement {
                vertices: [a, b].map(|v| place[v as usize]),
                rest: length as f32,
                stiffness: stiffness as f32,
                viscosity: material.viscosity,
            });
            let frequency = spring_frequency(stiffness, length, area, density);
            elements.membrane_frequency = elements.membrane_frequency.max(frequency);
        }
        if cloth.edge.is_some() {
            let edges = if of_edges { &mut elements.model_edges } else { &mut elements.edges };
            edges.push(EdgeElement {
                vertices: [a, b].map(|v| place[v as usize]),
                rest: length as f32,
                range: cloth.edge.range(),
                share: 1.0,
            });
        }
    }
    elements.edges.sort_by_key(|e| e.vertices);
    elements.model_edges.sort_by_key(|e| e.vertices);
    elements.springs.sort_by_key(|e| e.vertices);
    Ok(BodyTables {
        vertices: first..first + count,
        order,
        masses,
        surface: mesh.triangles.clone(),
        rest: RestShape::new(mesh, adjacency.edges).woven(weaves),
        solid: None,
        hinges,
        springs,
        bends,
        damping: material.damping,
    })
}

/// The areas of the triangles beside each of `edges`, which are sorted \[m²\].
fn areas_beside(edges: &[[u32; 2]], triangles: &[[u32; 3]], areas: &[f64]) -> Vec<f64> {
    let mut beside = vec![0.0; edges.len()];
    for (triangle, area) in triangles.iter().zip(areas) {
        for k in 0..3 {
            let [a, b] = [triangle[k], triangle[(k + 1) % 3]];
            if let Ok(edge) = edges.binary_search(&[a.min(b), a.max(b)]) {
                beside[edge] += area;
            }
        }
    }
    beside
}

/// What the vertices of a pin follow; empty if it is no mesh obstacle.
fn attachments(description: &Description, body: &Body, pin: &Pin) -> Result<Vec<Attachment>, WorldError> {
    let invalid = |problem: String| WorldError::Invalid {
        what: format!("{} \"{}\"", body.kind(), body.name()),
        problem,
    };
    let Some(number) = pin.attach else { return Ok(Vec::new()) };
    let Some(obstacle) = description.mesh_obstacles.get(number) else {
        let count = description.mesh_obstacles.len();
        return Err(invalid(format!("a pin is attached to mesh obstacle {number}; there are {count}")));
    };
    let places = pin.vertices.iter().map(|&v| body.start()[v as usize]);
    attachment::attach(obstacle, number as u32, places).ok_or_else(|| {
        let name = &obstacle.name;
        invalid(format!("a pin is attached to obstacle \"{name}\", which has no face with three corners"))
    })
}

/// Weights of Jacobi corrections. Triangles, edges and hinges of a vertex count together: their corrections
/// are summed.
fn share_out(elements: &mut Elements, vertex_count: usize) {
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

pub(super) fn invalid(cloth: &Cloth, problem: String) -> WorldError {
    WorldError::Invalid { what: format!("cloth \"{}\"", cloth.name), problem }
}

/// Refuses a description without a body.
pub(super) fn check_not_empty(description: &Description) -> Result<(), WorldError> {
    if !description.bodies.is_empty() {
        return Ok(());
    }
    let problem = "no cloth and no solid; at least one is needed";
    Err(WorldError::Invalid { what: "description".into(), problem: problem.into() })
}

/// Refuses more vertices than the engine can count; `counts` are those of bodies and obstacles.
pub(crate) fn check_vertex_count(counts: impl IntoIterator<Item = usize>) -> Result<(), WorldError> {
    let total = counts.into_iter().fold(0, usize::saturating_add);
    if total < VertexOffset::LIMIT as usize {
        return Ok(());
    }
    let problem = format!("{total} vertices in all; at most {} can be simulated", VertexOffset::LIMIT - 1);
    Err(WorldError::Invalid { what: "description".into(), problem })
}

/// Refuses what cannot be simulated. Scene files are checked with lines and keys before; this is for callers
/// of the library.
fn check(description: &Description) -> Result<(), WorldError> {
    let general = |ok: bool, problem: &str| {
        if ok {
            Ok(())
        } else {
            Err(WorldError::Invalid { what: "description".into(), problem: problem.into() })
        }
    };
    let solver = &description.solver;
    let positive = |v: f32| v.is_finite() && v > 0.0;
    description.solids().try_for_each(|solid| elastic::check(solid, description.solver.scheme))?;
    general(description.gravity.is_finite(), "gravity must be finite")?;
    general(positive(description.frame_time), "frame_time must be positive")?;
    general(
        description.air.density >= 0.0 && description.air.density.is_finite(),
        "air density must be at least 0",
    )?;
    general(solver.tolerance.is_finite() && solver.tolerance >= 0.0, "tolerance must be at least 0")?;
    general(
        solver.passes == 0 || matches!(solver.scheme, Scheme::Cycle | Scheme::Paper),
        "passes must be 0 unless the scheme is cycle or paper: others do not pass over levels",
    )?;
    general(
        solver.bend_tolerance.is_finite() && solver.bend_tolerance >= 0.0,
        "bend_tolerance must be at least 0",
    )?;
    general(solver.relaxation > 0.0 && solver.relaxation < 2.0, "relaxation must lie between 0 and 2")?;
    general(
        solver.budget_ms.is_none_or(|ms| (0.0..=1e9).contains(&ms)),
        "budget_ms must be at least 0 and at most 1e9",
    )?;
    general(solver.steps_per_frame <= 100_000, "there can be at most 100000 steps a frame")?;
    general(
        description.obstacles.iter().chain(description.rigid_bodies.iter().map(|b| &b.obstacle)).all(|o| {
            o.position.is_finite()
                && o.rotation.is_finite()
                && o.friction >= 0.0
                && o.margin >= 0.0
                && o.margin.is_finite()
                && (0.0..=1.0).contains(&o.restitution)
        }),
        "an obstacle's placement must be finite, its friction and margin at least 0, its restitution between 0 and 1",
    )?;
    for obstacle in &description.mesh_obstacles {
        let what = || format!("obstacle \"{}\"", obstacle.name);
        obstacle.check().map_err(|problem| WorldError::Invalid { what: what(), problem })?;
    }
    for body in &description.rigid_bodies {
        let what = || format!("obstacle \"{}\"", body.obstacle.name);
        let scheme = (solver.scheme != Scheme::Nearest).then_some(
            "it has a mass, which needs solver.scheme \"nearest\"; other schemes know no rigid bodies",
        );
        if let Some(problem) = body.problem().or(scheme) {
            return Err(WorldError::Invalid { what: what(), problem: problem.into() });
        }
    }
    for cloth in description.cloths() {
        let need = |ok: bool, problem: &str| if ok { Ok(()) } else { Err(invalid(cloth, problem.into())) };
        let material = &cloth.material;
        let count = cloth.mesh.positions.len();
        need(!cloth.mesh.triangles.is_empty(), "its mesh has no face")?;
        need(cloth.start.len() == count, "needs one start position for each vertex")?;
        need(
            cloth
                .mesh
                .positions
                .iter()
                .chain(&cloth.start)
                .all(|p| p.is_finite() && p.abs().max_element() <= 1e6),
            "positions must be finite and within 1e6 m",
        )?;
        need(
            cloth.mesh.triangles.iter().flatten().all(|&v| (v as usize) < count),
            "a face names a vertex that does not exist",
        )?;
        need(cloth.velocity.is_finite(), "velocity must be finite")?;
        need(
            cloth.imperfection.is_none_or(|i| (0.0..=1e6).contains(&i)),
            "imperfection must lie between 0 and 1e6 m",
        )?;
        need(positive(material.density), "density must be positive")?;
        need(
            material.stretch >= 0.0 && material.stretch.is_finite(),
            "stretch stiffness must be at least 0",
        )?;
        need(material.bend >= 0.0 && material.bend.is_finite(), "bending stiffness must be at least 0")?;
        need(material.poisson.abs() < 1.0, "Poisson's ratio must lie between -1 and 1")?;
        need(
            material.damping >= 0.0
                && material.viscosity >= 0.0
                && material.damping.is_finite()
                && material.viscosity.is_finite(),
            "damping and viscosity must be at least 0",
        )?;
        cloth.weave.map_or(Ok(()), |weave| weave.check()).or_else(|problem| need(false, problem))?;
        let woven = cloth.weave.map_or([cloth.strain; 3], |w| [w.warp, w.weft, w.bias]);
        for limit in woven.into_iter().chain([cloth.strain, cloth.edge]) {
            let Limit { min, max } = limit;
            let fine = min.is_none_or(|m| (-1.0..=0.0).contains(&m))
                && max.is_none_or(|m| m >= 0.0 && m.is_finite());
            need(fine, "a limit's min must lie between -1 and 0, its max be at least 0")?;
        }
        if let Model::Edge(settings) = cloth.model {
            check_edge_model(cloth, settings, description)?;
        }
        let Limit { min, max } = cloth.bend;
        need(
            min.is_none_or(|m| m <= 0.0 && m.is_finite()) && max.is_none_or(|m| m >= 0.0 && m.is_finite()),
            "a bend limit's min must be at most 0, its max at least 0 degrees a centimetre",
        )?;
        check_pins(&cloth.pins, count).or_else(|problem| need(false, problem))?;
        need(
            cloth.masses.as_ref().is_none_or(|masses| {
                masses.len() == count && masses.iter().all(|m| (1e-12..=1e12).contains(m))
            }),
            "masses must be given for each vertex, and lie between 1e-12 and 1e12 kg",
        )?;
        let mut referenced = vec![false; count];
        for &v in cloth.mesh.triangles.iter().flatten() {
            referenced[v as usize] = true;
        }
        if let Some(v) = referenced.iter().position(|r| !r) {
            return Err(invalid(cloth, format!("vertex {v} belongs to no face, so it has no mass")));
        }
    }
    Ok(())
}

/// The largest number of iterations of any cloth of the edge model.
fn most_edge_iterations(description: &Description) -> Option<u32> {
    description.cloths().filter_map(|cloth| cloth.model.edge()).map(|edge| edge.iterations).max()
}

/// Refuses what the edge model cannot do.
fn check_edge_model(cloth: &Cloth, settings: EdgeModel, description: &Description) -> Result<(), WorldError> {
    let need = |ok: bool, problem: &str| if ok { Ok(()) } else { Err(invalid(cloth, problem.into())) };
    need((1..=5).contains(&settings.levels), "model \"edge\" has 1 to 5 levels")?;
    need((1..=10_000).contains(&settings.iterations), "model \"edge\" has 1 to 10000 iterations a level")?;
    need(
        !cloth.limits_strain(),
        "model \"edge\" limits edges: give its limits as `edge`, not as `strain`, which is for triangles",
    )?;
    let alone = !elastic_inside(description) && !between_meshes(description);
    need(
        alone && description.seams.is_empty(),
        "model \"edge\" knows no contact of cloth with cloth, no mesh obstacles, bodies with mass, soft solids or seams beside it; use model \"fem\"",
    )
}

/// Says what is wrong with the pins of a body with `count` vertices.
pub(super) fn check_pins(pins: &[Pin], count: usize) -> Result<(), &'static str> {
    let rules = [
        (
            pins.iter().flat_map(|p| &p.vertices).all(|&v| (v as usize) < count),
            "a pin names a vertex that does not exist",
        ),
        (
            pins.iter().all(|p| p.from >= 0.0 && p.from.is_finite() && p.until.is_none_or(|u| u > p.from)),
            "a pin's from must be at least 0 s, its until later",
        ),
        (
            pins.iter().all(|p| p.attach.is_none() || p.from <= 0.0 && p.motion.keys.is_empty()),
            "a pin that is attached to an obstacle begins at the start, and has no motion of its own",
        ),
    ];
    rules.into_iter().find(|(fine, _)| !fine).map_or(Ok(()), |(_, problem)| Err(problem))
}

/// All triangles in the engine's order of vertices; those of mesh obstacles begin at `fixed_from`.
fn surface(description: &Description, bodies: &[BodyTables], sewing: &Sewing, fixed_from: usize) -> Surface {
    let mut triangles = Vec::new();
    for body in bodies {
        let place = in_order(&body.order, body.vertices.start);
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
    Surface {
        identity,
        fixed_from: fixed_from as u32,
        between_cloth: description.contact.thickness > 0.0,
        radius,
        friction,
        ..Surface::new(triangles)
    }
}
