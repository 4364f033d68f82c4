//! PNG: one picture.

use png::{BitDepth, ColorType, Compression, DeflateCompression, Encoder, Filter, SrgbRenderingIntent};

use crate::Picture;

/// The picture as a PNG file, encoded quickly; without an alpha channel if it is opaque.
pub fn png(picture: &Picture) -> Vec<u8> {
    packed(picture, Packing::Fast)
}

/// The same in a smaller file, which takes some tenths of a second: encoded as a drawing, which is mostly
/// background, and as a photograph; the smaller one is returned.
pub fn png_small(picture: &Picture) -> Vec<u8> {
    let [drawing, photograph] =
        [Packing::Drawing, Packing::Photograph].map(|packing| packed(picture, packing));
    if drawing.len() < photograph.len() { drawing } else { photograph }
}

fn packed(picture: &Picture, packing: Packing) -> Vec<u8> {
    let pixels = picture.pixels();
    let size = [picture.width(), picture.height()];
    if pixels.iter().all(|p| p[3] == 255) {
        let mut rgb = vec![0; pixels.len() * 3];
        for (to, from) in rgb.chunks_exact_mut(3).zip(pixels) {
            to.copy_from_slice(&from[..3]);
        }
        return file(size, ColorType::Rgb, &rgb, packing);
    }
    file(size, ColorType::Rgba, pixels.as_flattened(), packing)
}

/// Compression effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// About 10 ns per pixel.
    Fast,
    /// Half the size in seven times the time.
    Small,
    /// For lines on paper.
    Drawing,
    /// For shading.
    Photograph,
}

/// A PNG file of `size` with these samples, 8 bits each.
///
/// # Panics
/// Never where there are as many samples as the size and colours take: memory does not refuse to be written.
/// Pictures without pixels give an empty file, which the format cannot express.
pub(super) fn file(size: [usize; 2], color: ColorType, samples: &[u8], packing: Packing) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(samples.len() / 4 + 1024);
    if samples.is_empty() {
        return bytes;
    }
    let mut encoder = Encoder::new(&mut bytes, size[0] as u32, size[1] as u32);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    match packing {
        Packing::Fast => {}
        Packing::Small => encoder.set_deflate_compression(DeflateCompression::Level(3)),
        Packing::Drawing | Packing::Photograph => {
            encoder.set_deflate_compression(DeflateCompression::Level(6));
        }
    }
    // The pixel above predicts smooth shading well, at no cost; uniform areas and sharp lines are best
    // unfiltered.
    encoder.set_filter(match packing {
        Packing::Fast | Packing::Small => Filter::Up,
        Packing::Drawing => Filter::NoFilter,
        Packing::Photograph => Filter::Adaptive,
    });
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(samples));
    written.expect("samples fill the picture");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> (png::OutputInfo, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut samples = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut samples).unwrap();
        (info, samples)
    }

    #[test]
    fn pixels_survive() {
        for (opaque, color) in [(true, ColorType::Rgb), (false, ColorType::Rgba)] {
            let mut picture = Picture::new(37, 11, [255; 4]);
            for (i, pixel) in picture.pixels_mut().iter_mut().enumerate() {
                let alpha = if opaque { 255 } else { (i * 3) as u8 };
                *pixel = [i as u8, (i * 7) as u8, (i / 3) as u8, alpha];
            }
            let (info, samples) = decode(&png(&picture));
            assert_eq!((info.width, info.height, info.color_type), (37, 11, color));
            assert_eq!(decode(&png_small(&picture)).1, samples);
            let channels = if opaque { 3 } else { 4 };
            let wanted: Vec<u8> = picture.pixels().iter().flat_map(|p| p[..channels].to_vec()).collect();
            assert_eq!(samples, wanted);
        }
        assert!(png(&Picture::new(0, 5, [0; 4])).is_empty());
    }
}
