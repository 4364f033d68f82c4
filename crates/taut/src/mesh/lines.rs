//! Line meshes: points that segments join. Chains, ropes and nets.

use glam::Vec3;

/// Points, and segments between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineMesh {
    /// Points \[m\].
    pub positions: Vec<Vec3>,
    /// Segments, by their points.
    pub segments: Vec<[u32; 2]>,
}

impl LineMesh {
    /// A straight line of `segments` equal segments from `from` to `to` \[m\].
    pub fn chain(from: Vec3, to: Vec3, segments: u32) -> Self {
        let at = |k: u32| from.lerp(to, k as f32 / segments.max(1) as f32);
        Self {
            positions: (0..=segments).map(at).collect(),
            segments: (0..segments).map(|k| [k, k + 1]).collect(),
        }
    }

    /// A flat net of square meshes in the x–y plane around the origin: `size` \[m\] wide and high, `cells`
    /// meshes each way. Points go along x first.
    pub fn net(size: [f32; 2], cells: [u32; 2]) -> Self {
        let [nx, ny] = cells;
        let index = |i: u32, j: u32| j * (nx + 1) + i;
        let mut net = Self::default();
        for j in 0..=ny {
            for i in 0..=nx {
                let [x, y] = [i as f32 / nx.max(1) as f32 - 0.5, j as f32 / ny.max(1) as f32 - 0.5];
                net.positions.push(Vec3::new(x * size[0], y * size[1], 0.0));
            }
        }
        for j in 0..=ny {
            for i in 0..=nx {
                if i < nx {
                    net.segments.push([index(i, j), index(i + 1, j)]);
                }
                if j < ny {
                    net.segments.push([index(i, j), index(i, j + 1)]);
                }
            }
        }
        net
    }

    /// Length of segment `k` \[m\].
    pub fn length(&self, k: usize) -> f64 {
        let [a, b] = self.segments[k].map(|v| self.positions[v as usize].as_dvec3());
        a.distance(b)
    }

    /// What is wrong with it, if anything is: segments that name missing points or the same point twice,
    /// positions that are not finite.
    pub fn problem(&self) -> Option<String> {
        let count = self.positions.len();
        let is_fine = |p: &Vec3| p.is_finite() && p.abs().max_element() <= 1e6;
        if let Some(k) = self.positions.iter().position(|p| !is_fine(p)) {
            return Some(format!("point {k} is not finite and within 1e6 m"));
        }
        self.segments.iter().enumerate().find_map(|(k, &[a, b])| match a.max(b) as usize {
            largest if largest >= count => {
                Some(format!("segment {k} names point {largest}; there are {count}"))
            }
            _ if a == b => Some(format!("segment {k} names point {a} twice")),
            _ => None,
        })
    }

    /// Chains of segments that cover all of them: each a list of points, one segment between neighbours.
    /// Chains end where other than two segments meet. What files hold as curves.
    pub fn strands(&self) -> Vec<Vec<u32>> {
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); self.positions.len()];
        for (k, segment) in self.segments.iter().enumerate() {
            segment.iter().for_each(|&v| around[v as usize].push(k as u32));
        }
        let mut used = vec![false; self.segments.len()];
        let mut strands = Vec::new();
        let is_end = |v: usize| around[v].len() != 2;
        // From ends first, then what is left: closed loops.
        let starts = (0..around.len()).filter(|&v| is_end(v)).chain(0..around.len());
        for start in starts {
            for &first in &around[start] {
                if used[first as usize] {
                    continue;
                }
                let mut strand = vec![start as u32];
                let (mut at, mut segment) = (start as u32, first as usize);
                loop {
                    used[segment] = true;
                    let [a, b] = self.segments[segment];
                    at = if at == a { b } else { a };
                    strand.push(at);
                    let next = around[at as usize].iter().find(|&&k| !used[k as usize]);
                    match next {
                        Some(&k) if !is_end(at as usize) => segment = k as usize,
                        _ => break,
                    }
                }
                strands.push(strand);
            }
        }
        strands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strands_cover_every_segment_once() {
        let mut mesh = LineMesh::net([1.0, 1.0], [3, 2]);
        // A loop of its own.
        mesh.positions.extend([Vec3::X * 9.0, Vec3::Y * 9.0, Vec3::Z * 9.0]);
        mesh.segments.extend([[12, 13], [13, 14], [14, 12]]);
        let mut found: Vec<[u32; 2]> = Vec::new();
        for strand in mesh.strands() {
            found.extend(strand.windows(2).map(|w| [w[0].min(w[1]), w[0].max(w[1])]));
        }
        let mut wanted: Vec<[u32; 2]> = mesh.segments.iter().map(|&[a, b]| [a.min(b), a.max(b)]).collect();
        found.sort_unstable();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        assert_eq!(LineMesh::chain(Vec3::ZERO, Vec3::X, 5).strands(), [vec![0, 1, 2, 3, 4, 5]]);
    }

    #[test]
    fn problems_name_the_segment() {
        let mut mesh = LineMesh::chain(Vec3::ZERO, Vec3::X, 2);
        assert_eq!(mesh.problem(), None);
        mesh.segments.push([1, 7]);
        assert_eq!(mesh.problem().unwrap(), "segment 2 names point 7; there are 3");
        mesh.segments[2] = [1, 1];
        assert_eq!(mesh.problem().unwrap(), "segment 2 names point 1 twice");
    }
}
