//! What happened in a step that a caller may want to know of.

use super::{BodyHandle, RigidBodyHandle, Simulation};
use crate::{Body, FrameReport, kernel::lanes::Quad, measure::certify_body};

/// What rounding may leave past a limit (strain).
const PAST_SLACK: f64 = 1e-5;

/// Part of a body, in the order of its mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Element {
    /// A triangle of cloth.
    Triangle(u32),
    /// A tetrahedron of a soft solid.
    Tetrahedron(u32),
    /// An edge, by its vertices.
    Edge([u32; 2]),
    /// The edge of a hinge, by its vertices.
    Hinge([u32; 2]),
}

/// A spring that broke.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BrokenSpring {
    /// A segment of particles.
    Segment {
        /// Which body.
        body: BodyHandle,
        /// Its segment.
        segment: u32,
    },
    /// A spring of the description.
    Spring {
        /// Its name.
        name: String,
        /// Its number among them.
        number: u32,
    },
}

/// What happened in a step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A body ended the step past a limit by more than the solver's tolerance. Of every limit that it has
    /// there is one event a step, for the worst element.
    LimitNotMet {
        /// Which body.
        body: BodyHandle,
        /// Its worst element.
        element: Element,
        /// How far it is past the limit: strain, or degrees of a hinge.
        excess: f32,
    },
    /// A body ended the step passing through itself, another body or a mesh obstacle.
    Tangled {
        /// Which body.
        body: BodyHandle,
        /// An end of an edge of it that passes through a triangle.
        vertex: u32,
        /// How many of its edges do, each counted with each such triangle.
        edges: u32,
    },
    /// All pairs of a seam have come together in this step.
    SeamClosed {
        /// Its name.
        seam: String,
        /// The bodies of its first pair.
        bodies: [BodyHandle; 2],
    },
    /// A vertex was reset after becoming non-finite: it is where it was before the step, at rest.
    Rescued {
        /// Which body.
        body: BodyHandle,
        /// Its vertex.
        vertex: u32,
    },
    /// A spring broke in this step.
    SpringBroke {
        /// What it belongs to.
        spring: BrokenSpring,
    },
    /// A body tore in this step: its mesh has more vertices than before, and its triangles others
    /// ([`Simulation::description`]).
    Torn {
        /// Which body.
        body: BodyHandle,
        /// Its new vertices.
        vertices: std::ops::Range<u32>,
    },
    /// Strands of hair tore in this step ([`Hair::cuts`](crate::Hair::cuts)).
    Cut {
        /// Which hair.
        body: BodyHandle,
        /// How many strands it has more than before.
        pieces: u32,
    },
    /// A rigid body was reset likewise.
    RigidBodyRescued {
        /// Which.
        body: RigidBodyHandle,
    },
}

/// A seam that is watched until it closes.
#[derive(Clone, Debug)]
pub(super) struct SeamWatch {
    /// Which, of the description's.
    seam: usize,
    /// In the engine's order.
    pairs: Vec<[u32; 2]>,
}

impl SeamWatch {
    fn is_closed(&self, x: &[Quad]) -> bool {
        self.pairs.iter().all(|pair| {
            let [a, b] = pair.map(|v| &x[v as usize]);
            a[..3] == b[..3]
        })
    }
}

impl Simulation {
    /// Takes what happened in the last step. A step forgets what the one before left here.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Event> {
        self.events.drain(..)
    }

    /// Notes what happened in the step of which `report` tells. What the step before left is forgotten, so
    /// that a caller who never asks pays nothing.
    pub(super) fn collect_events(&mut self, report: &FrameReport) {
        self.events.clear();
        if report.rescued > 0 {
            self.collect_rescued();
        }
        if report.tangled > 0 {
            self.collect_tangled();
        }
        self.collect_broken();
        if !report.converged {
            self.collect_limits();
        }
        self.collect_seams();
    }

    /// Body and vertex of the caller for vertex `vertex` of the engine, unless it is one of an obstacle.
    fn caller_vertex(&self, vertex: u32) -> Option<(BodyHandle, u32)> {
        let vertex = vertex as usize;
        let body = self.world.bodies.iter().position(|tables| tables.vertices.contains(&vertex))?;
        let tables = &self.world.bodies[body];
        Some((BodyHandle(self.bodies.handle(body)), tables.order()[vertex - tables.vertices.start]))
    }

    fn collect_rescued(&mut self) {
        let [vertices, rigid] = self.stepper.rescued();
        let vertices = vertices.iter().filter_map(|&v| self.caller_vertex(v));
        let vertices = vertices.map(|(body, vertex)| Event::Rescued { body, vertex });
        let rigid = rigid.iter().map(|&k| RigidBodyHandle(self.rigid.handle(k as usize)));
        let rigid = rigid.map(|body| Event::RigidBodyRescued { body });
        let found: Vec<Event> = vertices.chain(rigid).collect();
        self.events.extend(found);
    }

    fn collect_broken(&mut self) {
        for &number in self.stepper.broken_springs() {
            let mut first = 0;
            let bodies = self.world.description.bodies.iter().enumerate();
            let mut segments = bodies.filter_map(|(body, described)| {
                let count = described.as_particles()?.mesh.segments.len() as u32;
                let own = first..first + count;
                first += count;
                own.contains(&number).then_some((body, number - own.start))
            });
            let spring = match segments.next() {
                Some((body, segment)) => {
                    BrokenSpring::Segment { body: BodyHandle(self.bodies.handle(body)), segment }
                }
                None => {
                    let number = number - first;
                    let name = self.world.description.springs[number as usize].name.clone();
                    BrokenSpring::Spring { name, number }
                }
            };
            self.events.push(Event::SpringBroke { spring });
        }
    }

    fn collect_tangled(&mut self) {
        let mut found: Vec<(BodyHandle, u32, u32)> = Vec::new();
        for piercing in self.state.piercings.iter().flatten() {
            // The edge of a mesh obstacle that passes through cloth tells of the cloth.
            let vertices = piercing.edge.into_iter().chain(piercing.triangle);
            let Some((body, vertex)) = vertices.filter_map(|v| self.caller_vertex(v)).next() else {
                continue;
            };
            match found.iter_mut().find(|(other, ..)| *other == body) {
                Some((_, _, edges)) => *edges += 1,
                None => found.push((body, vertex, 1)),
            }
        }
        let event = |(body, vertex, edges)| Event::Tangled { body, vertex, edges };
        self.events.extend(found.into_iter().map(event));
    }

    fn collect_limits(&mut self) {
        let solver = self.world.description.solver;
        for (index, described) in self.world.description.bodies.iter().enumerate() {
            let measured = certify_body(&self.world, &self.state, index);
            let (strain, bend) = (&measured.strain, &measured.bend);
            let worst = match described {
                Body::Cloth(_) => Element::Triangle(strain.worst_element),
                Body::Solid(_) => Element::Tetrahedron(strain.worst_element),
                Body::Particles(_) | Body::Hair(_) => Element::Edge(strain.worst_edge),
            };
            let tolerance = f64::from(solver.tolerance.past()) + PAST_SLACK;
            let past = [
                (worst, strain.max_residual, tolerance),
                (Element::Edge(strain.worst_edge), strain.max_edge_residual, tolerance),
                (Element::Hinge(bend.worst_hinge), bend.max_bend_excess, f64::from(solver.bend_tolerance)),
            ];
            let body = BodyHandle(self.bodies.handle(index));
            for (element, excess, tolerance) in past {
                if excess > tolerance {
                    self.events.push(Event::LimitNotMet { body, element, excess: excess as f32 });
                }
            }
        }
    }

    fn collect_seams(&mut self) {
        let x = &self.state.x;
        let closed: Vec<usize> =
            self.seams.extract_if(.., |watch| watch.is_closed(x)).map(|watch| watch.seam).collect();
        for seam in closed {
            let seam = &self.world.description.seams[seam];
            let bodies = seam.pairs[0].map(|(body, _)| BodyHandle(self.bodies.handle(body)));
            self.events.push(Event::SeamClosed { seam: seam.name.clone(), bodies });
        }
    }

    /// Watches the seams that are open.
    pub(super) fn watch_seams(&mut self) {
        let place = |(body, vertex): (usize, u32)| {
            self.world.bodies[body].vertices.start as u32 + self.places[body][vertex as usize]
        };
        let seams = self.world.description.seams.iter().enumerate();
        let watch = seams.map(|(seam, described)| SeamWatch {
            seam,
            pairs: described.pairs.iter().map(|pair| pair.map(place)).collect(),
        });
        self.seams = watch.filter(|watch| !watch.is_closed(&self.state.x)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Budget, Cloth, Material, mesh::generate};

    #[test]
    fn a_vertex_that_is_reset_is_an_event_with_the_callers_number() {
        let mesh = generate::grid([1.0, 1.0], [6, 6], generate::Diagonals::Alternating, 0);
        let mut simulation = Simulation::builder().threads(1).build().unwrap();
        let first = simulation.insert(Cloth::new("first", mesh.clone(), Material::default())).unwrap();
        let cloth = simulation.insert(Cloth::new("cloth", mesh, Material::default())).unwrap();
        let place = simulation.world.bodies[1].vertices.start + simulation.places[1][17] as usize;
        simulation.state.v[place] = [f32::NAN; 4];
        let report = simulation.step(1.0 / 60.0, Budget::unlimited()).unwrap();
        let events: Vec<Event> = simulation.drain_events().collect();
        assert!(
            report.rescued > 0 && events.contains(&Event::Rescued { body: cloth, vertex: 17 }),
            "{events:?}"
        );
        assert!(!events.iter().any(|event| matches!(event, Event::Rescued { body, .. } if *body == first)));
        let positions = simulation.positions(cloth).unwrap();
        assert!(positions.iter().all(|x| x.is_finite()));
    }
}
