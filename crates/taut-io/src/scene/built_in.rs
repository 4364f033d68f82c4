//! Scenes that come with taut: the files of `scenes/`, each an example, a regression test and a benchmark.

/// A scene that comes with taut.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name, as in `taut run NAME`.
    pub name: &'static str,
    /// Its TOML text.
    pub text: &'static str,
}

macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        &[$(BuiltIn { name: $name, text: include_str!(concat!("../../../../scenes/", $name, ".toml")) }),*]
    };
}

/// All built-in scenes.
pub fn built_in() -> &'static [BuiltIn] {
    scenes![
        "hanging-sheet",
        "sheet-on-sphere",
        "flag",
        "swinging-sheet",
        "star",
        "tang-sheet",
        "tang-star",
        "noisy-sheet",
        "bend-loose",
        "bend-tight",
        "duck",
        "weave",
        "folding",
        "tangled-start",
        "stack",
        "curtains",
        "pushed-curtains",
        "sponza-like",
        "cape",
        "shirt",
        "twist",
        "trampoline",
        "wrecking-ball",
        "net",
        "rope-bridge",
        "pbd-four-cloths",
        "strip",
        "punch",
        "torn-flag",
        "straight-hair",
        "curly-hair",
        "ponytail",
        "fur-ball",
        "wet-hair",
        "rope-of-hair",
        "bar",
        "twisted-bar",
        "squeeze",
        "tori",
        "dragon-roller",
        "dragon-roller-shell",
        "dragon-roller-bends",
        "bunny",
        "bunny-b",
        "bunny-c",
        "bunny-d",
        "dress",
        "layers",
        "scarf",
        "pillow",
        "balloons",
        "mylar-balloon",
        "air-bag"
    ]
}
