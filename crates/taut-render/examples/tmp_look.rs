use std::{path::Path, time::Instant};
use glam::Vec3;
use taut_render::{camera::*, scene::*, *};
fn npy(path: &Path) -> Vec<Vec3> {
    let b = std::fs::read(path).unwrap();
    let h = 10 + usize::from(u16::from_le_bytes([b[8], b[9]]));
    b[h..].chunks_exact(12).map(|c| Vec3::from([0, 4, 8].map(|k| f32::from_le_bytes(c[k..k + 4].try_into().unwrap())))).collect()
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let root = Path::new(&a[1]);
    let frame: u32 = a[2].parse().unwrap();
    let loaded = taut_io::scene::load(root.join("scene.toml").to_str().unwrap(), &[]).unwrap();
    let d = &loaded.description();
    let mut extent = Extent::default();
    let all: Vec<u32> = (0..200).filter(|f| d.cloths.iter().all(|c| root.join(format!("frames/{}.{f:04}.npy", c.name)).exists())).collect();
    for f in all.iter().step_by(6) { for c in &d.cloths { extent.add(npy(&root.join(format!("frames/{}.{f:04}.npy", c.name)))); } }
    let mut solids = vec![];
    let mut floor = None;
    for o in &d.obstacles {
        let pose = o.pose(frame as f32 * d.frame_time);
        if matches!(o.shape, taut::boundary::obstacle::Shape::Plane) { let n = pose.rotation * Vec3::Y; floor = Some(Floor{normal: n, height: n.dot(pose.position)}); continue; }
        for p in obstacle::tessellate(&o.shape, 1.0).positions { extent.add([pose.to_world(p)]); }
        solids.push(Solid { shape: o.shape, pose, color: srgb(206, 200, 190), extent: 1.0 });
    }
    let [low, _] = extent.bounds();
    let floor = floor.unwrap_or(Floor { normal: Vec3::Y, height: low.y - 0.01 * extent.radius() });
    let colors = [srgb(190, 84, 62), srgb(60,120,130)];
    let surfaces = d.cloths.iter().enumerate().map(|(k, c)| Surface::plain(npy(&root.join(format!("frames/{}.{frame:04}.npy", c.name))), c.mesh.triangles.clone(), colors[k])).collect();
    let camera = Camera::framing(&extent, View::ThreeQuarter, Vec3::Y, 1280.0/720.0);
    let lights = Lights::studio(&camera, Vec3::Y, extent.center(), extent.radius());
    let scene = Scene { surfaces, threads: vec![], solids, floor: Some(floor), camera, lights, backdrop: Backdrop::default() };
    let mut r = Renderer::new(2).unwrap();
    let mut pic = Picture::new(1280, 720, [0; 4]);
    for _ in 0..4 { let t = Instant::now(); r.draw(&scene, &mut pic); eprintln!("{:?}", t.elapsed()); }
    let mut out = b"P6\n1280 720\n255\n".to_vec();
    for p in pic.pixels() { out.extend(&p[..3]); }
    std::fs::write(&a[3], out).unwrap();
}
