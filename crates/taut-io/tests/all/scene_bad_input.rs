//! Every bad input that the scene layer can see is refused with file, line, key, and what is allowed.

use crate::scene_folder;

use scene_folder::{Folder, GOOD, refused, refused_in};
use taut_io::scene;

/// [`GOOD`] with lines added to its cloth, from line 7.
fn cloth(lines: &str) -> String {
    format!("{GOOD}{lines}\n")
}

/// A scene with this line instead of the mesh, which is line 3.
fn mesh(mesh: &str) -> String {
    format!("[[cloth]]\nname = \"sheet\"\nmesh = {mesh}\n")
}

#[test]
fn missing_file() {
    let problems = scene::load("no/such/hanging-shet.toml", &[]).unwrap_err();
    assert_eq!(problems.0.len(), 1);
    let text = problems.to_string();
    assert!(text.starts_with("no/such/hanging-shet.toml: no such file"), "{text}");
    assert!(text.contains("did you mean \"hanging-sheet\"?") && text.contains("noisy-sheet"), "{text}");
}

#[test]
fn neither_file_nor_name() {
    let text = scene::load("flga", &[]).unwrap_err().to_string();
    assert!(text.contains("neither a file nor a built-in scene; did you mean \"flag\"?"), "{text}");
}

#[test]
fn folder_instead_of_file() {
    let folder = Folder::new();
    let text = scene::load(folder.path().to_str().unwrap(), &[]).unwrap_err().to_string();
    assert!(text.contains("is a folder"), "{text}");
}

#[test]
fn huge_file() {
    let folder = Folder::new();
    let text = folder.load(vec![b'#'; (16 << 20) + 1]).unwrap_err().to_string();
    assert!(text.contains("larger than 16 MB"), "{text}");
}

#[test]
fn not_text() {
    refused(b"[scene]\nframes = 3\n\xff\xfe", Some(3), None, &["UTF-8"]);
}

#[test]
fn empty_file() {
    refused("", None, None, &["is empty", "[[cloth]]"]);
}

#[test]
fn no_cloth() {
    refused("[scene]\nframes = 3\n", None, Some("cloth"), &["is missing", "at least one [[cloth]]"]);
    refused(
        "cloth = []\n",
        Some(1),
        Some("cloth"),
        &["is missing", "[[solid]], [[particles]] or [[hair]] is required"],
    );
}

#[test]
fn invalid_toml() {
    refused("[scene]\nframes = = 3\n", Some(2), None, &["column 10", "not valid TOML"]);
    refused("[scene\nframes = 3\n", Some(1), None, &["not valid TOML"]);
    refused("[scene]\nframes = 3\nframes = 4\n", Some(3), None, &["duplicate key"]);
}

#[test]
fn solids() {
    let folder = Folder::new();
    let says = |lines: &str, line: usize, key: &str, words: &[&str]| {
        let text = format!("[[solid]]\nname = \"lump\"\n{lines}\n");
        refused_in(&folder, text, Some(line), Some(key), words);
    };
    let ball = "mesh = { sphere = { radius = 0.1, frequency = 4 } }";
    let bar = "mesh = { bar = { size = [1, 0.1, 0.1], cells = [8, 1, 1] } }";
    says(ball, 1, "solid.lump.spacing", &["is missing", "tetrahedra is required"]);
    says(
        &format!("{ball}\nspacing = 0.1\ntetrahedra = 500"),
        5,
        "solid.lump.tetrahedra",
        &["combined with spacing"],
    );
    says(&format!("{bar}\nspacing = 0.1"), 4, "solid.lump.spacing", &["a mesh that has tetrahedra"]);
    says(&format!("{ball}\nspacing = 0"), 4, "solid.lump.spacing", &["from 1e-6 to 1000000"]);
    says(&format!("{ball}\ntetrahedra = 3"), 4, "solid.lump.tetrahedra", &["from 100"]);
    says("mesh = { file = \"a.vtu\" }\ntetrahedra = 500", 4, "solid.lump.tetrahedra", &["has tetrahedra"]);
    says("mesh = { grid = { size = [1, 1], cells = [4, 4] } }", 3, "solid.lump.mesh.grid", &["unknown key"]);
    says("mesh = { file = \"no.obj\" }\nspacing = 0.1", 3, "solid.lump.mesh.file", &["file not found"]);
    says(&format!("{bar}\nmaterial = \"denim\""), 4, "solid.lump.material", &["is unknown", "rubber"]);
    let numbers = "material = { density = 1000 }";
    says(&format!("{bar}\n{numbers}"), 4, "solid.lump.material.young", &["is missing", "base"]);
    says(&format!("{bar}\nmaterial.poisson = 0.5"), 4, "solid.lump.material.poisson", &["0.499"]);
    says(&format!("{bar}\nvolume = \"keep\""), 4, "solid.lump.volume", &["\"free\" or \"preserve\""]);
    says(
        &format!("{bar}\nlevels = \"surface\""),
        4,
        "solid.lump.levels",
        &["solver.scheme = \"cycle\" or \"paper\""],
    );
    says(&format!("{bar}\nlevels = \"octree\""), 4, "solid.lump.levels", &["\"lattice\" or \"surface\""]);
    let crossed = "strain = { min = -1.5, max = 0.1 }";
    says(&format!("{bar}\n{crossed}"), 4, "solid.lump.strain.min", &["from -1 to 0"]);
    let pinned = "pin = [{ select = \"box:2,2,2,3,3,3\" }]";
    says(&format!("{bar}\n{pinned}"), 4, "solid.lump.pin[0].select", &["spans (0, 0, 0) to (1, 0.1, 0.1)"]);
    let pinned = "pin = [{ select = \"group:foot\" }]";
    says(&format!("{bar}\n{pinned}"), 4, "solid.lump.pin[0].select", &["no group \"foot\""]);
    let thin = "mesh = { bar = { size = [1, 0.0005, 0.1], cells = [1, 1, 1] } }";
    says(thin, 3, "solid.lump.mesh.bar", &["thousandth of the long one"]);
    let torus = "mesh = { torus = { major = 0.1, minor = 0.2, segments = [8, 8] } }\nspacing = 0.1";
    says(torus, 3, "solid.lump.mesh.torus.minor", &["less than major"]);
    says(&format!("{bar}\nspaicng = 1"), 4, "solid.lump.spaicng", &["did you mean \"spacing\"?"]);
    // Files are named after bodies.
    let twins = format!("{GOOD}[[solid]]\nname = \"Sheet\"\n{bar}\n");
    refused_in(&folder, twins, Some(8), Some("solid[0].name"), &["also the name of cloth[0]"]);
    // A sheet encloses nothing.
    folder.write("sheet.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
    let text = "[[solid]]\nmesh = { file = \"sheet.obj\" }\nspacing = 0.1\n";
    let problems = folder.load(text).unwrap().build().unwrap_err();
    let problem = &problems.0[0];
    assert_eq!(problem.file.as_deref(), Some(&*folder.path().join("sheet.obj")));
    assert!(problem.message.contains("mesh of solid \"solid\""), "{problems}");
}

#[test]
fn rigid_bodies() {
    let folder = Folder::new();
    let obstacle = |keys: &str| format!("{GOOD}[[obstacle]]\nname = \"ball\"\n{keys}\n");
    let says = |keys: &str, line: usize, key: &str, words: &[&str]| {
        refused_in(&folder, obstacle(keys), Some(line), Some(key), words);
    };
    let ball = "shape.sphere.radius = 0.1";
    let with = |keys: &str| format!("{ball}\n{keys}");
    says(&with("mass = 0"), 10, "obstacle.ball.mass", &["1e-6"]);
    says(&with("velocity = [1, 0, 0]"), 10, "obstacle.ball.velocity", &["requires a mass"]);
    says(&with("angular_velocity = [1, 0, 0]"), 10, "obstacle.ball.angular_velocity", &["requires a mass"]);
    says("shape.plane = {}\nmass = 1", 10, "obstacle.ball.mass", &["sphere, box, capsule or cylinder"]);
    says(
        &with("mass = 1\nmotion = [{ time = 0 }, { time = 1, translate = [1, 0, 0] }]"),
        11,
        "obstacle.ball.motion",
        &["cannot be combined with mass"],
    );
}

#[test]
fn mesh_obstacles() {
    let folder = Folder::new();
    let obstacle = |keys: &str| format!("{GOOD}[[obstacle]]\nname = \"figure\"\n{keys}\n");
    let says = |keys: &str, line: usize, key: &str, words: &[&str]| {
        refused_in(&folder, obstacle(keys), Some(line), Some(key), words);
    };
    folder.write("a1.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n");
    folder.write("a2.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 1 1\nf 1 2 3\n");
    folder.write("far.obj", "v 0 0 0\nv 1 0 0\nv 0 0 1e9\nf 1 2 3\n");
    folder.write("torn.pc2", "POINTCACHE2");
    says("friction = 1", 7, "obstacle.figure", &["no shape, mesh or sequence"]);
    says(
        "mesh = \"a1.obj\"\nshape.sphere.radius = 1",
        9,
        "obstacle.figure.mesh",
        &["cannot be combined with shape"],
    );
    says("mesh = 3", 9, "obstacle.figure.mesh", &["must be a string or a table with one of grid"]);
    says("mesh = \"no.obj\"", 9, "obstacle.figure.mesh", &["file not found", "no.obj"]);
    says("mesh.file = \"no.obj\"", 9, "obstacle.figure.mesh.file", &["file not found"]);
    says("mesh = \"far.obj\"", 9, "obstacle.figure.mesh", &["frame 0: vertex 2", "within 1e6 m"]);
    says("mesh.sphere = { radius = 1, frequency = 9000 }", 9, "obstacle.figure.mesh.sphere", &["vertices"]);
    says(
        "mesh = \"a1.obj\"\nrestitution = 0.5",
        10,
        "obstacle.figure.restitution",
        &["meshes do not bounce"],
    );
    let sequence = "obstacle.figure.sequence";
    says("sequence = {}", 9, &format!("{sequence}.files"), &["is missing"]);
    says("sequence.files = \"a1.obj\"", 9, &format!("{sequence}.files"), &["one run of #"]);
    says("sequence.files = \"b#.obj\"", 9, &format!("{sequence}.files"), &["file not found", "b#.obj"]);
    says("sequence.files = \"no/b#.obj\"", 9, &format!("{sequence}.files"), &["no cannot be read"]);
    says("sequence = { files = \"a#.obj\", first = 7 }", 9, &format!("{sequence}.files"), &["from 7 on"]);
    says(
        "sequence = { files = \"a#.obj\", mesh = \"a1.obj\" }",
        9,
        &format!("{sequence}.mesh"),
        &["their own faces"],
    );
    says(
        "sequence = { files = \"a#.obj\", first = 3, last = 1 }",
        9,
        &format!("{sequence}.first"),
        &["last"],
    );
    says(
        "sequence.file = \"walk.abc\"",
        9,
        &format!("{sequence}.file"),
        &[".pc2", ".usd", "Alembic", "numbered OBJ"],
    );
    says("sequence.file = \"walk.pc2\"", 9, &format!("{sequence}.mesh"), &["is missing", "a PC2 file"]);
    says(
        "sequence = { file = \"walk.pc2\", mesh = \"a1.obj\" }",
        9,
        &format!("{sequence}.file"),
        &["file not found"],
    );
    says(
        "sequence = { file = \"walk.pc2\", files = \"a#.obj\" }",
        9,
        &format!("{sequence}.file"),
        &["combined with files"],
    );
    says(
        "sequence = { file = \"w.mdd\", mesh = \"a1.obj\", rate = 3 }",
        9,
        &format!("{sequence}.rate"),
        &["its own times"],
    );
    says(
        "sequence = { file = \"w.mdd\", mesh = \"a1.obj\", last = 3 }",
        9,
        &format!("{sequence}.last"),
        &["numbered files"],
    );
    folder.write("short.txt", "1\n2\n");
    folder.write("negative.txt", "0.5\n".repeat(24) + "-1\n");
    let attached = |keys: &str| {
        format!(
            "{GOOD}pin = [{{ select = \"all\", {keys} }}]\n[[obstacle]]\nname = \"figure\"\nmesh = \"a1.obj\"\n\
                 [[obstacle]]\nname = \"ball\"\nshape.sphere.radius = 1\n"
        )
    };
    for (keys, key, words) in [
        (
            "attach = \"figrue\"",
            "attach",
            &["no obstacle is named \"figrue\"", "did you mean \"figure\"?"][..],
        ),
        ("attach = \"ball\"", "attach", &["has a shape"]),
        ("attach = \"figure\", motion = [{ time = 0 }]", "motion", &["combined with attach"]),
        ("attach = \"figure\", pivot = [0, 0, 0]", "pivot", &["combined with attach"]),
        ("attach = \"figure\", from = 1", "from", &["combined with attach", "set stiffness"]),
        ("shape = \"skin\"", "shape", &["requires attach"]),
        ("attach = \"figure\", shape = \"soft\"", "shape", &["\"rigid\"", "\"skin\""]),
        ("stiffness = -1", "stiffness", &["a number from 0 to 1e9"]),
        ("stiffness = 1, fade_in = -1", "fade_in", &["a number from 0"]),
        ("fade_in = 1", "fade_in", &["requires stiffness"]),
        ("until = 2, fade_out = 1", "fade_out", &["requires stiffness"]),
        ("stiffness = 1, fade_out = 1", "fade_out", &["requires until"]),
        ("weight = \"map:w.txt\"", "weight", &["requires stiffness"]),
        ("stiffness = 1, weight = \"group:a\"", "weight", &["not a map", "map:FILE"]),
        ("stiffness = 1, weight = \"map:none.txt\"", "weight", &["none.txt"]),
        ("stiffness = 1, weight = \"map:short.txt\"", "weight", &["has 2 numbers", "25 vertices"]),
        ("stiffness = 1, weight = \"map:negative.txt\"", "weight", &["number 24 is -1", "between 0"]),
    ] {
        refused_in(&folder, attached(keys), Some(7), Some(&format!("cloth.sheet.pin[0].{key}")), words);
    }
    let built = folder.load(attached("attach = \"figure\", until = 2")).unwrap().build().unwrap();
    assert_eq!(built.bodies[0].as_cloth().unwrap().pins[0].attach, Some(0));
    folder.write("rising.txt", (0..25).map(|k| format!("{}\n", 0.5 * f64::from(k))).collect::<String>());
    let keys = "attach = \"figure\", shape = \"skin\", stiffness = 40, weight = \"map:rising.txt\", \
                from = 1, fade_in = 0.5, until = 3, fade_out = 0.25";
    let built = folder.load(attached(keys)).unwrap().build().unwrap();
    let pin = &built.bodies[0].as_cloth().unwrap().pins[0];
    assert_eq!((pin.shape, pin.stiffness, pin.fade), (taut::AttachedShape::Skin, Some(40.0), [0.5, 0.25]));
    assert_eq!((pin.weights[0], pin.weights[24]), (0.0, 12.0));
    let problem = |keys: &str| folder.load(obstacle(keys)).unwrap().build().unwrap_err().to_string();
    let differs = problem("sequence.files = \"a#.obj\"");
    assert!(
        differs.contains("a2.obj: has 4 vertices and 1 triangles") && differs.contains("has 3 and 1"),
        "{differs}"
    );
    let torn = problem("sequence = { file = \"torn.pc2\", mesh = \"a1.obj\" }");
    assert!(
        torn.contains("torn.pc2: ends within its header") && torn.contains("obstacle \"figure\""),
        "{torn}"
    );
}

#[test]
fn unknown_key() {
    let text = GOOD.replace("frames", "frmaes");
    refused(
        text,
        Some(2),
        Some("scene.frmaes"),
        &["unknown key; did you mean \"frames\"?", "frame_rate", "seed"],
    );
    refused(cloth("strian = { max = 0.1 }"), Some(7), Some("cloth.sheet.strian"), &["\"strain\""]);
    refused(mesh("{ gird = 3 }"), Some(3), Some("cloth.sheet.mesh.gird"), &["\"grid\"", "torus", "file"]);
}

#[test]
fn wrong_type() {
    let text = GOOD.replace("= 3", "= \"three\"");
    refused(
        text,
        Some(2),
        Some("scene.frames"),
        &["is the string \"three\"", "an integer from 1 to 1000000"],
    );
    refused(GOOD.replace("= 3", "= 2.5"), Some(2), Some("scene.frames"), &["is 2.5", "integer"]);
    refused(
        cloth("strain = 0.05"),
        Some(7),
        Some("cloth.sheet.strain"),
        &["is 0.05, must be a table with bias, direction, max, min, warp, weft"],
    );
    refused(
        cloth("velocity = [1, 2]"),
        Some(7),
        Some("cloth.sheet.velocity"),
        &["array of 2", "an array of 3 numbers"],
    );
    refused(
        cloth("velocity = [1, true, 2]"),
        Some(7),
        Some("cloth.sheet.velocity[1]"),
        &["is true", "a number"],
    );
    refused("cloth = 3\n", Some(1), Some("cloth"), &["is 3"]);
    refused("[cloth]\nname = \"a\"\n", Some(1), Some("cloth"), &["is a table", "array"]);
    refused(
        mesh("\"shirt.obj\""),
        Some(3),
        Some("cloth.sheet.mesh"),
        &["a table with one of grid, ell, disc"],
    );
    refused(
        format!("[air]\nwind = [true]\n{GOOD}"),
        Some(2),
        Some("air.wind"),
        &["an array of 3 numbers", "time, velocity"],
    );
}

#[test]
fn two_meshes_or_none() {
    let both = "{ disc = { radius = 1, rings = 3 }, file = \"a.obj\" }";
    refused(mesh(both), Some(3), Some("cloth.sheet.mesh"), &["has disc and file, must have only one of"]);
    refused(mesh("{}"), Some(3), Some("cloth.sheet.mesh"), &["is empty, must have grid, ell, disc"]);
    refused("[[cloth]]\nname = \"sheet\"\n", Some(1), Some("cloth.sheet.mesh"), &["is missing", "grid"]);
    refused(
        mesh("{ grid = { cells = [4, 4] } }"),
        Some(3),
        Some("cloth.sheet.mesh.grid.size"),
        &["is missing"],
    );
}

#[test]
fn out_of_range_numbers() {
    for (lines, key, allowed) in [
        ("[solver]\nrelaxation = 2.5", "solver.relaxation", "from 0.1 to 1.95"),
        ("[solver]\niterations = 0", "solver.iterations", "from 1 to 1000000"),
        ("[solver]\niterations = 99999999999999999999", "solver.iterations", "from 1 to 1000000"),
        ("[solver]\npasses = 4", "solver.passes", "unless scheme is \"cycle\" or \"paper\""),
        ("[solver]\nlevels = 4", "solver.levels", "unless scheme is \"cycle\" or \"paper\""),
        ("[solver]\nlevel_iterations = 4", "solver.level_iterations", "unless scheme is \"paper\""),
        ("[solver]\ndetect_every = 4", "solver.detect_every", "64, its default, with scheme \"nearest\""),
        ("[air]\ngust = 1.5", "air.gust", "from 0 to 1"),
        ("[air]\ndensity = -1", "air.density", "from 0 to 1000"),
        ("[expect]\nmax_residual = -1", "expect.max_residual", "from 0 to"),
    ] {
        refused(format!("{lines}\n{GOOD}"), Some(2), Some(key), &[allowed]);
    }
}

#[test]
fn the_edge_model_and_what_it_does_not_know() {
    let model = |lines: &str| cloth(&format!("model = \"edge\"\n{lines}"));
    refused(cloth("levels = 3"), Some(7), Some("cloth.sheet.levels"), &["for model = \"edge\" only"]);
    refused(cloth("iterations = 3"), Some(7), Some("cloth.sheet.iterations"), &["for model = \"edge\" only"]);
    refused(cloth("model = \"edges\""), Some(7), Some("cloth.sheet.model"), &["edge"]);
    refused(model("levels = 9"), Some(8), Some("cloth.sheet.levels"), &["from 1 to 5"]);
    refused(model("strain = { max = 0.1 }"), Some(8), Some("cloth.sheet.strain"), &["edge = {"]);
    let heavy = "[[obstacle]]\nshape = { sphere = { center = [0, 0, 0], radius = 0.1 } }\nmass = 1.0\n";
    let beside = format!("{}\n{heavy}", model(""));
    refused(beside, Some(7), Some("cloth.sheet.model"), &["must be \"fem\"", "obstacles with a mass"]);
}

#[test]
fn frames_not_positive() {
    for frames in ["0", "-3", "1_000_001"] {
        let words = ["must be an integer from 1 to 1000000"];
        refused(GOOD.replace("= 3", &format!("= {frames}")), Some(2), Some("scene.frames"), &words);
    }
}

#[test]
fn non_finite_numbers() {
    for number in ["nan", "inf", "-inf", "+nan", "1e400"] {
        let text = cloth(&format!("velocity = [0, {number}, 0]"));
        refused(text, Some(7), Some("cloth.sheet.velocity[1]"), &["must be a number from -1000 to 1000"]);
    }
}

#[test]
fn limits_out_of_order_or_range() {
    let text = cloth("strain = { min = 0.1, max = 0.05 }");
    refused(
        &text,
        Some(7),
        Some("cloth.sheet.strain.min"),
        &["is 0.1, must not be above max, which is 0.05"],
    );
    refused(&text, Some(7), Some("cloth.sheet.strain.min"), &["from -1 to 0"]);
    refused(cloth("edge.min = -1.5"), Some(7), Some("cloth.sheet.edge.min"), &["is -1.5", "from -1 to 0"]);
    refused(
        cloth("strain.max = -0.1"),
        Some(7),
        Some("cloth.sheet.strain.max"),
        &["is -0.1", "from 0 to 1000"],
    );
    refused(cloth("bend.min = 1"), Some(7), Some("cloth.sheet.bend.min"), &["is 1", "from -1000000 to 0"]);
    refused(cloth("bend = { max = -2 }"), Some(7), Some("cloth.sheet.bend.max"), &["is -2", "from 0 to"]);
    refused(cloth("bend = 60"), Some(7), Some("cloth.sheet.bend"), &["a table with"]);
}

#[test]
fn zero_or_negative_density_and_size() {
    for density in ["0", "-0.1"] {
        let text = cloth(&format!("material = {{ base = \"denim\", density = {density} }}"));
        refused(text, Some(7), Some("cloth.sheet.material.density"), &["from 1e-6 to 1000000"]);
        let text = mesh(&format!("{{ grid = {{ size = [1, {density}], cells = [1, 1] }} }}"));
        refused(text, Some(3), Some("cloth.sheet.mesh.grid.size[1]"), &["from 0.0001 to 100000"]);
        let text = format!("{GOOD}[[obstacle]]\nshape.sphere.radius = {density}\n");
        refused(text, Some(8), Some("obstacle[0].shape.sphere.radius"), &["from 1e-6 to 1000000"]);
        let text = cloth(&format!("transform.scale = {density}"));
        refused(text, Some(7), Some("cloth.sheet.transform.scale"), &["from 1e-6 to 1000000"]);
    }
}

#[test]
fn empty_and_absurd_meshes() {
    refused(
        mesh("{ grid = { size = [1, 1], cells = [0, 4] } }"),
        Some(3),
        Some("cloth.sheet.mesh.grid.cells[0]"),
        &["is 0"],
    );
    let text = mesh("{ grid = { size = [1, 1], cells = [1000000, 1000000] } }");
    refused(text, Some(3), Some("cloth.sheet.mesh.grid"), &["16000000 are allowed"]);
    let text = mesh("{ torus = { major = 1, minor = 2, segments = [8, 8] } }");
    refused(text, Some(3), Some("cloth.sheet.mesh.torus.minor"), &["less than major"]);
    let text = mesh("{ grid = { size = [1, 1], cells = [2, 2] } }\ntransform.scale = 1e-6");
    refused(text, Some(3), Some("cloth.sheet.mesh.grid"), &["face 0"]);
    let text = mesh(
        "{ grid = { size = [100, 100], cells = [2, 2] } }\ntransform = { scale = 1e4, translate = [9e5, 0, 0] }",
    );
    refused(text, Some(4), Some("cloth.sheet.transform"), &["within ±1000000 m"]);
}

#[test]
fn missing_mesh_file() {
    let folder = Folder::new();
    let words = ["file not found", "shirt.obj"];
    refused_in(&folder, mesh("{ file = \"shirt.obj\" }"), Some(3), Some("cloth.sheet.mesh.file"), &words);
}

#[test]
fn unknown_material() {
    let words = ["the string \"denin\" is unknown; did you mean \"denim\"?", "\"polyester\"", "\"latex\""];
    refused(cloth("material = \"denin\""), Some(7), Some("cloth.sheet.material"), &words);
    refused(cloth("material.base = \"denin\""), Some(7), Some("cloth.sheet.material.base"), &words);
    let text = cloth("material = { density = 0.1 }");
    refused(text, Some(7), Some("cloth.sheet.material.stretch"), &["is missing", "base"]);
}

#[test]
fn bad_names() {
    refused(GOOD.replace("sheet", "a/b"), Some(5), Some("cloth[0].name"), &["letters", "digits"]);
    let text = format!("{GOOD}[[cloth]]\nname = \"Sheet\"\nmesh.disc = {{ radius = 1, rings = 2 }}\n");
    refused(text, Some(8), Some("cloth[1].name"), &["is also the name of cloth[0]"]);
}

#[test]
fn keyframes_out_of_order() {
    let text = cloth("pin = [{ select = \"all\", motion = [\n{ time = 1 },\n{ time = 1.0 }] }]");
    refused(
        text,
        Some(9),
        Some("cloth.sheet.pin[0].motion[1].time"),
        &["later than the previous keyframe, at 1"],
    );
    let text = format!(
        "[air]\nwind = [{{ time = 1, velocity = [0,0,0] }}, {{ time = 0, velocity = [0,0,0] }}]\n{GOOD}"
    );
    refused(text, Some(2), Some("air.wind[1].time"), &["is 0, must be later"]);
}

#[test]
fn pins_that_end_before_they_begin() {
    let pin = |times: &str| cloth(&format!("pin = [{{ select = \"all\", {times} }}]"));
    let until = Some("cloth.sheet.pin[0].until");
    refused(pin("from = 0.5, until = 0.5"), Some(7), until, &["later than from, which is 0.5"]);
    refused(pin("until = 0"), Some(7), until, &["later than from, which is 0"]);
    refused(pin("from = -1"), Some(7), Some("cloth.sheet.pin[0].from"), &["-1", "0"]);
    refused(pin("from = \"now\""), Some(7), Some("cloth.sheet.pin[0].from"), &["number"]);
}

#[test]
fn shapes_without_a_direction() {
    let obstacle = |shape: &str| format!("{GOOD}[[obstacle]]\nname = \"rod\"\nshape = {shape}\n");
    let text = obstacle("{ plane = { normal = [0, 0, 0] } }");
    refused(text, Some(9), Some("obstacle.rod.shape.plane.normal"), &["zero length"]);
    let text = obstacle("{ capsule = { from = [1, 0, 0], to = [1, 0, 0], radius = 1 } }");
    refused(text, Some(9), Some("obstacle.rod.shape.capsule.to"), &["same point"]);
    let text = obstacle("{ torus = { major = 1, minor = 1 } }");
    refused(text, Some(9), Some("obstacle.rod.shape.torus.minor"), &["less than major"]);
    let text = obstacle("{ sphere = { radius = 1 } }\ntransform.scale = [1, 2, 1]");
    refused(text, Some(10), Some("obstacle.rod.transform.scale"), &["one number"]);
}

#[test]
fn pin_selections_that_match_nothing() {
    for (select, words) in [
        ("corner:top-lfet", "did you mean \"top-left\"?"),
        ("corner", "requires a corner's name"),
        ("group:waist", "corner:bottom-left"),
        ("index:25", "the mesh has 25, from 0 to 24"),
        ("box:5,5,5,6,6,6", "at rest the mesh spans (0, 0, 0) to (1, 0, 1)"),
        ("map:missing.txt", "cannot read the map"),
        ("edges", "allowed: corner:NAME"),
    ] {
        let text = cloth(&format!("pin = [{{ select = \"{select}\" }}]"));
        refused(text, Some(7), Some("cloth.sheet.pin[0].select"), &[words]);
    }
    let sphere = "[[cloth]]\nmesh = { sphere = { radius = 1, frequency = 2 } }\n";
    let select = |select: &str| format!("{sphere}pin = [{{ select = \"{select}\" }}]\n");
    refused(
        select("corner:top-left"),
        Some(3),
        Some("cloth.cloth.pin[0].select"),
        &["neither corners nor groups"],
    );
    refused(select("boundary"), Some(3), Some("cloth.cloth.pin[0].select"), &["closed"]);
}

/// Two sheets of 25 vertices, and a seam with these lines; the first of them is line 7.
fn seam(lines: &str) -> String {
    let sheet = |name: &str| {
        format!("[[cloth]]\nname = \"{name}\"\nmesh = {{ grid = {{ size = [1, 1], cells = [4, 4] }} }}\n")
    };
    format!("{}{}[[seam]]\n{lines}\n", sheet("front"), sheet("back"))
}

#[test]
fn seams_that_cannot_be_sewn() {
    for (lines, line, key, words) in [
        ("cloths = [\"front\", \"bakc\"]\npairs = [[0, 0]]", 8, "cloths", "did you mean \"back\"?"),
        ("cloth = \"side\"\npairs = [[0, 1]]", 8, "cloth", "known: front, back"),
        ("cloth = \"front\"\npairs = [[0, 24], [7, 7]]", 9, "pairs", "pair 1 sews vertex 7 to itself"),
        ("cloth = \"front\"\npairs = [[0, 1]]", 9, "pairs", "of the same face"),
        ("cloths = [\"front\", \"back\"]\npairs = [[0, 25]]", 9, "pairs", "vertex 25 of cloth \"back\""),
        (
            "cloths = [\"front\", \"back\"]\nfrom = \"index:0-4\"\nto = \"index:5-7\"",
            10,
            "to",
            "selects 3 vertices, must select the same number as `from`, 5",
        ),
        ("cloth = \"front\"\nfrom = \"index:0\"\nto = \"index:25\"", 10, "to", "the mesh has 25"),
        ("cloth = \"front\"\nwithin = 0.1", 9, "within", "no two boundary vertices"),
    ] {
        refused(seam(lines), Some(line), Some(&format!("seam.seam.{key}")), &[words]);
    }
    for (lines, line, key, words) in [
        ("pairs = [[0, 0]]", 7, "cloths", "it or cloth is required"),
        (
            "cloth = \"front\"\ncloths = [\"front\", \"back\"]\nwithin = 1",
            8,
            "cloth",
            "cannot be combined with cloths",
        ),
        ("cloth = \"front\"", 7, "pairs", "it or from or within is required"),
        ("cloth = \"front\"\nwithin = 1\npairs = [[0, 9]]", 9, "within", "cannot be combined with pairs"),
        ("cloth = \"front\"\nfrom = \"all\"", 9, "to", "from requires it"),
        ("cloth = \"front\"\nfrom = \"al\"\nto = \"all\"", 9, "from", "allowed: corner:NAME"),
        ("cloth = \"front\"\npairs = [[0, 9]]\nspeed = 0", 10, "speed", "0.0001"),
        ("cloth = \"front\"\npairs = [[0, 9, 3]]", 9, "pairs[0]", "2"),
        ("cloth = \"front\"\npairs = []", 9, "pairs", "1"),
    ] {
        refused(seam(lines), Some(line), Some(&format!("seam[0].{key}")), &[words]);
    }
    // Half a cell apart, each vertex lies between two.
    let wide = "[[cloth]]\nname = \"front\"\nmesh = { grid = { size = [1, 1], cells = [4, 4] } }\n[[cloth]]\nname = \"back\"\nmesh = { grid = { size = [1, 1], cells = [4, 4] } }\ntransform.translate = [0.125, 0, 0]\n[[seam]]\ncloths = [\"front\", \"back\"]\nwithin = 0.2\n";
    refused(wide, Some(10), Some("seam.seam.within"), &["is ambiguous", "are equally near"]);
}

#[test]
fn maps_that_do_not_fit() {
    let folder = Folder::new();
    let text = cloth("pin = [{ select = \"map:map.txt\" }]");
    for (map, words) in [
        ("1\n".repeat(24), "has 24 numbers, the mesh has 25 vertices"),
        ("0\n".repeat(25), "no number of the map map.txt is above 0.5"),
        ("0\nx\n".into(), "line 2"),
        ("nan\n".into(), "line 1"),
    ] {
        folder.write("map.txt", map);
        refused_in(&folder, &text, Some(7), Some("cloth.sheet.pin[0].select"), &[words]);
    }
}

#[test]
fn several_problems_come_at_once_in_the_order_of_the_file() {
    let text = "[scene]\nframes = 0\ngravty = [0, 0, 0]\n\n[solver]\nscheme = \"swep\"\n\n[[cloth]]\nname = \"a\"\n\
                mesh = { grid = { size = [1, -1], cells = [4, 4] } }\nstrain = { min = 0.5, max = 0.1 }\n\
                pin = [{ select = \"cornr:x\" }]\n[[cloth]]\nname = \"a\"\n";
    let problems = Folder::new().load(text).unwrap_err();
    let found: Vec<_> =
        problems.0.iter().map(|problem| (problem.line.unwrap(), problem.key.clone().unwrap())).collect();
    let wanted = [
        (2, "scene.frames"),
        (3, "scene.gravty"),
        (6, "solver.scheme"),
        (10, "cloth.a.mesh.grid.size[1]"),
        (11, "cloth.a.strain.min"),
        (11, "cloth.a.strain.min"),
        (12, "cloth.a.pin[0].select"),
        (13, "cloth.a.mesh"),
        (14, "cloth[1].name"),
    ];
    assert_eq!(found, wanted.map(|(line, key)| (line, key.to_owned())), "{problems}");
}

#[test]
fn several_syntax_errors_come_at_once() {
    let problems = Folder::new().load("[scene]\nframes = \nseed = 08\n").unwrap_err();
    let lines: Vec<_> = problems.0.iter().filter_map(|problem| problem.line).collect();
    assert_eq!(lines, [2, 3], "{problems}");
}

#[test]
fn problems_of_several_bodies_come_at_once_when_built() {
    let text = format!("{GOOD}pin = [{{ select = \"index:99\" }}]\n[[cloth]]\nmesh.file = \"none.obj\"\n");
    let problems = Folder::new().load(text).unwrap().build().unwrap_err();
    let keys: Vec<_> = problems.0.iter().filter_map(|problem| problem.key.as_deref()).collect();
    assert_eq!(keys, ["cloth.sheet.pin[0].select", "cloth.cloth-2.mesh.file"], "{problems}");
}

#[test]
fn what_developable_cloth_does_not_support() {
    let says = |lines: &str, line: usize, key: &str, words: &[&str]| {
        refused(cloth(&format!("model = \"developable\"\n{lines}")), Some(line), Some(key), words);
    };
    let strain = ["cannot hold", "0.0001", "feasible"];
    says("strain = { max = 0 }", 8, "cloth.sheet.strain.max", &strain);
    says("strain = { min = -0.00001 }", 8, "cloth.sheet.strain.min", &strain);
    says("bend = { max = 5 }", 8, "cloth.sheet.bend", &["hinges", "does not have"]);
    says("edge = { max = 0.1 }", 8, "cloth.sheet.edge", &["use strain"]);
    says("tear = { stretch = 0.1 }", 8, "cloth.sheet.tear", &["does not tear"]);
    says("jump = 0", 8, "cloth.sheet.jump", &["0.02"]);
    says("[solver]\nscheme = \"sweep\"", 7, "cloth.sheet.model", &["nearest", "sweep"]);
    says("[solver]\nintegrator = \"leap-frog\"", 7, "cloth.sheet.model", &["bdf2"]);
    refused(cloth("jump = 0.1"), Some(7), Some("cloth.sheet.jump"), &["developable"]);
}

#[test]
fn absurdly_deep_scenes_are_refused() {
    let deep = 100_000;
    for text in [
        format!("a = {}{}", "[".repeat(deep), "]".repeat(deep)),
        format!("a = {}1{}", "{a = ".repeat(deep), "}".repeat(deep)),
        format!("a{} = 1", ".a".repeat(deep)),
        format!("[a{}]\nb = 1", ".a".repeat(deep)),
        format!("a = {}1{}", format!("{{ a{} = ", ".a".repeat(78)).repeat(78), "}".repeat(78)),
    ] {
        assert!(Folder::new().load(text).is_err());
    }
}

#[test]
fn a_large_file_of_garbage_is_refused_quickly() {
    let started = std::time::Instant::now();
    let keys: String = (0..300_000).map(|number| format!("frames{number} = 1\n")).collect();
    for text in [
        format!("[scene]\n{keys}"),
        "[[cloth]]\n".repeat(300_000),
        format!("cloth = [{}]", "1,".repeat(1_000_000)),
    ] {
        let problems = Folder::new().load(text).unwrap_err();
        assert!(problems.0.len() <= 201);
        assert!(
            problems.0.last().unwrap().message.contains("problems; the rest are not shown")
                || problems.0.len() < 200
        );
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}

/// Builds a scene whose mesh is the OBJ file `obj`; what is wrong must name that file and have these words.
#[track_caller]
fn mesh_refused(obj: &str, words: &[&str]) {
    let folder = Folder::new();
    let file = folder.write("mesh.obj", obj);
    let problems = folder.load(mesh("{ file = \"mesh.obj\" }")).unwrap().build().unwrap_err();
    let fits = |problem: &taut_io::Problem| {
        problem.file.as_ref() == Some(&file) && words.iter().all(|word| problem.to_string().contains(word))
    };
    assert!(problems.0.iter().any(fits), "wanted {words:?} among:\n{problems}");
}

const CORNERS: &str = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\n";

#[test]
fn mesh_files_that_cannot_be_simulated() {
    mesh_refused("", &["empty", "cloth \"sheet\""]);
    mesh_refused(CORNERS, &["at least one triangle"]);
    mesh_refused(&format!("{CORNERS}f 1 2 9\n"), &["9"]);
    mesh_refused("v 0 0 nan\nv 1 0 0\nv 1 0 1\nf 1 2 3\n", &["finite"]);
    mesh_refused(
        &format!("{CORNERS}v 2 0 0\nf 1 3 2\nf 1 4 3\nf 1 2 5\n"),
        &["face 2", "degenerate", "cloth \"sheet\""],
    );
    mesh_refused(&format!("{CORNERS}f 1 3 2\nf 1 4 3\nf 3 2 1\n"), &["both join vertices 0, 1 and 2"]);
    mesh_refused(&format!("{CORNERS}v 0 1 0\nf 1 3 2\nf 1 4 3\nf 1 3 5\n"), &["belongs to 3 faces"]);
    mesh_refused(&format!("{CORNERS}f 1 3 2\nf 1 3 4\n"), &["in the same direction"]);
    mesh_refused(&format!("{CORNERS}v 5 5 5\nf 1 3 2\nf 1 4 3\n"), &["vertex 4", "belongs to no face"]);
}

#[test]
fn a_group_that_the_mesh_file_lacks() {
    let folder = Folder::new();
    folder.write("mesh.obj", format!("{CORNERS}g waist\nf 1 3 2\nf 1 4 3\n"));
    let text = mesh("{ file = \"mesh.obj\" }\npin = [{ select = \"group:wasit\" }]");
    refused_in(
        &folder,
        text,
        Some(4),
        Some("cloth.sheet.pin[0].select"),
        &["did you mean \"waist\"?", "group:waist"],
    );
}

#[test]
fn a_mesh_that_touches_itself_in_one_vertex_is_a_warning() {
    let folder = Folder::new();
    folder.write("mesh.obj", format!("{CORNERS}v 2 0 2\nf 1 3 2\nf 3 5 4\n"));
    let scene = folder.load(mesh("{ file = \"mesh.obj\" }")).unwrap();
    assert!(scene.build().is_ok());
    let warnings = scene.warnings();
    assert!(warnings.len() == 1 && warnings[0].message.contains("hinge"), "{warnings:?}");
}

#[test]
fn limits_along_warp_weft_and_bias() {
    let three = "warp = { max = 0.01 }, weft = { max = 0.03 }, bias = { max = 0.15 }";
    let key = |key: &str| format!("cloth.sheet.strain{key}");
    for (limits, wrong, words) in [
        (format!("max = 0.1, {three}, direction = \"u\""), ".max", &["isotropic limits", "warp"][..]),
        (three.into(), ".direction", &["missing", "\"u\""]),
        (
            "warp = { max = 0.1 }, bias = { max = 0.1 }, direction = \"u\"".into(),
            ".weft",
            &["missing", "warp"],
        ),
        (format!("{three}, direction = [0, 0, 0]"), ".direction", &["zero length"]),
        (format!("{three}, direction = \"w\""), ".direction", &["\"w\""]),
        (format!("{three}, direction = [0, 1, 0]"), ".direction", &["face 0", "normal"]),
        (
            "warp = { max = 0.01 }, weft = { max = 0.03 }, bias = {}, direction = \"v\"".into(),
            ".bias.max",
            &["missing", "warp has one"],
        ),
        (three.replace("0.03", "-0.03") + ", direction = \"u\"", ".weft.max", &["from 0 to 1000"]),
    ] {
        refused(cloth(&format!("strain = {{ {limits} }}")), Some(7), Some(&key(wrong)), words);
    }
}

#[test]
fn shifts_of_panels_are_vectors_and_name_panels_that_there_are() {
    let pattern = |shift: &str| {
        let mesh = format!("{{ pattern = {{ built_in = \"dress\", shift = {{ {shift} }} }} }}");
        format!("[[cloth]]\nname = \"it\"\nmesh = {mesh}\n")
    };
    let key = "cloth.it.mesh.pattern.shift.front";
    for by in ["[0, 1000, 0]", "[nan, 0, 0]", "[0, 0]"] {
        refused(pattern(&format!("front = {by}")), Some(3), Some(key), &["from −10 to 10"]);
    }
    refused(
        pattern("frnt = [0, 1, 0]"),
        Some(3),
        Some("cloth.it.mesh.pattern"),
        &["frnt", "which the pattern does not have"],
    );
}

#[test]
fn only_meshes_grow_and_for_some_time() {
    let grows = |shape: &str, grow: &str| {
        format!("{}[[obstacle]]\nname = \"body\"\n{shape}\ngrow = {{ {grow} }}\n", cloth(""))
    };
    let ball = "mesh = { sphere = { radius = 0.2, frequency = 4 } }";
    let key = |key: &str| format!("obstacle.body.grow{key}");
    let shape = "shape = { sphere = { center = [0, 0, 0], radius = 0.2 } }";
    for (shape, grow, wrong, words) in [
        (ball, "start = 1.0, end = 1.0", ".end", &["later than `start`"][..]),
        (ball, "start = 0.0, end = 1.0, thinner = 1.5", ".thinner", &["0 to 0.9"]),
        (ball, "start = nan, end = 1.0", ".start", &["from 0"]),
        (ball, "end = 1.0", ".start", &["missing"]),
        (shape, "start = 0.0, end = 1.0", "", &["requires a mesh"]),
    ] {
        refused(grows(shape, grow), Some(11), Some(&key(wrong)), words);
    }
}

#[test]
fn pressure() {
    let says = |value: &str, key: &str, words: &[&str]| {
        let ball = "mesh = { sphere = { radius = 0.1, frequency = 3 } }";
        let text = format!("[[cloth]]\nname = \"ball\"\n{ball}\npressure = {value}\n");
        refused(text, Some(4), Some(key), words);
    };
    says("{}", "cloth.ball.pressure.over", &["is missing", "pascal or gas"]);
    says("{ over = 1.2, gas = 3 }", "cloth.ball.pressure.gas", &["cannot be combined with over"]);
    says("{ over = -1.0 }", "cloth.ball.pressure.over", &["-1"]);
    says("{ pascal = nan }", "cloth.ball.pressure.pascal", &["nan"]);
    says("{ pascal = 1.0, volume = -2.0 }", "cloth.ball.pressure.volume", &["-2"]);
    says("{ pascal = 1.0, with = [\"nobody\"] }", "cloth.ball.pressure", &["no such cloth"]);
    let keys = "{ gas = [{ time = 1, value = 1 }, { time = 1, value = 2 }] }";
    says(keys, "cloth.ball.pressure.gas[1].time", &["later than the previous keyframe"]);
    let open = cloth("pressure = { pascal = 10.0 }");
    refused(open, Some(7), Some("cloth.sheet.pressure"), &["1 border: one of 16 edges at vertex"]);
    let sweep = "[[cloth]]\nname = \"ball\"\nmesh = { sphere = { radius = 0.1, frequency = 3 } }\npressure = { over = 1.1 }\n[solver]\nscheme = \"sweep\"\n";
    refused(sweep, Some(4), Some("cloth.ball.pressure"), &["scheme nearest"]);
}

#[test]
fn tears() {
    let folder = Folder::new();
    folder.write("short.txt", "1\n2\n");
    let with = |last: &str| format!("{}{last}\n", "1\n".repeat(24));
    folder.write("nan.txt", with("nan"));
    folder.write("zero.txt", with("0"));
    folder.write("good.txt", with("0.5"));
    let pairs: &[(&str, &str, &[&str])] = &[
        ("0.2", "", &["must be a table with by, factor, random, stretch, weak"]),
        ("{ }", ".stretch", &["is missing", "from 1e-6 to 1000"]),
        ("{ stretch = 0 }", ".stretch", &["is 0", "from 1e-6 to 1000"]),
        ("{ stretch = -0.2 }", ".stretch", &["is -0.2", "from 1e-6 to 1000"]),
        ("{ stretch = nan }", ".stretch", &["is nan", "from 1e-6 to 1000"]),
        ("{ stretch = inf }", ".stretch", &["is inf", "from 1e-6 to 1000"]),
        ("{ stretch = \"much\" }", ".stretch", &["is the string", "a number"]),
        ("{ stretch = 0.1, strech = 0.1 }", ".strech", &["unknown key", "did you mean \"stretch\"?"]),
        ("{ stretch = 0.1, by = \"faces\" }", ".by", &["\"triangles\" or \"edges\""]),
        ("{ stretch = 0.1, random = 1.5 }", ".random", &["is 1.5", "from 0 to 0.99"]),
        ("{ stretch = 0.1, random = -0.1 }", ".random", &["is -0.1", "from 0 to 0.99"]),
        ("{ stretch = 0.1, factor = 2 }", ".factor", &["is 2", "string"]),
        ("{ stretch = 0.1, factor = \"group:a\" }", ".factor", &["not a map", "map:FILE"]),
        ("{ stretch = 0.1, factor = \"map:none.txt\" }", ".factor", &["none.txt"]),
        ("{ stretch = 0.1, factor = \"map:short.txt\" }", ".factor", &["2 numbers", "25 vertices"]),
        ("{ stretch = 0.1, factor = \"map:nan.txt\" }", ".factor", &["line 25", "not a finite number"]),
        ("{ stretch = 0.1, factor = \"map:zero.txt\" }", ".factor", &["number 24 is 0", "between 1e-6"]),
        ("{ stretch = 0.1, weak = [{ factor = 1 }] }", ".weak[0].select", &["is missing"]),
        ("{ stretch = 0.1, weak = [{ select = \"all\" }] }", ".weak[0].factor", &["is missing", "1e-6"]),
        (
            "{ stretch = 0.1, weak = [{ select = \"all\", factor = 0 }] }",
            ".weak[0].factor",
            &["is 0", "1e-6"],
        ),
        ("{ stretch = 0.1, weak = [{ select = \"all\", factor = nan }] }", ".weak[0].factor", &["is nan"]),
        (
            "{ stretch = 0.1, weak = [{ select = \"seam\", factor = 1 }] }",
            ".weak[0].select",
            &["not a valid selection"],
        ),
        (
            "{ stretch = 0.1, weak = [{ select = \"group:seam\", factor = 1 }] }",
            ".weak[0].select",
            &["no group \"seam\""],
        ),
        (
            "{ stretch = 0.1, weak = [{ select = \"box:5,5,5,6,6,6\", factor = 1 }] }",
            ".weak[0].select",
            &["matches no vertex"],
        ),
        (
            "{ stretch = 0.1, weak = [{ select = \"index:3\", factor = 1e-4 }, { select = \"all\", factor = 1e-4 }] }",
            ".weak",
            &["vertex 3 multiply to 1e-8", "between 1e-6 and 1000000"],
        ),
    ];
    for (tear, key, words) in pairs {
        let text = format!("{GOOD}tear = {tear}\n");
        refused_in(&folder, text, Some(7), Some(&format!("cloth.sheet.tear{key}")), words);
    }
    // Every kind of cloth, and every scheme, tears.
    for (lines, more) in [
        ("tear = { stretch = 0.1, factor = \"map:good.txt\", random = 0.2, by = \"edges\" }", ""),
        ("model = \"edge\"\nedge = { max = 0.1 }\ntear = { stretch = 0.1 }", ""),
        ("tear = { stretch = 0.1 }", "\n[solver]\nscheme = \"sweep\"\n"),
        ("tear = { stretch = 0.1 }", "\n[solver]\nscheme = \"paper\"\n"),
    ] {
        let scene = folder.load(format!("{GOOD}{lines}\n{more}")).unwrap();
        assert!(scene.build().unwrap().bodies[0].as_cloth().unwrap().tear.is_some());
    }
}
