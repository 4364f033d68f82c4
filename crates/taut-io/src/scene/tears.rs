//! Where cloth tears: thresholds by vertex, from maps, selections and a random field.

use std::path::PathBuf;

use taut::mesh::TriangleMesh;

use super::{
    build::{Builder, Place},
    format::Tear,
    map,
    noise::uniform,
    pins::weight_map,
    select::Selection,
    tree::show,
};

/// Smallest and largest factor on a threshold.
const FACTORS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

impl Builder<'_> {
    /// Where a cloth tears; problems are reported with their key.
    pub fn tear(&mut self, place: Place<'_>, given: &Tear, mesh: &TriangleMesh) -> taut::Tear {
        let count = mesh.positions.len();
        let mut factors = vec![1.0f64; count];
        if let Some(text) = &given.factor {
            match self.factors(text, count) {
                Ok(numbers) => factors = numbers,
                Err(message) => _ = self.refuse::<()>(place, &["tear", "factor"], message),
            }
        }
        for (number, weak) in given.weak.iter().enumerate() {
            let resolve = |file: &str| -> PathBuf { self.scene.resolve(file) };
            let selected = Selection::parse(&weak.select).and_then(|select| select.resolve(mesh, resolve));
            match selected {
                Ok(vertices) => vertices.iter().for_each(|&v| factors[v as usize] *= weak.factor),
                Err(message) => {
                    let item = format!("weak[{number}]");
                    self.refuse::<()>(place, &["tear", &item, "select"], message);
                }
            }
        }
        // Maps are checked as they are read; weak places multiply where they overlap.
        if let Some(vertex) = factors.iter().position(|factor| !FACTORS.contains(factor)) {
            let message = format!(
                "the factors of vertex {vertex} multiply to {}, must come to between {} and {}",
                show(factors[vertex]),
                show(*FACTORS.start()),
                show(*FACTORS.end())
            );
            self.refuse::<()>(place, &["tear", "weak"], message);
            factors.fill(1.0);
        }
        if given.random > 0.0 {
            let seed = self.scene.scene.scene.seed;
            for (factor, share) in factors.iter_mut().zip(uniform(seed, place.index)) {
                *factor *= 1.0 + given.random * (2.0 * share - 1.0);
            }
        }
        let is_even = factors.iter().all(|factor| *factor == 1.0);
        taut::Tear {
            stretch: given.stretch as f32,
            factors: if is_even { Vec::new() } else { factors.iter().map(|f| *f as f32).collect() },
            measure: given.by.build(),
        }
    }

    /// The numbers of the map `text`, for `count` vertices.
    fn factors(&self, text: &str, count: usize) -> Result<Vec<f64>, String> {
        let name = weight_map(text)?;
        let numbers = map::read(&self.scene.resolve(&name))?;
        if numbers.len() != count {
            let (n, s) = (numbers.len(), if numbers.len() == 1 { "" } else { "s" });
            return Err(format!(
                "the map {name} has {n} number{s}, the mesh has {count} vertices; one number per vertex is required"
            ));
        }
        match numbers.iter().position(|number| !FACTORS.contains(number)) {
            Some(vertex) => Err(format!(
                "the map {name}: number {vertex} is {}, must lie between {} and {}",
                show(numbers[vertex]),
                show(*FACTORS.start()),
                show(*FACTORS.end())
            )),
            None => Ok(numbers),
        }
    }
}
