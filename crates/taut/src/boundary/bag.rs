//! Bags (S5): closed surfaces of cloth with a gas inside.
//!
//! Closed is what has no border once seams are sewn: a cloth whose mesh is closed, one whose borders are sewn
//! to each other, or several cloths that are. Panels may face either way: triangles are turned so that
//! neighbours agree and the volume at the start is positive. What cannot be turned so is refused, as is what
//! is open, with its borders.
//!
//! V = ⅙ Σ det(a, b, c) over the triangles; its gradient at a vertex is a third of the area vectors of the
//! triangles around it.

use std::collections::BTreeMap;

use glam::DVec3;

use crate::{
    Cloth, Description, Pressure, PressureLaw, WorldError,
    body::{BodyTables, cloth::validate::invalid, in_order},
    boundary::seam::Sewing,
    kernel::lanes::Quad,
};

/// Volume below which a bag counts as flat, over that of a sphere of the same area.
const FLAT: f64 = 1e-3;

/// Most borders that a message lists.
const MOST_LISTED: usize = 8;

/// A closed surface.
#[derive(Clone, Debug)]
pub struct Bag {
    /// The cloth that has the pressure, then the others of the bag, by their numbers among all bodies.
    pub bodies: Vec<usize>,
    /// Triangles of all of them, in the engine's order of vertices, all facing outwards.
    pub triangles: Vec<[u32; 3]>,
    /// What is inside.
    pub pressure: Pressure,
    /// Reference volume V₀ \[m³\]; 0 if it has none and needs none.
    pub volume: f64,
    /// Area at rest \[m²\].
    pub area: f64,
}

/// The volume inside oriented `triangles` whose vertices are `at` \[m³\].
pub(crate) fn volume(triangles: &[[u32; 3]], at: impl Fn(u32) -> DVec3) -> f64 {
    let Some(first) = triangles.first() else { return 0.0 };
    let origin = at(first[0]);
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| at(v) - origin);
        a.dot(b.cross(c))
    };
    triangles.iter().map(of).sum::<f64>() / 6.0
}

impl Bag {
    /// Radius of a sphere of its area \[m\].
    pub fn radius(&self) -> f64 {
        (self.area / (4.0 * std::f64::consts::PI)).sqrt()
    }

    /// Volume of a sphere of its area \[m³\].
    pub fn roundest(&self) -> f64 {
        self.area * self.radius() / 3.0
    }

    /// Whether its seams are closed at positions `x`, to the bit.
    pub fn is_closed(&self, sewing: &Sewing, x: impl Fn(u32) -> DVec3) -> bool {
        let twin = |v: u32| sewing.identity.get(v as usize).copied().unwrap_or(v);
        self.triangles.iter().flatten().all(|&v| twin(v) == v || x(twin(v)) == x(v))
    }
}

fn place(x: &Quad) -> DVec3 {
    DVec3::new(x[0].into(), x[1].into(), x[2].into())
}

/// The bags of `description`, whose seams are `sewing` and whose vertices start at `start`.
///
/// # Errors
/// If cloth with a pressure is not closed, cannot be oriented, or its volume is needed and not known.
pub(crate) fn bags(
    description: &Description,
    bodies: &[BodyTables],
    sewing: &Sewing,
    start: &[Quad],
) -> Result<Vec<Bag>, WorldError> {
    let mut bags: Vec<Bag> = Vec::new();
    for (number, body) in description.bodies.iter().enumerate() {
        let Some(cloth) = body.as_cloth() else { continue };
        let Some(pressure) = &cloth.pressure else { continue };
        let builder = Builder { description, bodies, sewing, cloth };
        let bag = builder.bag(number, pressure, start)?;
        if let Some(&twice) = bag.bodies.iter().find(|&b| bags.iter().any(|bag| bag.bodies.contains(b))) {
            let name = description.bodies[twice].name();
            return Err(invalid(cloth, format!("pressure: cloth \"{name}\" belongs to another bag already")));
        }
        bags.push(bag);
    }
    Ok(bags)
}

struct Builder<'a> {
    description: &'a Description,
    bodies: &'a [BodyTables],
    sewing: &'a Sewing,
    cloth: &'a Cloth,
}

impl Builder<'_> {
    fn bag(&self, number: usize, pressure: &Pressure, start: &[Quad]) -> Result<Bag, WorldError> {
        let all = self.members(number, pressure)?;
        let mut triangles = Vec::new();
        let mut rest = BTreeMap::new();
        let mut owners = Vec::new();
        for &(member, cloth) in &all {
            let tables = &self.bodies[member];
            let place = in_order(tables.order(), tables.vertices.start);
            triangles.extend(cloth.mesh.triangles.iter().map(|t| t.map(|v| place[v as usize])));
            rest.extend(place.iter().zip(&cloth.mesh.positions).map(|(&v, p)| (v, p.as_dvec3())));
            owners.resize(triangles.len(), member);
        }
        let begins = |v: u32| place(&start[v as usize]);
        let rests = |v: u32| rest[&v];
        let pieces = self.orient(&mut triangles)?;
        let count = pieces.iter().max().map_or(0, |last| last + 1);
        let mut of_first = vec![false; count];
        pieces.iter().zip(&owners).for_each(|(&piece, owner)| of_first[piece] |= *owner == number);
        if let Some(t) = (0..triangles.len()).find(|&t| !of_first[pieces[t]]) {
            let other = self.description.bodies[owners[t]].name();
            let problem = format!("pressure.with names cloth \"{other}\", which is not sewn to it");
            return Err(self.refuse(problem));
        }
        for piece in 0..count {
            let own: Vec<[u32; 3]> =
                (0..triangles.len()).filter(|&t| pieces[t] == piece).map(|t| triangles[t]).collect();
            let inside = match volume(&own, begins) {
                0.0 => volume(&own, rests),
                inside => inside,
            };
            if inside < 0.0 {
                let turned = triangles.iter_mut().zip(&pieces).filter(|(_, p)| **p == piece);
                turned.for_each(|(t, _)| t.swap(1, 2));
            }
        }
        let area = triangles.iter().map(|t| {
            let [a, b, c] = t.map(rests);
            0.5 * (b - a).cross(c - a).length()
        });
        let area = area.sum();
        let bodies = all.iter().map(|(member, _)| *member).collect();
        let mut bag = Bag { bodies, triangles, pressure: pressure.clone(), volume: 0.0, area };
        let known = if bag.is_closed(self.sewing, rests) {
            Some(volume(&bag.triangles, rests).abs())
        } else {
            bag.is_closed(self.sewing, begins).then(|| volume(&bag.triangles, begins))
        };
        bag.volume = pressure.volume.map(f64::from).or(known).unwrap_or(0.0);
        if bag.volume < FLAT * bag.roundest() && pressure.law != PressureLaw::Pascal {
            let law = pressure.law.name();
            let why = if known.is_some() { "is flat at rest" } else { "is not sewn together at the start" };
            let problem = format!(
                "pressure.{law} refers to the volume at rest, but the bag {why}; give pressure.volume [m³], or pressure.pascal"
            );
            return Err(self.refuse(problem));
        }
        Ok(bag)
    }

    fn refuse(&self, problem: String) -> WorldError {
        invalid(self.cloth, problem)
    }

    /// The cloths of a bag.
    fn members(&self, number: usize, pressure: &Pressure) -> Result<Vec<(usize, &Cloth)>, WorldError> {
        let mut all = vec![(number, self.cloth)];
        for name in &pressure.with {
            let mut bodies = self.description.bodies.iter().enumerate();
            let found = bodies.find_map(|(k, body)| Some((k, body.as_cloth().filter(|c| c.name == *name)?)));
            let Some(member) = found else {
                return Err(
                    self.refuse(format!("pressure.with names \"{name}\", but there is no such cloth"))
                );
            };
            if all.iter().any(|(k, _)| *k == member.0) {
                return Err(self.refuse(format!("pressure.with names cloth \"{name}\" twice, or itself")));
            }
            if member.1.pressure.is_some() {
                let problem =
                    format!("pressure.with names cloth \"{name}\", which has a pressure of its own");
                return Err(self.refuse(problem));
            }
            all.push(member);
        }
        Ok(all)
    }

    /// Turns triangles so that neighbours agree. Gives the connected piece that each belongs to.
    fn orient(&self, triangles: &mut [[u32; 3]]) -> Result<Vec<usize>, WorldError> {
        // (edge, triangle, whether it runs along it forwards)
        let mut sides: Vec<([u32; 2], u32, bool)> = Vec::with_capacity(3 * triangles.len());
        for (t, triangle) in (0..).zip(triangles.iter()) {
            let [a, b, c] = self.sewing.welded(*triangle);
            sides.extend([(a, b), (b, c), (c, a)].map(|(p, q)| ([p.min(q), p.max(q)], t, p < q)));
        }
        sides.sort_unstable();
        let mut around: Vec<Vec<(u32, bool)>> = vec![Vec::new(); triangles.len()];
        let mut border = Vec::new();
        for run in sides.chunk_by(|a, b| a.0 == b.0) {
            match run {
                [] => {}
                [(edge, ..)] => border.push(*edge),
                [(_, s, forwards), (_, t, also)] => {
                    around[*s as usize].push((*t, forwards == also));
                    around[*t as usize].push((*s, forwards == also));
                }
                [(edge, ..), ..] => {
                    let [p, q] = edge.map(|v| self.called(v));
                    let count = run.len();
                    let problem = format!(
                        "pressure needs a closed surface, but {count} faces meet at the edge from {p} to {q}"
                    );
                    return Err(self.refuse(problem));
                }
            }
        }
        if !border.is_empty() {
            return Err(self.refuse(self.open(&border)));
        }
        let mut pieces = vec![usize::MAX; triangles.len()];
        let mut turned = vec![false; triangles.len()];
        let mut count = 0;
        for first in 0..triangles.len() {
            if pieces[first] != usize::MAX {
                continue;
            }
            pieces[first] = count;
            let mut queue = vec![first];
            while let Some(t) = queue.pop() {
                for &(next, differs) in &around[t] {
                    let (next, turn) = (next as usize, turned[t] != differs);
                    if pieces[next] == usize::MAX {
                        (pieces[next], turned[next]) = (count, turn);
                        queue.push(next);
                    } else if turned[next] != turn {
                        let vertex = self.called(triangles[next][0]);
                        let problem = format!(
                            "pressure needs a surface with two sides; this one has one only (seen at {vertex}), as a Möbius strip has"
                        );
                        return Err(self.refuse(problem));
                    }
                }
            }
            count += 1;
        }
        triangles.iter_mut().zip(turned).filter(|(_, turned)| *turned).for_each(|(t, _)| t.swap(1, 2));
        Ok(pieces)
    }

    /// What is wrong with a surface that has a `border`.
    fn open(&self, border: &[[u32; 2]]) -> String {
        let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &[a, b] in border {
            next.entry(a).or_default().push(b);
            next.entry(b).or_default().push(a);
        }
        let mut loops = Vec::new();
        while let Some((&first, _)) = next.first_key_value() {
            let (mut at, mut edges) = (first, 0);
            while let Some(to) = next.get_mut(&at).and_then(Vec::pop) {
                if let Some(back) = next.get_mut(&to) {
                    back.iter().position(|v| *v == at).map(|k| back.swap_remove(k));
                }
                (at, edges) = (to, edges + 1);
            }
            next.retain(|_, ends| !ends.is_empty());
            loops.push(format!("one of {edges} edges at {}", self.called(first)));
        }
        let more = loops.len().saturating_sub(MOST_LISTED);
        let mut listed = loops[..loops.len().min(MOST_LISTED)].join(", ");
        if more > 0 {
            listed = format!("{listed} and {more} more");
        }
        let count = loops.len();
        let borders = if count == 1 { "border" } else { "borders" };
        format!(
            "pressure needs a closed surface, but it has {count} {borders}: {listed}; close the mesh, sew its borders, or name the other cloths of the bag in pressure.with"
        )
    }

    /// A vertex of the engine as the caller knows it.
    fn called(&self, vertex: u32) -> String {
        let number = self.bodies.partition_point(|body| body.vertices.end <= vertex as usize);
        let tables = &self.bodies[number];
        let own = tables.order()[vertex as usize - tables.vertices.start];
        match self.description.bodies[number].name() {
            name if name == self.cloth.name => format!("vertex {own}"),
            name => format!("vertex {own} of \"{name}\""),
        }
    }
}
