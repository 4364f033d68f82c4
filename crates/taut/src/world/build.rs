//! From a description to the tables of a world: vertex order, masses, elements, colours.

use std::{iter::once, ops::Range, sync::OnceLock};

use glam::Vec3;

use super::{
    Body, Cloth, Description, Limit, PinnedVertex, Scheme, World, WorldError, coarse, imperfection, sewing,
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
    hierarchy::{self, Transfer},
    kernel::{
        dihedral::dihedral,
        lanes::{Quad, VertexOffset},
        svd2::rest_inverse,
    },
    limit::{
        bend::{BendBatch, BendElement, RestBend, allowed_angles},
        colored::Colored,
        edge::{EdgeBatch, EdgeElement},
        jacobi::shares,
        nearest::{
            fold::FoldElement,
            tables::{Filter, Parts, stiffness},
        },
        strain_triangle::{StrainBatch, StrainElement, WovenBatch},
    },
    mesh::{TriangleMesh, adjacency::Adjacency, reorder::locality_order},
    velocity::{
        air::Gusts,
        bending::{HingeBatch, HingeElement, RestHinge, hinge_frequency},
        fem::{MembraneBatch, MembraneElement, membrane_frequency, moduli},
        update::Forces,
    },
};

/// Substeps of the velocity update after which limits are to act again, where the number of steps is chosen. With 12 a
/// stretched sheet is calm, with 24 it shakes.
const SUBSTEPS_A_STEP: u32 = 12;

/// Steps a frame where cloth touches: what touches is looked for once a step.
const STEPS_WITH_CONTACT: u32 = 4;

/// Steps a frame where cloth touches nothing but rigid bodies: how far these are from where they should be makes more of a velocity in shorter steps.
const STEPS_WITH_BODIES: u32 = 2;

/// Largest factor on κ because of rigid bodies.
const MOST_LOADED: f64 = 1000.0;

/// Sine of half a hinge's bend up to which a rest shape counts as flat.
const FLAT: f64 = 1e-3;

/// Whether limits are enforced over levels, all of them, and with nothing in the way: obstacles need short steps too. With contact the filter is
/// elastic itself, and [`STEPS_WITH_CONTACT`] says how many.
fn over_levels(description: &Description) -> bool {
    let solid = !description.obstacles.is_empty() || !description.rigid_bodies.is_empty();
    if solid || !description.mesh_obstacles.is_empty() {
        return false;
    }
    let levels = matches!(description.solver.scheme, Scheme::Nearest | Scheme::Cycle | Scheme::Paper);
    levels && !description.cloths.iter().any(|cloth| cloth.edge.is_some())
}

/// Whether stretching inside the limits and bending are left to the filter.
fn elastic_inside(description: &Description) -> bool {
    let touching = between_meshes(description) || !description.rigid_bodies.is_empty();
    touching && description.solver.scheme == Scheme::Nearest
}

/// Whether cloth keeps off cloth or off meshes.
fn between_meshes(description: &Description) -> bool {
    description.contact.thickness > 0.0 || !description.mesh_obstacles.is_empty()
}

/// Elements of all bodies, while they are collected.
#[derive(Default)]
struct Elements {
    strain: Vec<StrainElement>,
    /// Rest areas of `strain` \[m²\].
    areas: Vec<f64>,
    edges: Vec<EdgeElement>,
    bends: Vec<BendElement>,
    membrane: Vec<MembraneElement>,
    hinges: Vec<HingeElement>,
    /// Hinges that bend inside the filter.
    folds: Vec<FoldElement>,
    membrane_frequency: f64,
    hinge_frequency: f64,
    edge_length_sum: f64,
    edge_count: usize,
}

/// Builds a world, or says what is wrong with its description.
pub(super) fn build(description: Description) -> Result<World, WorldError> {
    check(&description)?;
    let of_cloth: usize = description.cloths.iter().map(|c| c.mesh.positions.len()).sum();
    let of_obstacles: usize = description.mesh_obstacles.iter().map(MeshObstacle::vertex_count).sum();
    let total = of_cloth.saturating_add(of_obstacles);
    if total >= VertexOffset::LIMIT as usize {
        let problem =
            format!("{total} vertices in all; at most {} can be simulated", VertexOffset::LIMIT - 1);
        return Err(WorldError::Invalid { what: "description".into(), problem });
    }
    let mut elements = Elements::default();
    let mut bodies = Vec::new();
    let mut start: Vec<Quad> = Vec::new();
    let mut pins: Vec<PinnedVertex> = Vec::new();
    let mut motions = Vec::new();
    for (number, cloth) in description.cloths.iter().enumerate() {
        let first = start.len();
        let (length, count) = (elements.edge_length_sum, elements.edge_count);
        let body = add_body(cloth, first, elastic_inside(&description), &mut elements)?;
        let edge = (elements.edge_length_sum - length) / (elements.edge_count - count).max(1) as f64;
        let mut place = vec![0u32; body.order.len()];
        for (k, &v) in body.order.iter().enumerate() {
            place[v as usize] = (first + k) as u32;
        }
        let displaced = imperfection::start(cloth, edge as f32, number as u64, &description);
        start.extend(body.order.iter().map(|&v| {
            let p = displaced[v as usize];
            [p.x, p.y, p.z, (1.0 / body.masses[v as usize]) as f32]
        }));
        for pin in &cloth.pins {
            let mut attached = attachments(&description, cloth, pin)?.into_iter();
            pins.extend(pin.vertices.iter().map(|&v| PinnedVertex {
                vertex: place[v as usize],
                start: cloth.start[v as usize],
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
    let mean = total / vertex_count as f64;
    let edge_length = elements.edge_length_sum / elements.edge_count.max(1) as f64;
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

    let strain_vertices: Vec<_> = elements.strain.iter().map(|e| e.vertices).collect();
    let edge_vertices: Vec<_> = elements.edges.iter().map(|e| e.vertices).collect();
    let bend_vertices: Vec<_> = elements.bends.iter().map(|e| e.vertices).collect();
    share_out(&mut elements, vertex_count, &strain_vertices, &edge_vertices, &bend_vertices);
    let membrane_vertices: Vec<_> = elements.membrane.iter().map(|e| e.vertices).collect();
    let hinge_vertices: Vec<_> = elements.hinges.iter().map(|e| e.vertices).collect();
    let (seam_folds, seam_frequency) = sewing::hinges(&description, &bodies, &sewing);
    let inside = elastic_inside(&description);
    let seam_hinges: Vec<_> = seam_folds.iter().filter(|_| !inside).map(|fold| fold.hinge).collect();
    let seam_frequency = if inside { 0.0 } else { seam_frequency };
    let seam_vertices: Vec<_> = seam_hinges.iter().map(|e| e.vertices).collect();
    let forces = Forces {
        membrane: Colored::new(vertex_count, &membrane_vertices, |batch| {
            MembraneBatch::pack(batch, &elements.membrane, spare)
        }),
        hinges: Colored::new(vertex_count, &hinge_vertices, |batch| {
            HingeBatch::pack(batch, &elements.hinges, spare)
        }),
        seam_hinges: Colored::new(vertex_count, &seam_vertices, |batch| {
            HingeBatch::pack(batch, &seam_hinges, spare)
        }),
        membrane_frequency: elements.membrane_frequency,
        hinge_frequency: elements.hinge_frequency.max(seam_frequency),
        viscosity: description.cloths.iter().map(|c| f64::from(c.material.viscosity)).fold(0.0, f64::max),
        inside,
    };
    let steps_per_frame = match description.solver.steps_per_frame {
        0 if over_levels(&description) || elastic_inside(&description) => {
            let crumples = description.cloths.iter().zip(&bodies).any(|(cloth, body)| {
                let lower = cloth.strain.min.is_some()
                    || cloth.weave.as_ref().is_some_and(|weave| weave.warp.min.is_some());
                lower && body.hinges.iter().any(|hinge| hinge.rest_sin_half.abs() > FLAT)
            });
            // Cloth should not fall further than its own size in a step.
            let size = bodies.iter().map(|b| b.rest.size()).fold(f64::INFINITY, f64::min).max(1e-9);
            let fall =
                f64::from(description.frame_time) * (f64::from(description.gravity.length()) / size).sqrt();
            let least = match (between_meshes(&description), elastic_inside(&description)) {
                (true, true) => STEPS_WITH_CONTACT,
                (false, true) => STEPS_WITH_BODIES,
                (_, false) => 1,
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
            &description,
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
    let levels = coarse::levels(&description, &bodies, &pins)?;
    let bend_triangles = coarse::bend_triangles(&description, &bodies);
    let (woven, plain): (Vec<_>, Vec<_>) = elements.strain.iter().copied().partition(|e| e.weave.is_some());
    let corners = |elements: &[StrainElement]| elements.iter().map(|e| e.vertices).collect::<Vec<_>>();
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
        filters,
        welded,
        sewing,
        levels,
        judges: OnceLock::new(),
        bend_triangles,
        strain: Colored::new(vertex_count, &corners(&plain), |batch| StrainBatch::pack(batch, &plain, spare)),
        woven: Colored::new(vertex_count, &corners(&woven), |batch| WovenBatch::pack(batch, &woven, spare)),
        edges: Colored::new(vertex_count, &edge_vertices, |batch| {
            EdgeBatch::pack(batch, &elements.edges, spare)
        }),
        strain_elements: elements.strain,
        edge_elements: elements.edges,
        bends: Colored::new(vertex_count, &bend_vertices, |batch| {
            BendBatch::pack(batch, &elements.bends, spare)
        }),
        bend_elements: elements.bends,
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

/// Adds the elements of one cloth whose vertices begin at `first`; `implicit`: its hinges bend inside the filter.
fn add_body(
    cloth: &Cloth,
    first: usize,
    implicit: bool,
    elements: &mut Elements,
) -> Result<Body, WorldError> {
    let mesh = &cloth.mesh;
    let count = mesh.positions.len();
    let adjacency = Adjacency::new(&mesh.triangles);
    let order = locality_order(count, &adjacency.edges);
    let mut place = vec![0u32; count];
    for (k, &v) in order.iter().enumerate() {
        place[v as usize] = (first + k) as u32;
    }
    let p = |v: u32| mesh.positions[v as usize].as_dvec3().to_array();
    let material = &cloth.material;
    let [density, stretch, poisson, bend] =
        [material.density, material.stretch, material.poisson, material.bend].map(f64::from);
    let area_moduli = moduli(stretch, poisson);

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
            moduli: area_moduli.map(|m| (m * area) as f32),
            viscosity: material.viscosity,
            density: material.density,
        });
        let frequency = membrane_frequency(rest, stretch, poisson, density);
        elements.membrane_frequency = elements.membrane_frequency.max(frequency);
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
            elements.bends.push(BendElement {
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
        // A third of each triangle's mass belongs to each of its hinges, a third of that to each of its vertices.
        let (m1, m2) = (density * a1 / 9.0, density * a2 / 9.0);
        let frequency = hinge_frequency(&x, stiffness, [m1 + m2, m1 + m2, m1, m2]);
        elements.hinge_frequency = elements.hinge_frequency.max(frequency);
    }
    elements.folds[first_fold..].sort_by_key(|e| (e.hinge.vertices.into_iter().min(), e.hinge.vertices));
    elements.bends[first_bend..].sort_by_key(|e| (e.vertices.into_iter().min(), e.vertices));
    for &[a, b] in &adjacency.edges {
        let length = (mesh.positions[a as usize] - mesh.positions[b as usize]).as_dvec3().length();
        elements.edge_length_sum += length;
        elements.edge_count += 1;
        if cloth.edge.is_some() {
            elements.edges.push(EdgeElement {
                vertices: [a, b].map(|v| place[v as usize]),
                rest: length as f32,
                range: cloth.edge.range(),
                share: 1.0,
            });
        }
    }
    elements.edges.sort_by_key(|e| e.vertices);
    Ok(Body {
        vertices: first..first + count,
        order,
        masses,
        rest: RestShape::new(mesh, adjacency.edges).woven(weaves),
        hinges,
        bends,
        damping: material.damping,
    })
}

/// What the vertices of a pin follow; empty if it is no mesh obstacle.
fn attachments(description: &Description, cloth: &Cloth, pin: &Pin) -> Result<Vec<Attachment>, WorldError> {
    let Some(number) = pin.attach else { return Ok(Vec::new()) };
    let Some(obstacle) = description.mesh_obstacles.get(number) else {
        let count = description.mesh_obstacles.len();
        return Err(invalid(
            cloth,
            format!("a pin is attached to mesh obstacle {number}; there are {count}"),
        ));
    };
    let places = pin.vertices.iter().map(|&v| cloth.start[v as usize]);
    attachment::attach(obstacle, number as u32, places).ok_or_else(|| {
        let name = &obstacle.name;
        invalid(
            cloth,
            format!("a pin is attached to obstacle \"{name}\", which has no face with three corners"),
        )
    })
}

/// What seams mean for filters.
#[derive(Clone, Copy)]
struct Seams<'a> {
    sewing: &'a Sewing,
    /// Hinges across seams that bend inside filters while seams are closed.
    folds: &'a [FoldElement],
}

/// Tables of the filters: one for each body with limits on its triangles or hinges, or one for all bodies that may touch or are sewn together;
/// and what takes their place while seams are closed.
fn build_filters(
    description: &Description,
    bodies: &[Body],
    elements: &Elements,
    seams: Seams,
    start: &[Quad],
    edge_length: f32,
    dt: f64,
) -> (Vec<Filter>, Vec<Option<Filter>>) {
    let implicit = elastic_inside(description);
    let limited = |cloth: &Cloth| cloth.limits_strain() || cloth.bend.is_some();
    // What a body touches has to be filtered with it, so all cloth that it may touch is filtered at once.
    let touching = description.contact.thickness > 0.0 || !description.rigid_bodies.is_empty();
    // Cloth that has to stop a body carries the body's mass as well, and κ grows with what it has to stop.
    let of_bodies: f64 = description.rigid_bodies.iter().map(|body| f64::from(body.mass)).sum();
    let of_cloth: f64 = bodies.iter().flat_map(|body| &body.masses).sum();
    let loaded = (1.0 + of_bodies / of_cloth).min(MOST_LOADED);
    let sewing = seams.sewing;
    let (mut filters, mut welded) = (Vec::new(), Vec::new());
    let joined = if touching { once(0..bodies.len()).collect() } else { sewing::joined(sewing, bodies) };
    let (mut triangles, mut hinges, mut folds) = (0, 0, 0);
    for range in joined {
        let mut together: Option<Together> = None;
        for (cloth, body) in description.cloths[range.clone()].iter().zip(&bodies[range.clone()]) {
            let count = |some: bool, count: usize| if some { count } else { 0 };
            let strain =
                triangles..triangles + count(cloth.limits_strain() || implicit, cloth.mesh.triangles.len());
            let bends = hinges..hinges + count(cloth.bend.is_some(), body.bends.len());
            let own_folds = folds..folds + count(implicit, body.hinges.len());
            (triangles, hinges, folds) = (strain.end, bends.end, own_folds.end);
            let vertices = || body.vertices.start as u32..body.vertices.end as u32;
            let sewn = sewing.stitches.iter().any(|s| s.vertices.iter().any(|v| vertices().contains(v)));
            if !limited(cloth) && !implicit && !sewn && range.len() == 1 && !touching {
                continue;
            }
            let (low, high) =
                cloth.mesh.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), &p| (l.min(p), h.max(p)));
            let (areas, bends) = (&elements.areas[strain.clone()], &elements.bends[bends]);
            let size = f64::from((high - low).max_element());
            let part = Together {
                vertices: body.vertices.clone(),
                bodies: once(0..body.vertices.len()).collect(),
                elements: elements.strain[strain].to_vec(),
                elastic: if implicit {
                    let mean = body.masses.iter().sum::<f64>() / body.masses.len() as f64;
                    vec![dt * dt * f64::from(cloth.material.stretch) / mean; areas.len()]
                } else {
                    Vec::new()
                },
                areas: areas.to_vec(),
                bends: bends.to_vec(),
                folds: elements.folds[own_folds].to_vec(),
                masses: body.order.iter().map(|&v| body.masses[v as usize]).collect(),
                stiffness: if limited(cloth) || implicit {
                    loaded * stiffness(body.order.len(), size, areas, bends)
                } else if sewn {
                    loaded * stiffness(body.order.len(), size, &[body.rest.size().powi(2)], bends)
                } else {
                    0.0
                },
                mesh: cloth.mesh.clone(),
                order: body.order.clone(),
            };
            match &mut together {
                Some(together) => together.add(part),
                None => together = Some(part),
            }
        }
        if let Some(together) = together {
            welded.push(together.welded(seams, start, edge_length, dt));
            filters.push(together.filter(sewing, start, edge_length, dt));
        }
    }
    (filters, welded)
}

/// What a filter is made of, while its bodies are collected.
struct Together {
    vertices: Range<usize>,
    bodies: Vec<Range<usize>>,
    elements: Vec<StrainElement>,
    areas: Vec<f64>,
    /// In units of the mean mass.
    elastic: Vec<f64>,
    bends: Vec<BendElement>,
    folds: Vec<FoldElement>,
    masses: Vec<f64>,
    /// In units of the mean mass.
    stiffness: f64,
    mesh: TriangleMesh,
    order: Vec<u32>,
}

impl Together {
    /// Adds what follows in the order of vertices.
    fn add(&mut self, mut other: Self) {
        let first = self.masses.len();
        let mean = |masses: &[f64]| masses.iter().sum::<f64>() / masses.len() as f64;
        let [own, others] = [&self.masses, &other.masses].map(|m| mean(m));
        // κ is one number, in units of one mean mass: what it would be for each body goes into the weights of its triangles.
        let stiffness = [self.stiffness * own, other.stiffness * others];
        self.masses.append(&mut other.masses);
        let common = if stiffness[0] > 0.0 { stiffness[0] } else { stiffness[1] };
        self.stiffness = common / mean(&self.masses);
        let factor = if common > 0.0 { stiffness[1] / common } else { 1.0 };
        self.areas.extend(other.areas.iter().map(|area| area * factor));
        let all = mean(&self.masses);
        self.elastic.iter_mut().for_each(|k| *k *= own / all);
        self.elastic.extend(other.elastic.iter().map(|k| k * others / (all * factor)));
        self.bends.extend(other.bends.iter().map(|e| BendElement { area: e.area * factor as f32, ..*e }));
        self.elements.append(&mut other.elements);
        self.folds.append(&mut other.folds);
        self.vertices.end = other.vertices.end;
        self.bodies.extend(other.bodies.iter().map(|b| first + b.start..first + b.end));
        self.mesh.triangles.extend(other.mesh.triangles.iter().map(|t| t.map(|v| v + first as u32)));
        self.mesh.positions.append(&mut other.mesh.positions);
        self.order.extend(other.order.iter().map(|v| v + first as u32));
    }

    fn filter(self, sewing: &Sewing, start: &[Quad], edge_length: f32, dt: f64) -> Filter {
        let links = sewing::links(sewing, &self.vertices, &self.areas_around(), edge_length);
        Filter::new(Parts {
            held: start[self.vertices.clone()].iter().map(|q| q[3] == 0.0).collect(),
            transfers: transfers(&self.mesh, &self.order),
            vertices: self.vertices,
            bodies: self.bodies,
            elements: &self.elements,
            areas: &self.areas,
            elastic: &self.elastic,
            bends: &self.bends,
            folds: (&self.folds, dt),
            link_count: links.len(),
            links,
            welds: Vec::new(),
            masses: self.masses,
            stiffness: self.stiffness,
            edge_length,
        })
    }

    /// The same with twins as one vertex, if there are any: the lowest of them stands for all.
    fn welded(&self, seams: Seams, start: &[Quad], edge_length: f32, dt: f64) -> Option<Filter> {
        let sewing = seams.sewing;
        let first = self.vertices.start as u32;
        let welds: Vec<u32> = (self.vertices.start..self.vertices.end)
            .map(|v| sewing.identity.get(v).map_or(v as u32, |&twin| twin) - first)
            .collect();
        let twins = |k: usize| welds[k] as usize != k;
        if !(0..welds.len()).any(twins) {
            return None;
        }
        let mut masses = self.masses.clone();
        for k in (0..welds.len()).filter(|&k| twins(k)) {
            masses[welds[k] as usize] += masses[k];
            masses[k] = 0.0;
        }
        let weld = |e: &StrainElement| StrainElement { vertices: sewing.welded(e.vertices), ..*e };
        let elements: Vec<_> = self.elements.iter().map(weld).collect();
        let weld = |e: &BendElement| BendElement { vertices: sewing.welded(e.vertices), ..*e };
        let bends: Vec<_> = self.bends.iter().map(weld).collect();
        let weld = |e: &FoldElement| {
            let vertices = sewing.welded(e.hinge.vertices);
            FoldElement { hinge: HingeElement { vertices, ..e.hinge }, ..*e }
        };
        let across = seams.folds.iter().filter(|e| self.vertices.contains(&(e.hinge.vertices[0] as usize)));
        let implicit = !self.elastic.is_empty();
        let folds: Vec<_> = self.folds.iter().chain(across.filter(|_| implicit)).map(weld).collect();
        let own = sewing.stitches.iter().filter(|s| self.vertices.contains(&(s.vertices[0] as usize)));
        Some(Filter::new(Parts {
            held: (0..welds.len())
                .map(|k| twins(k) || sewing.holds(self.vertices.start + k, start))
                .collect(),
            transfers: sewing::welded_transfers(
                &self.mesh,
                &self.order,
                &welds,
                &start[self.vertices.clone()],
            ),
            vertices: self.vertices.clone(),
            bodies: sewing::pieces(&self.bodies, &welds),
            elements: &elements,
            areas: &self.areas,
            elastic: &self.elastic,
            bends: &bends,
            folds: (&folds, dt),
            links: Vec::new(),
            link_count: own.count(),
            welds,
            masses,
            stiffness: self.stiffness,
            edge_length,
        }))
    }

    /// The area around each vertex \[m²\], a third of each triangle's.
    fn areas_around(&self) -> Vec<f64> {
        let mut by_caller = vec![0.0; self.order.len()];
        for t in &self.mesh.triangles {
            let [a, b, c] = t.map(|v| self.mesh.positions[v as usize].as_dvec3());
            let area = 0.5 * (b - a).cross(c - a).length();
            t.iter().for_each(|&v| by_caller[v as usize] += area / 3.0);
        }
        self.order.iter().map(|&v| by_caller[v as usize]).collect()
    }
}

/// Levels of a mesh, with the vertices of each in an order that keeps neighbours close; `order` is that of the finest.
fn transfers(mesh: &TriangleMesh, order: &[u32]) -> Vec<Transfer> {
    let levels = hierarchy::build(mesh, &hierarchy::Options::default()).reordered(order).levels;
    levels.into_iter().map(|level| level.transfer).collect()
}

/// Weights of Jacobi corrections. Triangles, edges and hinges of a vertex count together: their corrections are summed.
fn share_out(
    elements: &mut Elements,
    vertex_count: usize,
    strain: &[[u32; 3]],
    edges: &[[u32; 2]],
    bends: &[[u32; 4]],
) {
    let kinds = [strain.is_empty(), edges.is_empty(), bends.is_empty()].iter().filter(|none| !**none).count();
    let part = 1.0 / kinds.max(1) as f32;
    for (element, share) in elements.bends.iter_mut().zip(shares(vertex_count, bends)) {
        element.share = share * part;
    }
    for (element, share) in elements.strain.iter_mut().zip(shares(vertex_count, strain)) {
        element.share = share * part;
    }
    for (element, share) in elements.edges.iter_mut().zip(shares(vertex_count, edges)) {
        element.share = share * part;
    }
}

pub(super) fn invalid(cloth: &Cloth, problem: String) -> WorldError {
    WorldError::Invalid { what: format!("cloth \"{}\"", cloth.name), problem }
}

/// Refuses what cannot be simulated. Scene files are checked with lines and keys before; this is for callers of the
/// library.
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
    general(!description.cloths.is_empty(), "no cloth; at least one is needed")?;
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
    for cloth in &description.cloths {
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
        let Limit { min, max } = cloth.bend;
        need(
            min.is_none_or(|m| m <= 0.0 && m.is_finite()) && max.is_none_or(|m| m >= 0.0 && m.is_finite()),
            "a bend limit's min must be at most 0, its max at least 0 degrees a centimetre",
        )?;
        need(
            cloth.pins.iter().flat_map(|p| &p.vertices).all(|&v| (v as usize) < count),
            "a pin names a vertex that does not exist",
        )?;
        need(
            cloth
                .pins
                .iter()
                .all(|p| p.from >= 0.0 && p.from.is_finite() && p.until.is_none_or(|u| u > p.from)),
            "a pin's from must be at least 0 s, its until later",
        )?;
        need(
            cloth.pins.iter().all(|p| p.attach.is_none() || p.from <= 0.0 && p.motion.keys.is_empty()),
            "a pin that is attached to an obstacle begins at the start, and has no motion of its own",
        )?;
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

/// All triangles in the engine's order of vertices; those of mesh obstacles begin at `fixed_from`.
fn surface(description: &Description, bodies: &[Body], sewing: &Sewing, fixed_from: usize) -> Surface {
    let mut triangles = Vec::new();
    for (cloth, body) in description.cloths.iter().zip(bodies) {
        let mut place = vec![0; body.order.len()];
        for (k, &v) in body.order.iter().enumerate() {
            place[v as usize] = (body.vertices.start + k) as u32;
        }
        triangles.extend(cloth.mesh.triangles.iter().map(|t| t.map(|v| place[v as usize])));
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
