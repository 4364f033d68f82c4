//! `[[particles]]` and `[[spring]]`: meshes of lines, masses, and which vertices springs join.

use std::path::PathBuf;

use glam::Vec3;
use taut::{
    SpringEnd,
    mesh::{TriangleMesh, lines::LineMesh},
};

use super::{
    build::{Builder, Place, vector},
    format::{ParticleMesh, Particles, Spring, SpringEnd as End},
    nearest::hint,
    select::Selection,
};
use crate::Problem;

/// Mass of a particle where the scene gives none \[kg\].
const MASS: f64 = 0.01;

/// Why no spring may have these ends.
fn refused(ends: &[SpringEnd; 2]) -> Option<&'static str> {
    match ends {
        [SpringEnd::RigidBody { body: a, .. }, SpringEnd::RigidBody { body: b, .. }] if a == b => {
            Some("is on the same obstacle as `from`")
        }
        [SpringEnd::RigidBody { .. }, SpringEnd::Vertex { .. }]
        | [SpringEnd::Vertex { .. }, SpringEnd::RigidBody { .. }] => {
            Some("joins an obstacle with mass to vertices; join it to a point or to another one")
        }
        _ => None,
    }
}

/// A line mesh as selections see it, with its own names.
fn as_surface(mesh: &LineMesh, source: &ParticleMesh) -> TriangleMesh {
    let mut surface = TriangleMesh { positions: mesh.positions.clone(), ..TriangleMesh::default() };
    let mut corner = |name: &str, vertex: u32| {
        surface.groups.insert(format!("corner:{name}"), vec![vertex]);
    };
    match source {
        ParticleMesh::Chain(chain) => {
            corner("start", 0);
            corner("end", chain.segments);
        }
        ParticleMesh::Net(net) => {
            let [nx, ny] = net.cells;
            corner("bottom-left", 0);
            corner("bottom-right", nx);
            corner("top-left", ny * (nx + 1));
            corner("top-right", ny * (nx + 1) + nx);
        }
        ParticleMesh::Points(_) | ParticleMesh::File(_) => {}
    }
    surface
}

/// Particles where segments end: those of a net with fewer than four, of others with fewer than two.
fn boundary(mesh: &LineMesh, source: &ParticleMesh) -> Vec<u32> {
    let mut counts = vec![0; mesh.positions.len()];
    mesh.segments.iter().flatten().for_each(|&v| counts[v as usize] += 1);
    let full = if matches!(source, ParticleMesh::Net(_)) { 4 } else { 2 };
    (0..).zip(counts).filter(|(_, count)| *count < full).map(|(v, _)| v).collect()
}

fn selected(
    select: &Selection,
    mesh: &LineMesh,
    source: &ParticleMesh,
    file: &dyn Fn(&str) -> PathBuf,
) -> Result<Vec<u32>, String> {
    match select {
        Selection::Boundary => match boundary(mesh, source) {
            none if none.is_empty() => Err("matches no vertex: no segment ends at a single particle".into()),
            some => Ok(some),
        },
        select => select.resolve_in_order(&as_surface(mesh, source), file),
    }
}

impl Builder<'_> {
    /// One body of point masses, or `None` if a problem was reported.
    pub fn particles(&mut self, index: usize, given: &Particles) -> Option<taut::Particles> {
        let name = given.name.clone().unwrap_or_default();
        let place = Place { kind: "particles", index, name: &name };
        let mut mesh = self.lines(place, given)?;
        let scale = vector(given.transform.scale.factors());
        mesh.positions.iter_mut().for_each(|x| *x = (scale * x.as_dvec3()).as_vec3());
        let start = self.start(place, &given.transform, mesh.positions.clone())?;
        let before = self.report.problems.len();
        let pins =
            self.pins(place, &given.pin, &start, |select, file| selected(select, &mesh, &given.mesh, file));
        let masses = match given.mass_per_length {
            None => vec![given.mass.unwrap_or(MASS); start.len()],
            Some(density) => {
                let mut masses = vec![0.0; start.len()];
                for (k, segment) in mesh.segments.iter().enumerate() {
                    let half = 0.5 * density * mesh.length(k);
                    segment.iter().for_each(|&v| masses[v as usize] += half);
                }
                if let Some(v) = masses.iter().position(|m| *m < 1e-12) {
                    let message = format!("gives particle {v} no mass: no segment ends there; use mass");
                    self.refuse::<()>(place, &["mass_per_length"], message);
                }
                masses
            }
        };
        let springs =
            given.spring.map_or_else(taut::SegmentSprings::default, |spring| taut::SegmentSprings {
                stiffness: spring.stiffness as f32,
                damping: spring.damping as f32,
                rest: spring.rest as f32,
                breaking_force: spring.breaking_force.map(|force| force as f32),
            });
        let edge = given.edge.build();
        if edge.is_some() && springs.breaking_force.is_some() {
            let message = "cannot be combined with edge, which holds whatever the force".into();
            self.refuse::<()>(place, &["spring", "breaking_force"], message);
        }
        if edge.is_some()
            && let Some(k) = (0..mesh.segments.len()).find(|&k| mesh.length(k) < 1e-9)
        {
            let message = format!("cannot limit segment {k}, which has no length");
            self.refuse::<()>(place, &["edge"], message);
        }
        (self.report.problems.len() == before).then(|| taut::Particles {
            name: name.clone(),
            mesh,
            start,
            velocity: vector(given.velocity).as_vec3(),
            masses,
            radius: given.radius as f32,
            damping: given.damping as f32,
            model: given.engine_model(),
            springs,
            edge,
            pins,
        })
    }

    /// The rest shape, before it is scaled.
    fn lines(&mut self, place: Place<'_>, given: &Particles) -> Option<LineMesh> {
        match &given.mesh {
            ParticleMesh::Chain(chain) => {
                let [from, to] = [chain.from, chain.to].map(|end| vector(end).as_vec3());
                Some(LineMesh::chain(from, to, chain.segments))
            }
            ParticleMesh::Net(net) => Some(LineMesh::net(net.size.map(|s| s as f32), net.cells)),
            ParticleMesh::Points(points) => Some(LineMesh {
                positions: points.iter().map(|p| vector(*p).as_vec3()).collect(),
                segments: Vec::new(),
            }),
            ParticleMesh::File(file) => {
                let path = self.scene.resolve(file);
                if !path.exists() {
                    let message = format!("file not found: {}", path.display());
                    return self.refuse(place, &["mesh", "file"], message);
                }
                match crate::mesh::read_lines(&path) {
                    Ok(mesh) => Some(mesh),
                    Err(problem) => {
                        let message = format!("{} (mesh of particles \"{}\")", problem.message, place.name);
                        self.report.problems.push(Problem { message, ..problem });
                        None
                    }
                }
            }
        }
    }

    /// The springs of one `[[spring]]`, none if a problem was reported.
    pub fn springs(
        &mut self,
        index: usize,
        given: &Spring,
        bodies: (&[taut::Body], &[taut::RigidBody]),
    ) -> Vec<taut::Spring> {
        let name = given.name.clone().unwrap_or_default();
        let place = Place { kind: "spring", index, name: &name };
        let mut sides: [Vec<SpringEnd>; 2] = Default::default();
        let before = self.report.problems.len();
        for ((side, key), end) in sides.iter_mut().zip(["from", "to"]).zip([&given.from, &given.to]) {
            match self.end(end, bodies) {
                Ok(ends) => *side = ends,
                Err((inner, message)) => {
                    self.refuse::<()>(place, &[key, inner], message);
                }
            }
        }
        if self.report.problems.len() > before {
            return Vec::new();
        }
        let [from, to] = &sides;
        let count = from.len().max(to.len());
        if from.len() != to.len() && from.len().min(to.len()) > 1 {
            let message = format!(
                "selects {} vertices, must select one or the same number as `from`, {}",
                to.len(),
                from.len()
            );
            self.refuse::<()>(place, &["to"], message);
            return Vec::new();
        }
        let at = |side: &[SpringEnd], k: usize| side[k.min(side.len() - 1)];
        let mut springs = Vec::new();
        for k in 0..count {
            let ends = [at(from, k), at(to, k)];
            if ends[0] == ends[1] || ends.iter().all(|end| matches!(end, SpringEnd::Point(_))) {
                let message = match ends[0] {
                    SpringEnd::Vertex { vertex, .. } => format!("joins vertex {vertex} to itself"),
                    SpringEnd::Point(_) => "is a point like `from`; one end must be of a body".into(),
                    SpringEnd::RigidBody { .. } => "is the same point as `from`".into(),
                };
                self.refuse::<()>(place, &["to"], message);
                return Vec::new();
            }
            if let Some(message) = refused(&ends) {
                self.refuse::<()>(place, &["to"], message.into());
                return Vec::new();
            }
            springs.push(taut::Spring {
                name: if count > 1 { format!("{name}.{k}") } else { name.clone() },
                ends,
                rest: given.rest_length.map(|rest| rest as f32),
                stiffness: given.stiffness as f32,
                damping: given.damping as f32,
                breaking_force: given.breaking_force.map(|force| force as f32),
            });
        }
        springs
    }

    /// The vertices or the point of one end; the key at fault and what is wrong with it otherwise.
    fn end(
        &self,
        end: &End,
        (bodies, rigid): (&[taut::Body], &[taut::RigidBody]),
    ) -> Result<Vec<SpringEnd>, (&'static str, String)> {
        let of_rigid = rigid.iter().position(|body| Some(&body.obstacle.name) == end.body.as_ref());
        if let (Some(body), None, None) = (of_rigid, &end.select, end.point) {
            let start = rigid[body].start().pose;
            let at = end.at.map_or(Vec3::ZERO, |at| start.to_body(vector(at).as_vec3()));
            return Ok(vec![SpringEnd::RigidBody { body, at }]);
        }
        if of_rigid.is_some() && end.select.is_some() {
            return Err((
                "select",
                "is for vertices; a point of an obstacle with mass is given by `at`".into(),
            ));
        }
        if end.at.is_some() {
            return Err(("at", "is a point of an obstacle with mass; `body` must name one".into()));
        }
        let (name, select) = match (&end.body, &end.select, end.point) {
            (None, None, Some(point)) => return Ok(vec![SpringEnd::Point(vector(point).as_vec3())]),
            (Some(name), Some(select), None) => (name, select),
            (_, _, Some(_)) => {
                return Err(("point", "cannot be combined with body or select".into()));
            }
            (Some(_), None, None) => {
                return Err(("select", "is missing; it selects vertices of body".into()));
            }
            (None, _, None) => return Err(("body", "is missing; give body with select, or point".into())),
        };
        let Some(number) = bodies.iter().position(|body| body.name() == name) else {
            let rigid = rigid.iter().map(|body| body.obstacle.name.as_str());
            let known: Vec<&str> = bodies.iter().map(taut::Body::name).chain(rigid).collect();
            let shown: String = name.chars().take(64).collect();
            let near = hint(name, known.iter().copied());
            return Err(("body", format!("no body is named {shown:?}{near} known: {}", known.join(", "))));
        };
        if bodies[number].as_cloth().is_some_and(|cloth| cloth.model.edge().is_some()) {
            let message =
                format!("\"{name}\" has model \"edge\", which supports no springs; use model \"fem\"");
            return Err(("body", message));
        }
        if bodies[number].as_cloth().is_some_and(|cloth| cloth.midpoints.is_some()) {
            let message =
                format!("\"{name}\" has model \"developable\", which supports no springs; use model \"fem\"");
            return Err(("body", message));
        }
        let file = |file: &str| -> PathBuf { self.scene.resolve(file) };
        let resolve = |select: Selection| match &bodies[number] {
            taut::Body::Cloth(cloth) => select.resolve_in_order(&cloth.mesh, file),
            taut::Body::Solid(solid) => {
                let positions: Vec<Vec3> = solid.mesh.positions.clone();
                let triangles = solid.mesh.boundary();
                let surface = TriangleMesh { positions, triangles, ..TriangleMesh::default() };
                match select {
                    Selection::Boundary => {
                        let mut all: Vec<u32> = surface.triangles.iter().flatten().copied().collect();
                        all.sort_unstable();
                        all.dedup();
                        Ok(all)
                    }
                    select => select.resolve_in_order(&surface, file),
                }
            }
            taut::Body::Particles(particles) => {
                let given = self.scene.scene.particles.iter();
                let source = given.map(|given| (&given.name, &given.mesh));
                let mut own = source.filter(|(own, _)| own.as_deref() == Some(name));
                match own.next() {
                    Some((_, source)) => selected(&select, &particles.mesh, source, &file),
                    None => Err("matches no vertex".into()),
                }
            }
            taut::Body::Hair(_) => Err("is on hair, which supports no springs".into()),
        };
        let vertices = Selection::parse(select).and_then(resolve).map_err(|message| ("select", message))?;
        Ok(vertices.into_iter().map(|vertex| SpringEnd::Vertex { body: number, vertex }).collect())
    }
}
