//! Everything that a world limits element by element: the one list that sweeps, serial and Jacobi iterations
//! and residuals go over.
//!
//! A set is called once for all its elements (`dyn`); inside, the loops know the kind of element and are
//! compiled for it.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

use super::{
    Limited, colored,
    edge::EdgeElement,
    hinge::BendElement,
    iterate,
    tetrahedron::TetrahedronElement,
    triangle::{StrainElement, StrainLimits, TriangleLanes},
    woven::{WovenElement, WovenLanes},
};
use crate::{
    exec::colored::Colored,
    kernel::{lanes::Quad, random::Random},
    limit::Settings,
};

/// In what the residuals of a set are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Relative lengths.
    Strain,
    /// Angles: the sine of half of how far they are past their limits.
    Bend,
}

/// Elements of one kind with limits.
pub trait ElementSet: Debug + Send + Sync {
    /// What the certificate calls it.
    fn name(&self) -> &'static str;

    /// In what its residuals are measured.
    fn quantity(&self) -> Quantity;

    /// How many elements there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One coloured sweep; `order` is scratch. Gives the largest residual met on the way.
    fn sweep(&self, settings: &Settings, x: &mut [Quad], random: &mut Random, order: &mut Vec<u32>) -> f32;

    /// One iteration over single elements; `order` is scratch. Gives the largest residual met on the way.
    fn serial(&self, settings: &Settings, x: &mut [Quad], random: &mut Random, order: &mut Vec<u32>) -> f32;

    /// Adds weighted corrections to `moves`. Gives the largest residual.
    fn accumulate(&self, settings: &Settings, x: &[Quad], moves: &mut [Quad]) -> f32;

    /// The largest residual; nothing moves.
    fn residual(&self, settings: &Settings, x: &[Quad]) -> f32;

    /// What it has come to, element by element and without lanes.
    fn certificate(&self, x: &[Quad]) -> ElementCertificate;
}

/// What a set of elements has come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ElementCertificate {
    /// Of what.
    pub name: String,
    /// Largest residual; 0 if all elements are within their limits.
    pub max_residual: f32,
    /// Element that it belongs to, in the order that they were given in.
    pub worst_element: u32,
}

impl ElementCertificate {
    fn of<E: Limited<K>, const K: usize>(name: &str, elements: &[E], x: &[Quad]) -> Self {
        let mut found = Self { name: name.to_owned(), ..Self::default() };
        for (e, element) in elements.iter().enumerate() {
            let corners = element.vertices().map(|v| x[v as usize]);
            let residual = element.residual_one(&corners.map(|q| [q[0], q[1], q[2]]));
            if residual > found.max_residual {
                (found.max_residual, found.worst_element) = (residual, e as u32);
            }
        }
        found
    }
}

/// A set of elements of one type.
#[derive(Debug)]
pub struct LimitedElements<E: Limited<K>, const K: usize> {
    name: &'static str,
    quantity: Quantity,
    elements: Vec<E>,
    colored: Colored<E::Lanes, K>,
}

impl<E: Limited<K>, const K: usize> LimitedElements<E, K> {
    /// These elements, of vertices below `spare`, whose residuals are a `quantity`.
    pub fn new(name: &'static str, quantity: Quantity, spare: u32, elements: Vec<E>) -> Self {
        Self { name, quantity, colored: colored(spare as usize, spare, &elements), elements }
    }

    /// The elements, in no special order.
    pub fn elements(&self) -> &[E] {
        &self.elements
    }

    /// The elements and their batches, to change limits in both.
    pub fn tables_mut(&mut self) -> (&mut [E], &mut Colored<E::Lanes, K>) {
        (&mut self.elements, &mut self.colored)
    }
}

impl<E: Limited<K, Lanes: Debug> + Debug, const K: usize> ElementSet for LimitedElements<E, K> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn quantity(&self) -> Quantity {
        self.quantity
    }

    fn len(&self) -> usize {
        self.elements.len()
    }

    fn sweep(&self, settings: &Settings, x: &mut [Quad], random: &mut Random, order: &mut Vec<u32>) -> f32 {
        iterate::sweep(settings, &self.colored, x, random, order)
    }

    fn serial(&self, settings: &Settings, x: &mut [Quad], random: &mut Random, order: &mut Vec<u32>) -> f32 {
        iterate::serial(settings, &self.elements, x, random, order)
    }

    fn accumulate(&self, settings: &Settings, x: &[Quad], moves: &mut [Quad]) -> f32 {
        iterate::accumulate(settings, &self.colored, x, moves)
    }

    fn residual(&self, settings: &Settings, x: &[Quad]) -> f32 {
        iterate::residual(settings, &self.colored, x)
    }

    fn certificate(&self, x: &[Quad]) -> ElementCertificate {
        ElementCertificate::of(self.name, &self.elements, x)
    }
}

/// Triangles: one after the other they are one set; in lanes, those with limits along warp, weft and bias
/// come after the others.
#[derive(Debug)]
pub struct Triangles {
    elements: Vec<StrainElement>,
    plain: Colored<TriangleLanes, 3>,
    woven: Colored<WovenLanes, 3>,
}

impl Triangles {
    /// These triangles, of vertices below `spare`.
    pub fn new(spare: u32, elements: Vec<StrainElement>) -> Self {
        let (woven, plain): (Vec<_>, Vec<_>) = elements.iter().copied().partition(|e| e.weave.is_some());
        let woven: Vec<_> = woven.into_iter().map(WovenElement).collect();
        let count = spare as usize;
        Self { plain: colored(count, spare, &plain), woven: colored(count, spare, &woven), elements }
    }

    /// Gives the triangles of the vertices `vertices` other limits of the same kind.
    pub fn set_limits(&mut self, vertices: &std::ops::Range<usize>, limits: StrainLimits) {
        let StrainLimits { loosest, woven } = limits;
        for element in self.elements.iter_mut().filter(|e| vertices.contains(&(e.vertices[0] as usize))) {
            element.range = loosest;
            if let (Some(weave), Some(ranges)) = (&mut element.weave, woven) {
                [weave.warp, weave.weft, weave.bias] = ranges;
            }
        }
        match woven {
            None => self.plain.change(|corners, lanes, lane| {
                if vertices.contains(&corners[0]) {
                    lanes.set_range(lane, loosest);
                }
            }),
            Some(ranges) => self.woven.change(|corners, lanes, lane| {
                if vertices.contains(&corners[0]) {
                    lanes.set_ranges(lane, loosest, ranges);
                }
            }),
        }
    }

    /// All of them, in their order.
    pub fn elements(&self) -> &[StrainElement] {
        &self.elements
    }

    /// How many colours a sweep goes through.
    pub fn color_count(&self) -> usize {
        self.plain.color_count() + self.woven.color_count()
    }
}

impl ElementSet for Triangles {
    fn name(&self) -> &'static str {
        "triangles"
    }

    fn quantity(&self) -> Quantity {
        Quantity::Strain
    }

    fn len(&self) -> usize {
        self.elements.len()
    }

    fn sweep(&self, settings: &Settings, x: &mut [Quad], random: &mut Random, order: &mut Vec<u32>) -> f32 {
        let plain = iterate::sweep(settings, &self.plain, x, random, order);
        plain.max(iterate::sweep(settings, &self.woven, x, random, order))
    }

    fn serial(&self, settings: &Settings, x: &mut [Quad], random: &mut Random, order: &mut Vec<u32>) -> f32 {
        iterate::serial(settings, &self.elements, x, random, order)
    }

    fn accumulate(&self, settings: &Settings, x: &[Quad], moves: &mut [Quad]) -> f32 {
        let plain = iterate::accumulate(settings, &self.plain, x, moves);
        plain.max(iterate::accumulate(settings, &self.woven, x, moves))
    }

    fn residual(&self, settings: &Settings, x: &[Quad]) -> f32 {
        iterate::residual(settings, &self.plain, x).max(iterate::residual(settings, &self.woven, x))
    }

    fn certificate(&self, x: &[Quad]) -> ElementCertificate {
        ElementCertificate::of(self.name(), &self.elements, x)
    }
}

/// All sets of a world.
#[derive(Debug)]
pub struct ElementSets {
    /// Triangles with limits.
    pub triangles: Triangles,
    /// Tetrahedra with limits.
    pub tetrahedra: LimitedElements<TetrahedronElement, 4>,
    /// Edges with limits.
    pub edges: LimitedElements<EdgeElement, 2>,
    /// Hinges with limits.
    pub hinges: LimitedElements<BendElement, 4>,
    /// What is defined elsewhere.
    pub more: Vec<Box<dyn ElementSet>>,
}

/// The largest residuals of all sets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residuals {
    /// Of [`Quantity::Strain`].
    pub strain: f32,
    /// Of [`Quantity::Bend`].
    pub bend: f32,
}

impl Residuals {
    /// The larger of both, each by itself.
    pub fn max(self, other: Self) -> Self {
        Self { strain: self.strain.max(other.strain), bend: self.bend.max(other.bend) }
    }

    /// The largest of what `residual` gives of each set.
    fn of<'a>(
        sets: impl Iterator<Item = &'a dyn ElementSet>,
        mut residual: impl FnMut(&'a dyn ElementSet) -> f32,
    ) -> Self {
        sets.fold(Self::default(), |worst, set| match set.quantity() {
            Quantity::Strain => Self { strain: worst.strain.max(residual(set)), ..worst },
            Quantity::Bend => Self { bend: worst.bend.max(residual(set)), ..worst },
        })
    }
}

impl ElementSets {
    /// The list, in the order of a sweep. A new kind of element is one line here.
    pub fn all(&self) -> impl Iterator<Item = &dyn ElementSet> {
        let own: [&dyn ElementSet; 4] = [&self.triangles, &self.tetrahedra, &self.edges, &self.hinges];
        own.into_iter().chain(self.more.iter().map(|set| &**set))
    }

    /// Whether nothing has limits.
    pub fn is_empty(&self) -> bool {
        self.all().all(ElementSet::is_empty)
    }

    /// Whether something has limits that the nearest feasible state does not know, so that sweeps must
    /// follow.
    pub fn needs_sweeps(&self) -> bool {
        !self.edges.is_empty() || !self.more.is_empty()
    }

    /// What the sets have come to that are defined elsewhere; the others are measured body by body.
    pub fn certificates(&self, x: &[Quad]) -> Vec<ElementCertificate> {
        self.more.iter().map(|set| set.certificate(x)).collect()
    }

    /// How many elements the largest set has: what a serial order needs room for.
    pub fn largest(&self) -> usize {
        self.all().map(ElementSet::len).max().unwrap_or(0)
    }

    /// One coloured sweep over all; those of [`Quantity::Bend`] with settings of their own. Gives the largest
    /// residuals met on the way.
    pub fn sweep(
        &self,
        [strain, bend]: [&Settings; 2],
        x: &mut [Quad],
        random: &mut Random,
        order: &mut Vec<u32>,
    ) -> Residuals {
        Residuals::of(self.all(), |set| {
            let settings = if set.quantity() == Quantity::Bend { bend } else { strain };
            set.sweep(settings, x, random, order)
        })
    }

    /// One iteration over single elements of all sets; without `bends`, of those of [`Quantity::Strain`]
    /// alone. Gives the largest residuals met on the way.
    pub fn serial(
        &self,
        settings: &Settings,
        bends: bool,
        x: &mut [Quad],
        random: &mut Random,
        order: &mut Vec<u32>,
    ) -> Residuals {
        let sets = self.all().filter(|set| bends || set.quantity() == Quantity::Strain);
        Residuals::of(sets, |set| set.serial(settings, x, random, order))
    }

    /// One Jacobi iteration: the weighted corrections of all elements from the same positions, summed.
    /// `moves` is scratch of the length of `x`. Gives the largest residuals.
    pub fn jacobi(&self, settings: &Settings, x: &mut [Quad], moves: &mut [Quad]) -> Residuals {
        moves.fill([0.0; 4]);
        let worst = Residuals::of(self.all(), |set| set.accumulate(settings, x, moves));
        for (x, moved) in x.iter_mut().zip(moves.iter()) {
            for k in 0..3 {
                x[k] += moved[k];
            }
        }
        worst
    }

    /// The largest residuals; nothing moves.
    pub fn residuals(&self, settings: &Settings, x: &[Quad]) -> Residuals {
        Residuals::of(self.all(), |set| set.residual(settings, x))
    }
}
