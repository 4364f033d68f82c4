//! The nearest of many points, and smooth weights by distance.

use glam::Vec3;

use crate::contact::tree::{Swept, Tree};

/// Points among which nearest ones are found.
pub(super) struct Places {
    points: Vec<Vec3>,
    tree: Tree,
}

impl Places {
    /// Of finite `points` \[m\].
    pub fn new(points: Vec<Vec3>) -> Self {
        let about = |x: &Vec3| Swept::EMPTY.with(&[x.x, x.y, x.z, 0.0], &[x.x, x.y, x.z, 0.0]);
        Self { tree: Tree::new(&points.iter().map(about).collect::<Vec<_>>()), points }
    }

    /// All of them \[m\].
    pub fn all(&self) -> &[Vec3] {
        &self.points
    }

    /// The `count` nearest to `x` \[m\], the nearest first.
    pub fn nearest(&self, x: Vec3, count: usize) -> Vec<u32> {
        self.found(x, count).into_iter().map(|(_, k)| k).collect()
    }

    /// Distance of the nearest from `x` \[m\], infinite if there is none.
    pub fn distance(&self, x: Vec3) -> f64 {
        self.found(x, 1).first().map_or(f64::INFINITY, |found| found.0.sqrt())
    }

    /// Squared distances and indices of the `count` nearest.
    fn found(&self, x: Vec3, count: usize) -> Vec<(f64, u32)> {
        let x = if x.is_finite() { x.as_dvec3() } else { glam::DVec3::ZERO };
        let mut found: Vec<(f64, u32)> = Vec::with_capacity(count + 1);
        self.tree.nearest(&x.to_array(), f64::INFINITY, |k| {
            let squared = self.points[k as usize].as_dvec3().distance_squared(x);
            let at = found.partition_point(|&other| other < (squared, k));
            found.insert(at, (squared, k));
            found.truncate(count);
            // What the tree is to beat: the farthest of those found, once there are enough.
            if found.len() < count { f64::MAX } else { found[count - 1].0.next_up() }
        });
        found
    }

    /// The `count` nearest to `x` \[m\], and weights that sum to 1, the largest first: inverse distances that
    /// vanish at the distance of the next nearest.
    pub fn weights(&self, x: Vec3, count: usize) -> Vec<(u32, f64)> {
        let found = self.found(x, count + 1);
        let used = &found[..count.min(found.len())];
        let farthest = used.last().map_or(0.0, |last| last.0.sqrt());
        let end = found.get(count).map_or(1.5 * farthest, |next| next.0.sqrt()).max(f64::MIN_POSITIVE);
        // A place at the point itself has all of the weight.
        let least = 1e-6 * end;
        let weight = |squared: f64| {
            let distance = squared.sqrt().max(least);
            ((end - distance).max(0.0) / (end * distance)).powi(2)
        };
        let sum: f64 = used.iter().map(|&(squared, _)| weight(squared)).sum();
        // All at one distance, and so is the next.
        if !(sum > 0.0 && sum.is_finite()) {
            let share = 1.0 / used.len().max(1) as f64;
            return used.iter().map(|&(_, k)| (k, share)).collect();
        }
        used.iter()
            .map(|&(squared, k)| (k, weight(squared) / sum))
            .filter(|&(_, weight)| weight > 0.0)
            .collect()
    }
}
