//! How much vertices near held ones weigh while edges are limited.
//!
//! A pin carries a good part of the cloth, but the edges at it have only their own light vertices to pull at:
//! what one sweep can hand on is that little mass times how much too long they are. So vertices weigh the
//! more the nearer they are to one that is held: beside it as much as the root of what each has to carry,
//! half as much more a ring further out. That is no more than a few percent of a sheet, it hangs at pins
//! anyway, and forces know nothing of it.

use super::tuning::edge_model::{WEIGHT_FALL, WEIGHT_LEAST, WEIGHT_MOST};
use crate::kernel::lanes::Quad;

/// Vertices of a cloth near those that are held.
#[derive(Clone, Debug, Default)]
pub struct Heavier {
    /// Vertices within the body, and by what factor each is heavier.
    near: Vec<(u32, f32)>,
    /// Their own inverse masses.
    own: Vec<f32>,
}

impl Heavier {
    /// For cloth of `count` vertices and these `triangles` of which `held` ones are held.
    pub fn new(count: usize, triangles: &[[u32; 3]], held: &[u32]) -> Self {
        let mut reached = vec![false; count];
        held.iter().for_each(|&v| reached[v as usize] = true);
        let mut near: Vec<(u32, f32)> = Vec::new();
        let mut more = f32::INFINITY;
        while more > WEIGHT_LEAST {
            let from = near.len();
            for triangle in triangles.iter().filter(|t| t.iter().any(|&v| reached[v as usize])) {
                near.extend(triangle.iter().filter(|&&v| !reached[v as usize]).map(|&v| (v, 1.0)));
            }
            near[from..].sort_unstable_by_key(|&(v, _)| v);
            let mut last = None;
            near.retain(|&(v, _)| reached[v as usize] || last.replace(v) != Some(v));
            let ring = near.len() - from;
            if ring == 0 {
                break;
            }
            if from == 0 {
                let carried = (count - held.len()) as f32 / ring as f32;
                more = carried.sqrt().min(WEIGHT_MOST) - 1.0;
            }
            for (v, factor) in &mut near[from..] {
                reached[*v as usize] = true;
                *factor += more;
            }
            more *= WEIGHT_FALL;
        }
        Self { own: vec![0.0; near.len()], near }
    }

    /// Makes vertices of the body heavier.
    pub fn begin(&mut self, x: &mut [Quad]) {
        for (&(v, factor), own) in self.near.iter().zip(&mut self.own) {
            let inverse_mass = &mut x[v as usize][3];
            *own = *inverse_mass;
            *inverse_mass /= factor;
        }
    }

    /// Gives them back what they weighed.
    pub fn end(&self, x: &mut [Quad]) {
        for (&(v, _), own) in self.near.iter().zip(&self.own) {
            x[v as usize][3] = *own;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate;

    #[test]
    fn vertices_weigh_less_and_less_away_from_what_is_held() {
        let mesh = generate::grid([1.0, 1.0], [39, 39], generate::Diagonals::Alternating, 0);
        let count = mesh.positions.len();
        let corner = mesh.groups["corner:top-left"][0];
        let mut heavier = Heavier::new(count, &mesh.triangles, &[corner]);
        let before: Vec<Quad> = (0..count).map(|i| [0.0, 0.0, 0.0, 1.0 + i as f32]).collect();
        let mut x = before.clone();
        heavier.begin(&mut x);
        let factor = |v: usize| before[v][3] / x[v][3];
        let from = |v: usize| mesh.positions[v].distance(mesh.positions[corner as usize]);
        assert_eq!(factor(corner as usize), 1.0);
        let mut added = 0.0;
        for v in (0..count).filter(|&v| v != corner as usize) {
            added += factor(v) - 1.0;
            assert!((1.0..=WEIGHT_MOST).contains(&factor(v)), "{}", factor(v));
            assert!(from(v) < 0.4 || factor(v) == 1.0, "{} at {}", factor(v), from(v));
        }
        let beside =
            (0..count).filter(|&v| v != corner as usize).min_by(|&a, &b| from(a).total_cmp(&from(b)));
        assert!(factor(beside.unwrap()) > 10.0);
        assert!(added < 0.15 * count as f32, "{added} vertices' mass is added");
        heavier.end(&mut x);
        assert_eq!(x, before);
    }

    #[test]
    fn nothing_is_heavier_where_nothing_or_all_is_held() {
        let mesh = generate::grid([1.0, 1.0], [4, 4], generate::Diagonals::Alternating, 0);
        let all: Vec<u32> = (0..mesh.positions.len() as u32).collect();
        for held in [&[][..], &all] {
            assert!(Heavier::new(all.len(), &mesh.triangles, held).near.is_empty());
        }
    }
}
