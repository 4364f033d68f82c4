//! Renders a scene to a picture, on several threads, with the same pixels for any number of them.

use glam::Vec3;
use rayon::prelude::*;

use crate::{
    assembly::Assembly,
    hair::{CoverTile, Hair},
    picture::Picture,
    raster::{Projection, Raster, TILE, Tile},
    scene::Scene,
    shade::{FloorLight, Shader},
    shadow::{Shadows, SkyLight},
};

/// The largest width and height of a picture \[pixels\].
pub const LARGEST: usize = 8192;

/// Draws scenes; reuses its buffers.
#[derive(Debug)]
pub struct Renderer {
    pool: rayon::ThreadPool,
    assembly: Assembly,
    raster: Raster,
    shadows: Shadows,
    hair: Hair,
    sky: Vec<SkyLight>,
    floor_light: FloorLight,
}

impl Renderer {
    /// A renderer with `threads` threads.
    ///
    /// # Errors
    /// If threads cannot be started.
    pub fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        Ok(Self {
            pool: rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build()?,
            assembly: Assembly::default(),
            raster: Raster::default(),
            shadows: Shadows::default(),
            hair: Hair::default(),
            sky: Vec::new(),
            floor_light: FloorLight::default(),
        })
    }

    /// Draws `scene` to `picture`.
    pub fn draw(&mut self, scene: &Scene, picture: &mut Picture) {
        let Self { pool, assembly, raster, shadows, hair, sky, floor_light } = self;
        let size = [picture.width(), picture.height()];
        if size.contains(&0) {
            return;
        }
        pool.install(|| {
            let projection = Projection::new(&scene.camera, size);
            assembly.gather(scene);
            rayon::join(|| raster.place(assembly, &projection), || shadows.draw(assembly, &scene.lights));
            let vertices = assembly.positions.par_iter().zip(&assembly.normals);
            hair.gather(scene);
            vertices.map(|(&p, &normal)| sky_light(shadows, hair, p, normal)).collect_into_vec(sky);
            if !hair.is_empty() {
                let casting = (!assembly.triangles.is_empty()).then_some(&*shadows);
                hair.light(scene, casting, &projection);
            }
            let seen = scene.floor.and_then(|floor| Some((floor, projection.floor(&floor)?)));
            if let Some((floor, _)) = &seen {
                floor_light.measure(floor, scene, shadows, hair);
            }
            let shader = Shader {
                scene,
                assembly,
                raster,
                projection: &projection,
                shadows,
                hair,
                sky,
                floor_light,
                floor: seen.map(|(floor, _)| floor),
                height: size[1],
            };
            let rows = picture.pixels_mut().par_chunks_mut(size[0] * TILE[1]).enumerate();
            rows.for_each_init(<(Tile, CoverTile)>::default, |(tile, veil), (row, pixels)| {
                for column in 0..size[0].div_ceil(TILE[0]) {
                    raster.draw(column, row, seen.map(|(_, depth)| depth), tile);
                    if !hair.is_empty() {
                        hair.draw([column, row], tile, veil);
                    }
                    let ([left, top], [width, height]) = (tile.origin(), tile.size());
                    for y in 0..height {
                        for x in 0..width {
                            pixels[y * size[0] + left + x] =
                                shader.pixel(left + x, top + y, tile.ids(x, y), veil.at(x, y));
                        }
                    }
                }
            });
        });
    }
}

/// Sky light at a vertex, of which strands take a part.
fn sky_light(shadows: &Shadows, hair: &Hair, p: Vec3, normal: Vec3) -> SkyLight {
    let mut light = shadows.sky(p, normal);
    if !hair.is_empty() {
        for (side, toward) in light.sides.iter_mut().zip([normal, -normal]) {
            *side *= hair.sky(p, Some(toward));
        }
        light.open *= hair.sky(p, None);
    }
    light
}

/// A picture of `scene`, `width` × `height` pixels, drawn on `threads` threads.
///
/// # Errors
/// If the system cannot start the threads.
pub fn render(
    scene: &Scene,
    width: usize,
    height: usize,
    threads: usize,
) -> Result<Picture, rayon::ThreadPoolBuildError> {
    let mut picture = Picture::new(width, height, [255; 4]);
    Renderer::new(threads)?.draw(scene, &mut picture);
    Ok(picture)
}
