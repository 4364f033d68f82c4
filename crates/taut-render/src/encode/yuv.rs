//! RGB to luma and chroma for video: BT.709, 16 to 235, one pair of chroma samples per 2 × 2 pixels.
//!
//! Chroma samples lie on the left column of their four pixels, halfway between the rows: the default of
//! H.264.

use rayon::prelude::*;

use super::on_white;
use crate::{Picture, picture::Rgba};

/// A picture in luma and chroma planes; width and height are even.
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// Width and height of the luma plane.
    pub size: [usize; 2],
    /// Luma.
    pub y: Vec<u8>,
    /// Blue against luma, half as wide and high.
    pub u: Vec<u8>,
    /// Red against luma.
    pub v: Vec<u8>,
}

/// Weights of red, green and blue, times 65536.
const Y: [i32; 3] = [11_966, 40_254, 4_064];
const U: [i32; 3] = [-6_596, -22_189, 28_785];
const V: [i32; 3] = [28_785, -26_145, -2_640];

fn weigh(weights: [i32; 3], [r, g, b]: [i32; 3]) -> i32 {
    weights[0] * r + weights[1] * g + weights[2] * b
}

impl Planes {
    /// Converts `picture`; odd sizes repeat the last column or row.
    pub fn set(&mut self, picture: &Picture) {
        let (width, height) = (picture.width(), picture.height());
        let even = [width.next_multiple_of(2), height.next_multiple_of(2)];
        self.size = even;
        self.y.resize(even[0] * even[1], 0);
        self.u.resize(even[0] * even[1] / 4, 0);
        self.v.resize(even[0] * even[1] / 4, 0);
        let pixels = picture.pixels();
        let pairs = self.y.par_chunks_exact_mut(2 * even[0]);
        let chroma = self.u.par_chunks_exact_mut(even[0] / 2).zip(self.v.par_chunks_exact_mut(even[0] / 2));
        pairs.zip(chroma).enumerate().for_each(|(pair, (y, (u, v)))| {
            let row = |row: usize| &pixels[row.min(height - 1) * width..][..width];
            two_rows([row(2 * pair), row(2 * pair + 1)], y, u, v);
        });
    }
}

fn two_rows(rows: [&[Rgba]; 2], y: &mut [u8], u: &mut [u8], v: &mut [u8]) {
    let last = rows[0].len() - 1;
    let (above, below) = y.split_at_mut(y.len() / 2);
    let mut left = [0; 3];
    for column in 0..u.len() {
        // Sum of both rows: the pixels of this column and of the one to the right.
        let mut sums = [[0; 3]; 2];
        for (row, luma) in [(rows[0], &mut *above), (rows[1], &mut *below)] {
            for side in 0..2 {
                let pixel = row[(2 * column + side).min(last)];
                let rgb = if pixel[3] == 255 { [pixel[0], pixel[1], pixel[2]] } else { on_white(pixel) };
                let rgb = rgb.map(i32::from);
                luma[2 * column + side] = ((weigh(Y, rgb) + (16 << 16) + (1 << 15)) >> 16) as u8;
                for i in 0..3 {
                    sums[side][i] += rgb[i];
                }
            }
        }
        if column == 0 {
            left = sums[0];
        }
        let mut mean = [0; 3];
        for i in 0..3 {
            mean[i] = left[i] + 2 * sums[0][i] + sums[1][i];
        }
        let chroma = |weights| ((weigh(weights, mean) + (128 << 19) + (1 << 18)) >> 19) as u8;
        (u[column], v[column]) = (chroma(U), chroma(V));
        left = sums[1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planes_of(width: usize, height: usize, color: Rgba) -> Planes {
        let mut planes = Planes::default();
        planes.set(&Picture::new(width, height, color));
        planes
    }

    #[test]
    fn even_colors_are_as_bt_709_has_them() {
        let cases = [
            ([255, 255, 255], [235, 128, 128]),
            ([0, 0, 0], [16, 128, 128]),
            ([255, 0, 0], [63, 102, 240]),
            ([0, 255, 0], [173, 42, 26]),
            ([0, 0, 255], [32, 240, 118]),
        ];
        for ([r, g, b], yuv) in cases {
            let planes = planes_of(5, 3, [r, g, b, 255]);
            assert_eq!(planes.size, [6, 4]);
            let all = |plane: &[u8], value: u8| plane.iter().all(|p| p.abs_diff(value) <= 1);
            assert!(
                all(&planes.y, yuv[0]) && all(&planes.u, yuv[1]) && all(&planes.v, yuv[2]),
                "{yuv:?} {planes:?}"
            );
        }
        assert_eq!(planes_of(2, 2, [0, 0, 0, 0]).y, [235; 4], "white shows through");
    }

    #[test]
    fn odd_sizes_repeat_their_last_row_and_column() {
        let mut picture = Picture::new(3, 3, [255; 4]);
        picture.pixels_mut()[8] = [0, 0, 0, 255];
        let mut planes = Planes::default();
        planes.set(&picture);
        assert_eq!(&planes.y[10..12], [16, 16]);
        assert_eq!(&planes.y[14..16], [16, 16]);
    }
}
