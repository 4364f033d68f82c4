//! What the triangles, edges and hinges of cloth have come to.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec3};

use crate::{
    Cloth, Limit, Model,
    describe::weave::Warps,
    element::hinge::{NO_ANGLE, RestBend, allowed_angles, bend_rate},
    kernel::{
        dihedral::dihedral_angle,
        membrane::{self, Woven},
        strain::Range,
        svd2::{RestInverse, Svd2, cauchy, deformation_gradient, rest_inverse, svd2},
        weave::{Limits, WeaveRange},
    },
    measure::{
        BendMeasure, BodyCertificate, Energy, StrainMeasure, TearCertificate, midpoints::ShownShape, past,
    },
    mesh::{TriangleMesh, adjacency::Adjacency, midpoints::Midpoints},
    term::curvature::CurvatureElement,
    velocity::{bending::RestHinge, fem, spring, spring::RestSpring},
};

/// Sine of half a hinge's bend up to which a rest shape counts as flat.
pub(super) const FLAT: f64 = 1e-3;

/// Rest tables of cloth, in the caller's order.
#[derive(Clone, Debug)]
pub(crate) struct RestCloth {
    pub shape: RestShape,
    /// Hinges with stiffness.
    pub hinges: Vec<RestHinge>,
    /// Its law in the plane, if it stretches by that of an implicit integrator \[N/m\].
    pub law: Option<Box<Woven<f64>>>,
    /// Curvatures in place of these, where they bend inside the filter and are flat at rest; of cloth with a
    /// rigidity of 1 N m.
    pub curvatures: Arc<Vec<CurvatureElement>>,
    /// The rigidity that it has \[N m\].
    pub rigidity: f64,
    /// Edges with energy, of cloth of the edge model.
    pub springs: Vec<RestSpring>,
    /// All hinges.
    pub bends: Vec<RestBend>,
    /// What is shown of developable cloth.
    pub shown: Option<Arc<ShownShape>>,
}

impl RestCloth {
    /// Whether it is bent at rest, where it has stiffness against bending.
    pub fn is_curved(&self) -> bool {
        self.hinges.iter().any(|hinge| hinge.rest_sin_half.abs() > FLAT)
    }

    /// Strains, bends and stored energies of `positions` \[m\].
    pub fn certify(&self, cloth: &Cloth, positions: &[Vec3]) -> BodyCertificate {
        BodyCertificate {
            name: cloth.name.clone(),
            strain: self.shape.measure(positions, cloth.strain, cloth.edge),
            bend: measure_bends(&self.bends, positions, cloth.bend),
            tear: TearCertificate::of(cloth),
            midpoints: cloth
                .midpoints
                .as_ref()
                .and_then(|midpoints| Some(self.shown.as_ref()?.measure(midpoints, positions))),
            energy: Energy {
                stretch: match cloth.model {
                    Model::Fem | Model::Developable(_) => match &self.law {
                        Some(law) => self.shape.law_energy(law, positions),
                        None => stretch_energy(cloth, &self.shape, positions),
                    },
                    Model::Edge(_) => edge_energy(&self.springs, positions),
                    // A stiffness from 0 to 1 stores no energy.
                    Model::Pbd(_) => 0.0,
                },
                bend: if self.curvatures.is_empty() {
                    bend_energy(&self.hinges, positions)
                } else {
                    let at = |v: u32| positions[v as usize].as_dvec3().to_array();
                    self.rigidity * self.curvatures.iter().map(|curvature| curvature.energy(at)).sum::<f64>()
                },
                ..Energy::default()
            },
            ..BodyCertificate::default()
        }
    }
}

/// What one triangle has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleMeasure {
    /// Principal stretches, the larger first (1 = at rest).
    pub stretches: [f64; 2],
    /// Direction in space of the larger one, of unit length; its sign means nothing.
    pub direction: DVec3,
    /// The same direction in the rest shape: its parts along the first edge and to the left of it.
    pub rest_direction: DVec2,
    /// How far past its limits it is, at least 0.
    pub residual: f64,
    /// The same past lower and past upper limits alone.
    pub residuals: [f64; 2],
}

/// The rest shape of a body, prepared for measuring, in double precision.
#[derive(Clone, Debug)]
pub struct RestShape {
    /// Where the warp of its material runs.
    warps: Warps,
    triangles: Vec<[u32; 3]>,
    inverses: Vec<RestInverse<f64>>,
    areas: Vec<f64>,
    edges: Vec<[u32; 2]>,
    lengths: Vec<f64>,
    /// Limits along warp, weft and bias; empty if there are none such.
    weaves: Vec<WeaveRange<f64>>,
}

impl RestShape {
    /// Prepares `mesh`, whose edges are `edges`. Faces without area measure as at rest; the checks refuse
    /// them before.
    pub fn new(mesh: &TriangleMesh, edges: Vec<[u32; 2]>) -> Self {
        let p = |v: u32| mesh.positions[v as usize].as_dvec3();
        let (inverses, areas) = mesh
            .triangles
            .iter()
            .map(|t| rest_inverse(t.map(|v| p(v).to_array())).unwrap_or(([1.0, 0.0, 1.0], 0.0)))
            .unzip();
        let lengths = edges.iter().map(|&[a, b]| p(a).distance(p(b))).collect();
        Self {
            triangles: mesh.triangles.clone(),
            inverses,
            areas,
            edges,
            lengths,
            weaves: Vec::new(),
            warps: Warps::default(),
        }
    }

    /// That of developable cloth, whose nonconforming triangles have four times the area between their
    /// points.
    ///
    /// # Errors
    /// As [`of_cloth`](Self::of_cloth).
    pub(crate) fn of_midpoints(cloth: &Cloth, midpoints: &Midpoints) -> Result<Self, String> {
        let mesh = cloth.element_mesh();
        let edges = Adjacency::new(&mesh.triangles).edges;
        let mut shape = Self::new(&mesh, edges).woven(cloth.weave_ranges()?).with_warps(cloth.warps()?);
        for (t, area) in shape.areas.iter_mut().enumerate() {
            *area *= midpoints.area_factor(t);
        }
        Ok(shape)
    }

    /// The rest shape of `cloth` with its limits along warp, weft and bias, for [`triangle`](Self::triangle):
    /// without edges.
    ///
    /// # Errors
    /// If the warp has no direction in some triangle; the checks of a world refuse that before.
    pub fn of_cloth(cloth: &Cloth) -> Result<Self, String> {
        Ok(Self::new(&cloth.element_mesh(), Vec::new())
            .woven(cloth.weave_ranges()?)
            .with_warps(cloth.warps()?))
    }

    /// The same with limits along warp, weft and bias, one for each triangle, in place of those that are the
    /// same in all directions. None: it stays as it was.
    #[must_use]
    pub fn woven(self, limits: Vec<WeaveRange<f32>>) -> Self {
        Self { weaves: limits.into_iter().map(WeaveRange::doubled).collect(), ..self }
    }

    /// The same with a material whose warp runs there.
    #[must_use]
    pub(crate) fn with_warps(self, warps: Warps) -> Self {
        Self { warps, ..self }
    }

    /// Principal values of the second Piola–Kirchhoff stress of triangle `t` of `cloth`, whose rest shape
    /// this is \[N/m\], the larger first.
    pub fn principal_stress(&self, t: usize, cloth: &Cloth, positions: &[Vec3]) -> [f64; 2] {
        let moduli = fem::moduli(&cloth.material, self.warps.double_angle(t));
        fem::principal_stress(&self.corners(t, positions), self.inverses[t], moduli)
    }

    /// Changes limits along warp, weft and bias, if there are such.
    pub(crate) fn set_weave(&mut self, [warp, weft, bias]: [Range<f32>; 3]) {
        for weave in &mut self.weaves {
            let limits = WeaveRange { warp, weft, bias, axis: [0.0; 2] }.doubled();
            *weave = WeaveRange { axis: weave.axis, ..limits };
        }
    }

    /// About how large it is: the root of its area \[m\].
    pub(crate) fn size(&self) -> f64 {
        self.areas.iter().sum::<f64>().sqrt()
    }

    /// Measures triangle `t` against its limits; those along warp, weft and bias, if there are such, take the
    /// place of `strain`.
    pub fn triangle(&self, t: usize, positions: &[Vec3], strain: Limit) -> TriangleMeasure {
        let f = deformation_gradient(&self.corners(t, positions), self.inverses[t]);
        let cauchy = cauchy(&f);
        let Svd2 { s, u, v } = svd2(&f, &cauchy);
        let residuals = match self.weaves.get(t) {
            Some(weave) => {
                let [r0, r1] = weave.ranges(&cauchy);
                let below = (r1.min - s[1]).max(r0.min - s[0]);
                [below, (s[0] - r0.max).max(s[1] - r1.max)].map(|past| past.max(0.0))
            }
            None => past(strain, s[0], s[1]),
        };
        let residual = residuals[0].max(residuals[1]);
        TriangleMeasure {
            stretches: s,
            direction: u[0].into(),
            rest_direction: v.into(),
            residual,
            residuals,
        }
    }

    fn corners(&self, t: usize, positions: &[Vec3]) -> [[f64; 3]; 3] {
        self.triangles[t].map(|v| positions[v as usize].as_dvec3().to_array())
    }

    /// Measures `positions` against the limits; those along warp, weft and bias, if there are such, take the
    /// place of `strain`.
    pub fn measure(&self, positions: &[Vec3], strain: Limit, edge: Limit) -> StrainMeasure {
        let mut m = StrainMeasure { min_stretch: f64::INFINITY, ..StrainMeasure::default() };
        let mut worst = (-1.0, -1.0);
        for t in 0..self.triangles.len() {
            let TriangleMeasure { stretches: [larger, smaller], residual, residuals, .. } =
                self.triangle(t, positions, strain);
            if larger > m.max_stretch {
                (m.max_stretch, m.most_stretched) = (larger, t as u32);
            }
            if smaller < m.min_stretch {
                (m.min_stretch, m.most_compressed) = (smaller, t as u32);
            }
            m.mean_stretch += larger;
            m.mean_compression += smaller;
            m.add_residuals(residuals);
            let badness = (residual, (larger - 1.0).max(1.0 - smaller));
            if badness > worst {
                (worst, m.worst_element) = (badness, t as u32);
            }
        }
        let count = self.triangles.len().max(1) as f64;
        m.mean_stretch /= count;
        m.mean_compression /= count;
        m.mean_residual /= count;
        m.mean_compression_residual /= count;

        (m.max_edge_strain, m.min_edge_strain) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut worst = (-1.0, -1.0);
        for (&[a, b], &rest) in self.edges.iter().zip(&self.lengths) {
            let p = |v: u32| positions[v as usize].as_dvec3();
            let stretch = p(a).distance(p(b)) / rest;
            let [below, above] = past(edge, stretch, stretch);
            let residual = below.max(above);
            m.max_edge_strain = m.max_edge_strain.max(stretch - 1.0);
            m.min_edge_strain = m.min_edge_strain.min(stretch - 1.0);
            m.max_edge_residual = m.max_edge_residual.max(residual);
            m.mean_edge_residual += residual;
            m.edge_violations += u64::from(residual > 1e-6);
            let badness = (residual, (stretch - 1.0).abs());
            if badness > worst {
                (worst, m.worst_edge) = (badness, [a, b]);
            }
        }
        m.mean_edge_residual /= self.edges.len().max(1) as f64;
        m
    }
}

/// Measures the bends of `hinges` against `limit` \[°/cm\].
pub fn measure_bends(hinges: &[RestBend], positions: &[Vec3], limit: Limit) -> BendMeasure {
    let mut m = BendMeasure::default();
    let mut worst = (-1.0, -1.0);
    for &RestBend { vertices, rest_angle, heights } in hinges {
        let angle = dihedral_angle(&vertices.map(|v| positions[v as usize].as_dvec3().to_array()));
        // Within a half turn of the rest angle, so that a hinge that is folded up at rest may close.
        let turn = 2.0 * std::f64::consts::PI;
        let angle = angle - turn * ((angle - rest_angle) / turn).round();
        let [low, high] = allowed_angles(limit, rest_angle, heights);
        let none = f64::from(NO_ANGLE);
        let over = if high < none { angle - high } else { 0.0 };
        let under = if low > -none { low - angle } else { 0.0 };
        let excess = over.max(under).max(0.0).to_degrees();
        let bend = bend_rate(angle, rest_angle, heights).abs();
        m.max_bend = m.max_bend.max(bend);
        m.max_bend_excess = m.max_bend_excess.max(excess);
        m.mean_bend_excess += excess;
        m.bend_violations += u64::from(excess > 1e-3);
        if (excess, bend) > worst {
            (worst, m.worst_hinge) = ((excess, bend), [vertices[0], vertices[1]]);
        }
    }
    m.mean_bend_excess /= hinges.len().max(1) as f64;
    m
}

impl RestShape {
    /// Energy by `law` \[J\].
    fn law_energy(&self, law: &Woven<f64>, positions: &[Vec3]) -> f64 {
        let of = |t: usize| {
            let f = deformation_gradient(&self.corners(t, positions), self.inverses[t]);
            self.areas[t] * membrane::energy(&f, &law.along(self.warps.double_angle(t)))
        };
        (0..self.triangles.len()).map(of).sum()
    }
}

fn stretch_energy(cloth: &Cloth, rest: &RestShape, positions: &[Vec3]) -> f64 {
    (0..rest.triangles.len())
        .map(|t| {
            let moduli = fem::moduli(&cloth.material, rest.warps.double_angle(t));
            let scaled = moduli.map(|m| m * rest.areas[t]);
            fem::membrane_energy(&rest.corners(t, positions), rest.inverses[t], scaled)
        })
        .sum()
}

fn edge_energy(springs: &[RestSpring], positions: &[Vec3]) -> f64 {
    springs
        .iter()
        .map(|s| {
            let x = s.vertices.map(|v| positions[v as usize].as_dvec3().to_array());
            spring::spring_energy(x, s.rest, s.stiffness)
        })
        .sum()
}

fn bend_energy(hinges: &[RestHinge], positions: &[Vec3]) -> f64 {
    hinges
        .iter()
        .map(|h| {
            let x = h.vertices.map(|v| positions[v as usize].as_dvec3().to_array());
            h.energy(&x)
        })
        .sum()
}
