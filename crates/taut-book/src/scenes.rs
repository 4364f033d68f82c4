//! The page of built-in scenes, from their files: what each shows, how large it is, its picture and its text.

use std::path::Path;

use taut_io::scene::{self, BuiltIn};

use crate::figures;

/// One section a scene.
///
/// # Errors
/// If a scene cannot be read; its own tests would have said so before.
pub fn page(repository: &Path) -> Result<String, String> {
    scene::built_in().iter().map(|built_in| section(built_in, repository)).collect()
}

fn section(built_in: &BuiltIn, repository: &Path) -> Result<String, String> {
    let BuiltIn { name, text } = built_in;
    let loaded = scene::load(name, &[]).map_err(|problems| problems.to_string())?;
    let built = loaded.build().map_err(|problems| problems.to_string())?;
    let elements: Vec<String> = [("cloth", "triangles"), ("solid", "tetrahedra"), ("particles", "segments")]
        .into_iter()
        .filter_map(|(kind, elements)| {
            let of_kind = built.bodies.iter().filter(|body| body.kind() == kind);
            let count: usize = of_kind.map(|body| body.element_count()).sum();
            (count > 0).then(|| format!("{count} {elements}"))
        })
        .collect();
    let seconds = loaded.frames as f32 / loaded.frame_rate;
    let mut page = format!("## `{name}` {{#{name}}}\n\n{}\n\n", loaded.description());
    if let Some(picture) = figures::of_scene(name).filter(|picture| picture.path(repository).exists()) {
        page += &format!("![{}](images/{})\n*{}*\n\n", picture.shows, picture.file, picture.shows);
    }
    page += &format!("{}, {} frames ({seconds:.1} s).\n\n", elements.join(", "), loaded.frames);
    page += &format!("```toml\n{}\n```\n\n", text.trim_end());
    Ok(page)
}
