//! `taut test-fabric` and `taut fit-fabric`: materials in the tests of textile laboratories.

use std::{path::Path, process::ExitCode};

use glam::Vec3;
use serde::Serialize;
use taut::{
    Bending, Material,
    fabric::{
        self, Cantilever, Cut, Drape, Extension, Fitted, Hanging, Pull, Target, cantilever, drape, extension,
        hanging,
    },
};
use taut_io::{export::Target as File, output::atomic, scene};
use taut_render::{
    Camera, Lights, Picture, Renderer, Scene, encode,
    plot::{Axis, Chart, Series},
    scene::{Backdrop, Floor, Surface, srgb},
};

use crate::{
    args::{CutArg, FitFabricArgs, TestFabricArgs},
    failure::Failure,
    figure::Figure,
    progress::Share,
    terminal,
};

/// Strain to which specimens are pulled, and in how many points.
const PULLED: (f64, u32) = (0.05, 5);

/// Everything that was found of a fabric.
#[derive(Serialize)]
struct Report {
    material: Material,
    cantilever: Vec<Cantilever>,
    drape: Drape,
    /// Smallest and largest that was published of fabrics of its kind, and where.
    published_drape: Option<([f64; 2], &'static str)>,
    hanging: Vec<Hanging>,
    extension: Vec<Curve>,
}

#[derive(Serialize)]
struct Curve {
    pull: &'static str,
    points: Vec<Extension>,
}

/// Tests fabrics.
pub fn test(args: &TestFabricArgs) -> Result<ExitCode, Failure> {
    let materials = args.materials.iter().map(|text| material(text)).collect::<Result<Vec<_>, _>>()?;
    for (material, text) in materials.iter().zip(&args.materials) {
        let least =
            material.stretch.warp.min(material.stretch.weft).min(material.bend.warp.min(material.bend.weft));
        if least <= 0.0 || material.stretch.shear == Some(0.0) {
            return Err(Failure::input(
                format!("{text}: stretch and bend must be above 0 in all directions to be tested"),
                "give it some, as in '{ base = \"denim\", bend = 2e-5 }'",
            ));
        }
    }
    if let Some(folder) = &args.out {
        for name in materials.iter().map(|material| &material.name) {
            for file in ["extension.csv", "extension.svg", "drape.png"] {
                File::refuse_existing(&folder.join(format!("{name}-{file}")), args.force)
                    .map_err(Failure::at_start)?;
            }
        }
        std::fs::create_dir_all(folder).map_err(|error| unwritten(folder, error))?;
    }
    let mut reports = Vec::new();
    for (k, material) in materials.into_iter().enumerate() {
        let progress = Share::new(false, format!("testing {}", material.name));
        let report = Report::new(material, args, &|part| progress.show(part))?;
        progress.finish();
        if let Some(folder) = &args.out {
            report.write(folder, args.threads.count())?;
        }
        if !args.json {
            terminal::print(&format!("{}{}", if k > 0 { "\n" } else { "" }, report.text()))?;
        }
        reports.push(report);
    }
    if args.json {
        terminal::print_json(&reports)?;
    } else if let Some(folder) = &args.out {
        terminal::print(&format!("\ncurves and pictures: {}\n", folder.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Fits the bending stiffness of a fabric.
pub fn fit(args: &FitFabricArgs) -> Result<ExitCode, Failure> {
    let material = material(&args.material)?;
    let cut = match args.cut {
        CutArg::Warp => Cut::Warp,
        CutArg::Weft => Cut::Weft,
        CutArg::Bias => Cut::Bias,
    };
    let target = match (args.drape, args.bending_length) {
        (Some(percent), _) => {
            let range = "give a percentage between 1 and 99, as in `--drape 68`";
            Target::Drape(within(percent, [1.0, 99.0], "the drape coefficient", range)? / 100.0)
        }
        (None, length) => {
            let range = "give centimetres between 0.1 and 50, as in `--bending-length 2.1`";
            let length = within(length.unwrap_or(0.0), [0.1, 50.0], "the bending length", range)?;
            Target::BendingLength(cut, length / 100.0)
        }
    };
    if material.bend.mean() <= 0.0 {
        return Err(Failure::input(
            "the material has no bending stiffness that could be scaled",
            "give it some, as in '{ base = \"cotton\" }'",
        ));
    }
    let progress = Share::new(false, "fitting");
    progress.show(0.0);
    let fitted = fabric::fit(&material, target, args.rings, args.threads.count()).map_err(refused)?;
    progress.finish();
    if args.json {
        terminal::print_json(&fitted)?;
    } else {
        terminal::print(&said(&material, &fitted, target))?;
    }
    // A check that failed: no stiffness does what was measured.
    Ok(if fitted.met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn within(value: f64, [least, most]: [f64; 2], what: &str, hint: &str) -> Result<f64, Failure> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(Failure::input(format!("{what} is {value}, must be from {least} to {most}"), hint))
}

fn said(base: &Material, fitted: &Fitted, target: Target) -> String {
    let Bending { warp, weft, bias } = fitted.material.bend;
    let bend = if warp == weft && bias.is_none() {
        format!("{warp:.3e}")
    } else {
        let bias = bias.map_or(String::new(), |bias| format!(", bias = {bias:.3e}"));
        format!("{{ warp = {warp:.3e}, weft = {weft:.3e}{bias} }}")
    };
    let name = if Material::named(&base.name).is_some() {
        format!("base = \"{}\", ", base.name)
    } else {
        String::new()
    };
    let reached = match target {
        Target::Drape(asked) => {
            format!("drape coefficient {:.1} %, asked for {:.1} %", 100.0 * fitted.reached, 100.0 * asked)
        }
        Target::BendingLength(cut, asked) => format!(
            "bending length along the {} {:.2} cm, asked for {:.2} cm",
            cut.name(),
            100.0 * fitted.reached,
            100.0 * asked
        ),
    };
    let verdict = if fitted.met { "" } else { "\nnot reached: no bending stiffness does that" };
    format!("material = {{ {name}bend = {bend} }}\n{:.3} times as stiff: {reached}{verdict}\n", fitted.factor)
}

/// A named material, or a table as a scene file has it.
fn material(text: &str) -> Result<Material, Failure> {
    if let Some(material) = Material::named(text) {
        return Ok(material);
    }
    let value = if text.trim_start().starts_with('{') { text.to_owned() } else { format!("{text:?}") };
    let scene = scene::load("hanging-sheet", &[format!("cloth.sheet.material={value}")])?;
    let description = scene.build()?;
    let material = description.cloths().next().map(|cloth| cloth.material.clone());
    Ok(material.unwrap_or_default())
}

fn refused(error: taut::WorldError) -> Failure {
    Failure::input(error.to_string(), "`taut materials` lists materials that can be simulated")
}

fn unwritten(path: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::Write { message: format!("{}: {error}", path.display()), hint: None }
}

/// All ways in which specimens are pulled.
const PULLS: [(&str, Pull); 4] = [
    ("warp", Pull::Along(Cut::Warp)),
    ("weft", Pull::Along(Cut::Weft)),
    ("bias", Pull::Along(Cut::Bias)),
    ("both", Pull::Both),
];

impl Report {
    fn new(material: Material, args: &TestFabricArgs, show: &dyn Fn(f64)) -> Result<Self, Failure> {
        // The drape takes most of the time.
        let bent = Cut::ALL.map(|cut| cantilever(&material, cut));
        show(0.1);
        let hung = Cut::ALL.map(|cut| hanging(&material, cut));
        show(0.15);
        let (most, points) = PULLED;
        let pulled = PULLS.map(|(pull, way)| {
            let points = extension(&material, way, most, points)?;
            Ok(Curve { pull, points })
        });
        show(0.25);
        let drape = drape(&material, args.rings, args.threads.count()).map_err(refused)?;
        show(1.0);
        Ok(Self {
            published_drape: fabric::published_drape(&material.name),
            material,
            cantilever: bent.into_iter().collect::<Result<_, _>>().map_err(refused)?,
            drape,
            hanging: hung.into_iter().collect::<Result<_, _>>().map_err(refused)?,
            extension: pulled.into_iter().collect::<Result<_, taut::WorldError>>().map_err(refused)?,
        })
    }

    fn text(&self) -> String {
        let heading = ["", "warp", "weft", "bias"].map(String::from);
        let row = |name: &str, values: Vec<String>| [vec![name.to_owned()], values].concat();
        let bent = |value: &dyn Fn(&Cantilever) -> f64| {
            self.cantilever.iter().map(|c| format!("{:.2}", 100.0 * value(c))).collect()
        };
        let hung = |value: &dyn Fn(&Hanging) -> String| self.hanging.iter().map(value).collect();
        let curves = |value: &dyn Fn(&Curve) -> f64| {
            self.extension[..3].iter().map(|curve| format!("{:.4}", value(curve))).collect()
        };
        let young = |cut: Cut| format!("{:.4}", cut.stretching(&self.material)[0]);
        let rows = vec![
            heading.to_vec(),
            row("bending length [cm]", bent(&|c| c.bending_length)),
            row("  by (D/ρg)^⅓", bent(&|c| c.expected)),
            row("strain of 1 m by its weight [%]", hung(&|h| format!("{:.5}", 100.0 * h.strain))),
            row("  by the law", hung(&|h| format!("{:.5}", 100.0 * h.expected[0]))),
            row("narrower, of what it is longer", hung(&|h| format!("{:.3}", h.narrowing))),
            row("  by the law", hung(&|h| format!("{:.3}", h.expected[1]))),
            row("force by strain between clamps [N/m]", curves(&Curve::modulus)),
            row("  by the law, free to narrow", Cut::ALL.map(young).to_vec()),
        ];
        let published = self.published_drape.map_or(String::new(), |([least, most], source)| {
            format!(" (published: {:.0} to {:.0} %, {source})", 100.0 * least, 100.0 * most)
        });
        format!(
            "{}: {}\ndrape coefficient {:.1} %, {} folds{published}\nforce by strain, pulled both ways: {:.4} N/m\n{}",
            self.material.name,
            self.material.source,
            100.0 * self.drape.coefficient,
            self.drape.nodes,
            self.extension[3].modulus(),
            terminal::table(&rows)
        )
    }

    /// Writes curves and pictures to `folder`.
    fn write(&self, folder: &Path, threads: usize) -> Result<(), Failure> {
        let path = |file: &str| folder.join(format!("{}-{file}", self.material.name));
        let mut csv = String::from("pull,strain,force_per_width_N_per_m,narrowing\n");
        for Curve { pull, points } in &self.extension {
            for Extension { strain, force, narrowing } in points {
                csv += &format!("{pull},{strain:.6},{force:.6},{narrowing:.6}\n");
            }
        }
        let table = path("extension.csv");
        atomic::write(&table, csv.as_bytes()).map_err(|error| unwritten(&table, error))?;
        let series = |Curve { pull, points }: &Curve| Series {
            name: (*pull).into(),
            points: points.iter().map(|point| [100.0 * point.strain, point.force]).collect(),
            dashed: false,
        };
        let axis = |label: &str| Axis { label: label.into(), log: label.starts_with("force") };
        let chart = Chart {
            title: format!("Extension of {}", self.material.name),
            x: axis("strain [%]"),
            y: axis("force by width [N/m]"),
            series: self.extension.iter().map(series).collect(),
            lines: Vec::new(),
        };
        Figure::new(path("extension.svg"), true)?.write(&[chart])?;
        let picture = path("drape.png");
        let drawn = encode::png_small(&self.picture(threads)?);
        atomic::write(&picture, &drawn).map_err(|error| unwritten(&picture, error))
    }

    /// The drape from the side and from above.
    fn picture(&self, threads: usize) -> Result<Picture, Failure> {
        let problem = |message: String| Failure::Write { message, hint: None };
        let mut renderer = Renderer::new(threads).map_err(|error| problem(error.to_string()))?;
        let Drape { mesh, positions, .. } = &self.drape;
        let low = positions.iter().map(|p| p.y).fold(0.0, f32::min);
        let middle = Vec3::new(0.0, 0.5 * low, 0.0);
        let views = [(Vec3::new(0.35, 0.22, 0.5), middle), (Vec3::new(0.0, 0.75, 1e-3), Vec3::ZERO)];
        let mut pictures = Vec::new();
        for (eye, target) in views {
            let camera = Camera::new(eye, target, Vec3::Y, 32.0).map_err(problem)?;
            let drawn = Scene {
                surfaces: vec![Surface::plain(positions.clone(), mesh.triangles.clone(), srgb(196, 120, 92))],
                threads: Vec::new(),
                strands: Vec::new(),
                solids: Vec::new(),
                floor: Some(Floor { normal: Vec3::Y, height: low - 0.02 }),
                lights: Lights::studio(&camera, Vec3::Y, middle, 0.2),
                camera,
                backdrop: Backdrop::default(),
            };
            let mut picture = Picture::new(720, 640, [0; 4]);
            renderer.draw(&drawn, &mut picture);
            pictures.push(picture);
        }
        let said = format!("{}: {:.1} %", self.material.name, 100.0 * self.drape.coefficient);
        let labels = [said.as_str(), "from above"];
        let labelled: Vec<(&Picture, &str)> = pictures.iter().zip(labels).collect();
        Ok(taut_render::montage(&labelled, 2))
    }
}

impl Curve {
    /// Force by strain at the largest strain \[N/m\].
    fn modulus(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.force / point.strain)
    }
}
