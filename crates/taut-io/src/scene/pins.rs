//! Pins of bodies: which vertices they hold, and how.

use std::path::PathBuf;

use glam::{DVec3, Vec3};

use super::{
    build::{Builder, Place, motion, vector},
    format::{Obstacle, Pin},
    map,
    nearest::hint,
    select::Selection,
    tree::show,
};

/// Largest factor on a stiffness.
const MAX_WEIGHT: f64 = 1e6;

/// The file of a `weight`.
///
/// # Errors
/// What is wrong, and what is allowed.
pub(super) fn weight_map(text: &str) -> Result<String, String> {
    match Selection::parse(text) {
        Ok(Selection::Map(file)) => Ok(file),
        _ => {
            let shown: String = text.chars().take(40).collect();
            Err(format!("{shown:?} is not a map; allowed: map:FILE, one number per vertex"))
        }
    }
}

impl Builder<'_> {
    /// The pins of a body with the initial positions `start`; `vertices` resolves a selection and the files
    /// that it names.
    pub fn pins(
        &mut self,
        place: Place<'_>,
        given: &[Pin],
        start: &[Vec3],
        vertices: impl Fn(&Selection, &dyn Fn(&str) -> PathBuf) -> Result<Vec<u32>, String>,
    ) -> Vec<taut::Pin> {
        let mut holders: Vec<Vec<usize>> = vec![Vec::new(); start.len()];
        let mut pins = Vec::new();
        for (number, pin) in given.iter().enumerate() {
            let item = format!("pin[{number}]");
            let resolve = |file: &str| -> PathBuf { self.scene.resolve(file) };
            let selected = Selection::parse(&pin.select).and_then(|select| vertices(&select, &resolve));
            let attach = pin.attach.as_deref().map(|name| self.attached(name)).transpose();
            let weights = pin.weight.as_deref().map(|map| self.weights(map, start.len())).transpose();
            let wrong = [
                ("select", selected.as_ref().err().cloned()),
                ("attach", attach.as_ref().err().cloned()),
                ("weight", weights.as_ref().err().cloned()),
            ];
            for (key, message) in wrong.into_iter().filter_map(|(key, message)| Some((key, message?))) {
                self.refuse::<()>(place, &[&item, key], message);
            }
            let (Ok(vertices), Ok(attach), Ok(weights)) = (selected, attach, weights) else { continue };
            let pivot = pin.pivot.map(vector).unwrap_or_else(|| {
                let sum: DVec3 = vertices.iter().map(|vertex| start[*vertex as usize].as_dvec3()).sum();
                sum / vertices.len() as f64
            });
            // A vertex can follow one pin at a time only: the first that selects it.
            let rival = |vertex: u32| {
                holders[vertex as usize].iter().copied().find(|first| overlap(&given[*first], pin))
            };
            let (free, held): (Vec<u32>, Vec<u32>) =
                vertices.into_iter().partition(|vertex| rival(*vertex).is_none());
            // The same whatever they select.
            let differs = |first: &usize| {
                Pin { select: pin.select.clone(), pivot: pin.pivot, ..given[*first].clone() } != *pin
            };
            if let Some((vertex, first)) =
                held.iter().find_map(|vertex| Some((vertex, rival(*vertex).filter(differs)?)))
            {
                let message = format!(
                    "vertex {vertex} is already pinned by pin[{first}], with a different motion or duration; it follows pin[{first}]"
                );
                let warning = self.at(place, &[&item, "select"], message);
                self.warnings.push(warning);
            }
            free.iter().for_each(|vertex| holders[*vertex as usize].push(number));
            if !free.is_empty() {
                let weights = weights.map(|all| free.iter().map(|&v| all[v as usize] as f32).collect());
                pins.push(taut::Pin {
                    vertices: free,
                    motion: motion(&pin.motion, pivot),
                    from: pin.from as f32,
                    until: pin.until.map(|until| until as f32),
                    attach,
                    shape: pin.shape.map(|shape| shape.build()).unwrap_or_default(),
                    stiffness: pin.stiffness.map(|stiffness| stiffness as f32),
                    weights: weights.unwrap_or_default(),
                    fade: [pin.fade_in as f32, pin.fade_out as f32],
                });
            }
        }
        pins
    }

    /// The numbers of the map of a `weight`, for `count` vertices.
    pub fn weights(&self, text: &str, count: usize) -> Result<Vec<f64>, String> {
        let name = weight_map(text)?;
        let numbers = map::read(&self.scene.resolve(&name))?;
        if numbers.len() != count {
            let (n, s) = (numbers.len(), if numbers.len() == 1 { "" } else { "s" });
            return Err(format!(
                "the map {name} has {n} number{s}, the mesh has {count} vertices; one number per vertex is required"
            ));
        }
        match numbers.iter().position(|number| !(0.0..=MAX_WEIGHT).contains(number)) {
            Some(vertex) => Err(format!(
                "the map {name}: number {vertex} is {}, must lie between 0 and {}",
                show(numbers[vertex]),
                show(MAX_WEIGHT)
            )),
            None => Ok(numbers),
        }
    }

    /// The index of the mesh obstacle `name` in the description.
    fn attached(&self, name: &str) -> Result<usize, String> {
        let obstacles = &self.scene.scene.obstacle;
        let is_mesh = |obstacle: &&Obstacle| obstacle.shape.is_none();
        let names = || obstacles.iter().filter(is_mesh).filter_map(|obstacle| obstacle.name.as_deref());
        if let Some(number) = names().position(|other| other == name) {
            return Ok(number);
        }
        if obstacles.iter().any(|obstacle| obstacle.name.as_deref() == Some(name)) {
            return Err(format!("\"{name}\" has a shape, must be an obstacle with a mesh or a sequence"));
        }
        let hint = hint(name, names());
        let known: Vec<&str> = names().collect();
        let known = if known.is_empty() { "none has a mesh".into() } else { known.join(", ") };
        Err(format!("no obstacle is named \"{name}\"{hint} must be one with a mesh: {known}"))
    }
}

/// Whether both pins are active at some time.
fn overlap(a: &Pin, b: &Pin) -> bool {
    let end = |pin: &Pin| pin.until.unwrap_or(f64::INFINITY);
    a.from < end(b) && b.from < end(a)
}
