//! A picture in memory.

/// A colour as stored in files: red, green, blue (sRGB) and opacity, 0 to 255 each, not premultiplied.
pub type Rgba = [u8; 4];

/// A picture: rows of pixels from the top, each from the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<Rgba>,
}

impl Picture {
    /// A picture of `width` × `height` pixels, all of colour `fill`.
    pub fn new(width: usize, height: usize, fill: Rgba) -> Self {
        Self { width, height, pixels: vec![fill; width * height] }
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row from the top.
    pub fn pixels(&self) -> &[Rgba] {
        &self.pixels
    }

    /// All pixels, mutable.
    pub fn pixels_mut(&mut self) -> &mut [Rgba] {
        &mut self.pixels
    }

    /// The pixel in column `x` of row `y`.
    pub fn get(&self, x: usize, y: usize) -> Rgba {
        self.pixels[y * self.width + x]
    }

    /// Blends `color` into the pixel in column `x` of row `y`, with `share` (0 to 1) times its opacity; no
    /// effect outside.
    pub fn blend(&mut self, x: usize, y: usize, color: Rgba, share: f32) {
        if x >= self.width || y >= self.height {
            return;
        }
        let pixel = &mut self.pixels[y * self.width + x];
        let share = share.clamp(0.0, 1.0) * f32::from(color[3]) / 255.0;
        let mix = |under: u8, over: u8| {
            (f32::from(under) + (f32::from(over) - f32::from(under)) * share).round() as u8
        };
        *pixel =
            [mix(pixel[0], color[0]), mix(pixel[1], color[1]), mix(pixel[2], color[2]), mix(pixel[3], 255)];
    }
}
