//! Laws of triangles inside their limits, as the local step reads them.
//!
//! Most batches are of one material: its moduli are stored once, and divided by once a loop. Only where the
//! warp runs differs from triangle to triangle.

use crate::{
    exec::batch::lanes_of,
    kernel::{
        lanes::{BATCH, Lanes},
        membrane::{Isotropic, IsotropicAt, Woven, WovenAt},
        real::Real,
    },
};

/// Which law the triangles of a body follow inside their limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawKind {
    /// None: forces are explicit.
    Free,
    /// The same in all directions.
    Isotropic,
    /// Apart along warp and weft.
    Woven,
}

/// Moduli of [`BATCH`] triangles side by side, in the order of [`moduli`].
type ModuliLanes = [[f32; BATCH]; MODULI];

const MODULI: usize = 6;

/// C₁₁, C₂₂, their factors in compression, C₁₂, 2 G.
fn moduli(law: &Woven<f64>) -> [f32; MODULI] {
    let ([c11, c22], [first, second]) = (law.stiffness, law.compression);
    [c11, c22, first, second, law.coupling, law.shear].map(|m| m as f32)
}

/// The moduli of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Which {
    /// The same in all its triangles: place in [`Laws::shared`].
    Shared(u32),
    /// Place in [`Laws::mixed`].
    Mixed(u32),
}

/// Laws of all batches; empty if there are none.
#[derive(Clone, Debug)]
pub struct Laws {
    kind: LawKind,
    which: Vec<Which>,
    shared: Vec<[f32; MODULI]>,
    mixed: Vec<ModuliLanes>,
    /// Cosine and sine of twice the angle of the warp from the first edge; only of woven cloth.
    axes: Vec<[[f32; BATCH]; 2]>,
}

impl Laws {
    /// Packs the laws of triangles, in the order of their batches.
    pub fn pack(kind: LawKind, laws: &[Woven<f64>]) -> Self {
        let mut packed =
            Self { kind, which: Vec::new(), shared: Vec::new(), mixed: Vec::new(), axes: Vec::new() };
        for batch in laws.chunks(BATCH) {
            let all: Vec<[f32; MODULI]> = batch.iter().map(moduli).collect();
            let indices: Vec<u32> = (0..batch.len() as u32).collect();
            packed.which.push(if all.iter().all(|moduli| *moduli == all[0]) {
                // Those of one body follow each other.
                if packed.shared.last() != Some(&all[0]) {
                    packed.shared.push(all[0]);
                }
                Which::Shared(packed.shared.len() as u32 - 1)
            } else {
                packed.mixed.push(std::array::from_fn(|k| lanes_of(&indices, 0.0, |e| all[e][k])));
                Which::Mixed(packed.mixed.len() as u32 - 1)
            });
            if kind == LawKind::Woven {
                packed.axes.push([0, 1].map(|k| lanes_of(&indices, 0.0, |e| batch[e].axis[k] as f32)));
            }
        }
        packed
    }

    /// Whether triangles have stiffness inside their limits.
    pub fn are_implicit(&self) -> bool {
        self.kind != LawKind::Free
    }

    /// The law of triangle `t`, if it has one.
    pub fn of(&self, t: u32) -> Option<Woven<f64>> {
        let (batch, lane) = (t as usize / BATCH, t as usize % BATCH);
        let moduli = match *self.which.get(batch)? {
            Which::Shared(place) => self.shared[place as usize],
            Which::Mixed(place) => self.mixed[place as usize].map(|m| m[lane]),
        };
        let [c11, c22, first, second, coupling, shear] = moduli.map(f64::from);
        let axis = self.axes.get(batch).map_or([1.0, 0.0], |axis| axis.map(|a| f64::from(a[lane])));
        Some(Woven { stiffness: [c11, c22], compression: [first, second], coupling, shear, axis })
    }

    /// Those of some batches.
    pub fn over(&self, first: usize, count: usize) -> LawsOver<'_> {
        let which = self.which.get(first..first + count).unwrap_or(&[]);
        let axes = self.axes.get(first..first + count).unwrap_or(&[]);
        LawsOver { kind: self.kind, which, axes, laws: self }
    }
}

/// Laws of some batches.
#[derive(Clone, Copy)]
pub struct LawsOver<'a> {
    pub kind: LawKind,
    which: &'a [Which],
    axes: &'a [[[f32; BATCH]; 2]],
    laws: &'a Laws,
}

impl<'a> LawsOver<'a> {
    /// The same for κ `kappa`, with moduli `factor` times as large.
    #[inline(always)]
    pub fn at<L: Lanes>(self, kappa: f32, factor: f32) -> LawsAt<'a, L> {
        let (kappa, factor) = (L::splat(kappa), L::splat(factor));
        let none = || [L::splat(0.0); MODULI];
        LawsAt {
            laws: self,
            kappa,
            factor,
            last: Which::Mixed(u32::MAX),
            isotropic: isotropic(none()).at(L::splat(1.0)),
            woven: woven(none()).at(L::splat(1.0)),
        }
    }
}

/// Laws of some batches for one κ. Remembers the last one.
pub struct LawsAt<'a, L> {
    laws: LawsOver<'a>,
    kappa: L,
    factor: L,
    last: Which,
    isotropic: IsotropicAt<L>,
    woven: WovenAt<L>,
}

impl<L: Lanes> LawsAt<'_, L> {
    /// The law of some lanes of batch `number`, of those at hand.
    #[inline(always)]
    pub fn isotropic(&mut self, number: usize, at: usize) -> &IsotropicAt<L> {
        if let Some(moduli) = self.next(number, at) {
            self.isotropic = isotropic(moduli).at(self.kappa);
        }
        &self.isotropic
    }

    /// The same of woven cloth, and where its warp runs.
    #[inline(always)]
    pub fn woven(&mut self, number: usize, at: usize) -> (&WovenAt<L>, [L; 2]) {
        if let Some(moduli) = self.next(number, at) {
            self.woven = woven(moduli).at(self.kappa);
        }
        (&self.woven, L::load_all(&self.laws.axes[number], at))
    }

    /// The moduli, unless they are the last ones again.
    #[inline(always)]
    fn next(&mut self, number: usize, at: usize) -> Option<[L; MODULI]> {
        let which = self.laws.which[number];
        let moduli: [L; MODULI] = match which {
            Which::Shared(_) if which == self.last => return None,
            Which::Shared(place) => self.laws.laws.shared[place as usize].map(L::splat),
            Which::Mixed(place) => L::load_all(&self.laws.laws.mixed[place as usize], at),
        };
        self.last = which;
        let [c11, c22, first, second, coupling, shear] = moduli;
        let factor = self.factor;
        Some([c11 * factor, c22 * factor, first, second, coupling * factor, shear * factor])
    }
}

#[inline(always)]
fn isotropic<R: Real>([stiffness, _, compression, _, coupling, _]: [R; MODULI]) -> Isotropic<R> {
    Isotropic { stiffness, coupling, compression }
}

#[inline(always)]
fn woven<R: Real>([c11, c22, first, second, coupling, shear]: [R; MODULI]) -> Woven<R> {
    let (one, zero) = (R::splat(1.0), R::splat(0.0));
    Woven { stiffness: [c11, c22], compression: [first, second], coupling, shear, axis: [one, zero] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(stiffness: f64, turn: f64) -> Woven<f64> {
        let axis = [turn.cos() as f32, turn.sin() as f32].map(f64::from);
        Woven { stiffness: [stiffness, 2.0], compression: [1.0, 0.5], coupling: 0.25, shear: 0.75, axis }
    }

    #[test]
    fn triangles_get_their_own_laws_back() {
        // Bodies that begin inside a batch, and one of a single triangle.
        let stiff = |t: usize| [1.0, 4.0, 3.0][usize::from(t >= 40) + usize::from(t == 100)];
        let laws: Vec<_> = (0..101).map(|t| law(stiff(t), t as f64)).collect();
        let packed = Laws::pack(LawKind::Woven, &laws);
        for (t, law) in laws.iter().enumerate() {
            assert_eq!(packed.of(t as u32), Some(*law));
        }
        assert_eq!((packed.shared.len(), packed.mixed.len()), (2, 2));
        let some = packed.over(1, 3);
        assert_eq!((some.which.len(), some.which[0]), (3, Which::Shared(0)));
        assert_eq!(f64::from(some.axes[0][0][5]), laws[21].axis[0]);
    }
}
