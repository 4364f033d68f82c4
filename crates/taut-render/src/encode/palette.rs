//! Palette of 255 colours, and how other colours are dithered from it.
//!
//! Colours are counted over all frames in 64³ cells, cells are split where that reduces the squared error
//! most, and a few rounds of Lloyd's iteration refine the result. Rare colours are weighted above their
//! count: text and colour bars are small and matter. Colours between two of the palette are dithered by an
//! ordered pattern, which depends on the pixel's position alone: what does not move does not shimmer.

use std::sync::atomic::{AtomicU32, Ordering};

/// Colours of a palette; the 256th is transparent.
pub const COLORS: usize = 255;

/// Differences of green are most visible.
const SEEN: [f32; 3] = [2.0, 4.0, 3.0];

/// How often colours occur.
pub struct Histogram {
    /// Count and sums of red, green and blue, for cells of 4 × 4 × 4 colours.
    cells: Vec<[u64; 4]>,
}

impl Histogram {
    pub fn new() -> Self {
        Self { cells: vec![[0; 4]; 1 << 18] }
    }

    pub fn count(&mut self, [r, g, b]: [u8; 3]) {
        let cell = usize::from(r >> 2) << 12 | usize::from(g >> 2) << 6 | usize::from(b >> 2);
        let cell = &mut self.cells[cell];
        cell[0] += 1;
        cell[1] += u64::from(r);
        cell[2] += u64::from(g);
        cell[3] += u64::from(b);
    }

    /// At most [`COLORS`] colours that represent all.
    pub fn palette(&self) -> Vec<[u8; 3]> {
        let total: u64 = self.cells.iter().map(|cell| cell[0]).sum();
        let colors: Vec<Cell> = self.cells.iter().filter(|cell| cell[0] > 0).map(Cell::new).collect();
        let mut centers = split(colors.clone());
        for _ in 0..4 {
            settle(&colors, &mut centers);
        }
        // Large uniform areas, such as the background, keep their exact colour.
        let mut taken = vec![false; centers.len()];
        let mut large: Vec<&Cell> = colors.iter().filter(|c| c.count * 200 > total).collect();
        large.sort_by_key(|cell| std::cmp::Reverse(cell.count));
        for cell in large {
            let at = nearest(&centers, cell.color);
            if !std::mem::replace(&mut taken[at], true) {
                centers[at] = cell.color;
            }
        }
        let mut palette: Vec<[u8; 3]> = centers.iter().map(|c| c.map(|v| v.round() as u8)).collect();
        palette.sort_unstable();
        palette.dedup();
        palette
    }
}

/// The colours of one cell.
#[derive(Clone, Copy)]
struct Cell {
    count: u64,
    weight: f32,
    color: [f32; 3],
}

impl Cell {
    fn new(&[count, r, g, b]: &[u64; 4]) -> Self {
        let color = [r, g, b].map(|sum| (sum as f64 / count as f64) as f32);
        Self { count, weight: (count as f32).powf(0.6), color }
    }
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|i| SEEN[i] * (a[i] - b[i]) * (a[i] - b[i])).sum()
}

fn nearest(centers: &[[f32; 3]], color: [f32; 3]) -> usize {
    let mut best = (f32::INFINITY, 0);
    for (i, &center) in centers.iter().enumerate() {
        let d = distance(center, color);
        if d < best.0 {
            best = (d, i);
        }
    }
    best.1
}

/// Cells that share a colour of the palette, until they are split.
struct Group {
    cells: Vec<Cell>,
    /// Reduction of the squared error by splitting, along which axis, and before which cell in that order.
    best: (f64, usize, usize),
}

impl Group {
    fn new(mut cells: Vec<Cell>) -> Self {
        let mut best = (0.0, 0, 0);
        for axis in 0..3 {
            cells.sort_by(|a, b| a.color[axis].total_cmp(&b.color[axis]));
            let weight = |c: &Cell| f64::from(c.weight);
            let (total, sum) = cells
                .iter()
                .fold((0.0, 0.0), |(w, s), c| (w + weight(c), s + weight(c) * f64::from(c.color[axis])));
            let (mut w, mut s) = (0.0, 0.0);
            for (i, cell) in cells.iter().enumerate().take(cells.len().saturating_sub(1)) {
                w += weight(cell);
                s += weight(cell) * f64::from(cell.color[axis]);
                let apart = s / w - (sum - s) / (total - w);
                let gain = f64::from(SEEN[axis]) * w * (total - w) / total * apart * apart;
                if gain > best.0 {
                    best = (gain, axis, i + 1);
                }
            }
        }
        Self { cells, best }
    }
}

fn split(colors: Vec<Cell>) -> Vec<[f32; 3]> {
    let mut groups = vec![Group::new(colors)];
    while groups.len() < COLORS {
        let most = groups.iter().enumerate().max_by(|a, b| a.1.best.0.total_cmp(&b.1.best.0));
        let Some((at, _)) = most.filter(|(_, group)| group.best.0 > 0.0) else { break };
        let Group { mut cells, best: (_, axis, middle) } = groups.swap_remove(at);
        cells.sort_by(|a, b| a.color[axis].total_cmp(&b.color[axis]));
        let above = cells.split_off(middle);
        groups.push(Group::new(cells));
        groups.push(Group::new(above));
    }
    groups.iter().filter(|group| !group.cells.is_empty()).map(|group| mean(&group.cells)).collect()
}

fn mean(cells: &[Cell]) -> [f32; 3] {
    let weight: f64 = cells.iter().map(|c| f64::from(c.weight)).sum();
    [0, 1, 2].map(|i| {
        (cells.iter().map(|c| f64::from(c.weight) * f64::from(c.color[i])).sum::<f64>() / weight) as f32
    })
}

fn settle(colors: &[Cell], centers: &mut [[f32; 3]]) {
    let mut sums = vec![[0.0f64; 4]; centers.len()];
    for cell in colors {
        let sum = &mut sums[nearest(centers, cell.color)];
        sum[3] += f64::from(cell.weight);
        (0..3).for_each(|i| sum[i] += f64::from(cell.weight) * f64::from(cell.color[i]));
    }
    for (center, sum) in centers.iter_mut().zip(&sums).filter(|(_, sum)| sum[3] > 0.0) {
        *center = [0, 1, 2].map(|i| (sum[i] / sum[3]) as f32);
    }
}

/// Maps every pixel to a colour of the palette.
pub struct Mixer {
    colors: Vec<[f32; 3]>,
    /// For every colour (7 bits each): 0 if not computed yet; else a set bit 31, the nearest colour of the
    /// palette, the one to mix in, and for how many pixels of 64.
    known: Vec<AtomicU32>,
}

impl Mixer {
    pub fn new(palette: &[[u8; 3]]) -> Self {
        let colors = palette.iter().map(|c| c.map(f32::from)).collect();
        Self { colors, known: (0..1 << 21).map(|_| AtomicU32::new(0)).collect() }
    }

    /// Index into the palette for colour `color` in column `x` of row `y`.
    pub fn index(&self, color: [u8; 3], x: usize, y: usize) -> u8 {
        let [r, g, b] = color.map(|c| usize::from(c >> 1));
        let known = &self.known[r << 14 | g << 7 | b];
        let mut recipe = known.load(Ordering::Relaxed);
        if recipe == 0 {
            // Every thread computes the same value; the order does not matter.
            recipe = self.recipe(color.map(|c| f32::from(c >> 1 << 1 | c >> 7)));
            known.store(recipe, Ordering::Relaxed);
        }
        let [first, second, share, _] = recipe.to_le_bytes();
        if threshold(x, y) < u32::from(share) { second } else { first }
    }

    fn recipe(&self, color: [f32; 3]) -> u32 {
        let first = nearest(&self.colors, color);
        let p = self.colors[first];
        let alone = distance(p, color);
        let mut best = (alone, first, 0.0);
        // Within about one level the difference is invisible, and uniform areas stay uniform.
        if alone > 14.0 {
            for (i, &q) in self.colors.iter().enumerate().filter(|(i, _)| *i != first) {
                let apart = distance(p, q);
                let along: f32 = (0..3).map(|k| SEEN[k] * (color[k] - p[k]) * (q[k] - p[k])).sum();
                let share = (along / apart).clamp(0.0, 0.5);
                let mixed = [0, 1, 2].map(|k| p[k] + share * (q[k] - p[k]));
                // Patterns of very different colours would be visible.
                let error = distance(mixed, color) + 0.1 * share * apart;
                if error < best.0 {
                    best = (error, i, share);
                }
            }
        }
        let share = (best.2 * 64.0).round() as u32;
        1 << 31 | share << 16 | (best.1 as u32) << 8 | first as u32
    }
}

/// Bayer's pattern, 0 to 63.
fn threshold(x: usize, y: usize) -> u32 {
    let (a, b) = ((x ^ y) as u32, y as u32);
    (a & 1) << 5 | (b & 1) << 4 | (a & 2) << 2 | (b & 2) << 1 | (a & 4) >> 1 | (b & 4) >> 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colors_are_kept_as_they_are() {
        let mut histogram = Histogram::new();
        let colors = [[255, 255, 255], [10, 20, 30], [200, 30, 40], [0, 0, 0], [90, 91, 92]];
        colors.iter().for_each(|&c| (0..100).for_each(|_| histogram.count(c)));
        let palette = histogram.palette();
        assert_eq!(palette.len(), colors.len());
        let mixer = Mixer::new(&palette);
        for color in colors {
            for (x, y) in [(0, 0), (3, 5), (6, 1)] {
                assert_eq!(palette[usize::from(mixer.index(color, x, y))], color);
            }
        }
    }

    #[test]
    fn mixtures_have_the_right_mean() {
        let mut histogram = Histogram::new();
        (0..=255).step_by(5).for_each(|v| histogram.count([v, v, v]));
        let palette: Vec<[u8; 3]> = (0..=255).step_by(15).map(|v| [v, v, v]).collect();
        let mixer = Mixer::new(&palette);
        for v in (4..250).step_by(7) {
            let shown: u32 = (0..64)
                .map(|i| u32::from(palette[usize::from(mixer.index([v, v, v], i % 8, i / 8))][0]))
                .sum();
            assert!((shown as f32 / 64.0 - f32::from(v)).abs() < 2.5, "{v}: {}", shown as f32 / 64.0);
        }
    }

    #[test]
    fn the_pattern_has_every_threshold_once() {
        let mut all: Vec<u32> = (0..64).map(|i| threshold(i % 8, i / 8)).collect();
        all.sort_unstable();
        assert_eq!(all, (0..64).collect::<Vec<u32>>());
    }

    #[test]
    fn a_smooth_picture_gets_a_full_and_close_palette() {
        let mut histogram = Histogram::new();
        for r in 0..64u8 {
            (0..64u8).for_each(|g| histogram.count([r * 4, g * 2, 128 - r]));
        }
        let palette = histogram.palette();
        assert!(palette.len() > 200, "{}", palette.len());
        let centers: Vec<[f32; 3]> = palette.iter().map(|c| c.map(f32::from)).collect();
        for r in 0..64u8 {
            for g in 0..64u8 {
                let color = [r * 4, g * 2, 128 - r].map(f32::from);
                let found = centers[nearest(&centers, color)];
                assert!((0..3).all(|i| (found[i] - color[i]).abs() < 16.0), "{color:?} {found:?}");
            }
        }
    }
}
