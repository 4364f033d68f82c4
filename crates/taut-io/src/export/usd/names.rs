//! Names of prims: USD takes letters, digits and underscores alone, and each name once among siblings.

use std::collections::HashSet;

use super::{layer::Fields, value::Value};

/// Gives out names that are identifiers and differ.
#[derive(Debug, Default)]
pub struct Names {
    given: HashSet<String>,
}

impl Names {
    /// Keeps a name from being given out.
    pub fn reserve(mut self, name: &str) -> Self {
        self.given.insert(name.into());
        self
    }

    /// A name for what is called `wanted`.
    pub fn give(&mut self, wanted: &str) -> String {
        let base = identifier(wanted);
        let mut name = base.clone();
        let mut count = 1;
        while !self.given.insert(name.clone()) {
            count += 1;
            name = format!("{base}_{count}");
        }
        name
    }
}

/// `wanted` with underscores in place of what an identifier may not have.
fn identifier(wanted: &str) -> String {
    let mut name: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// Metadata that shows the name that was wanted, where it is another one.
pub fn display_name(wanted: &str, name: &str) -> Fields {
    if wanted == name { Vec::new() } else { vec![("displayName", Value::Text(wanted.into()))] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_differ() {
        let mut names = Names::default().reserve("Obstacles");
        let given: Vec<_> = ["sheet", "my sheet", "my-sheet", "2nd", "Größe", "", "Obstacles", "my_sheet_2"]
            .map(|wanted| names.give(wanted))
            .into();
        assert_eq!(
            given,
            ["sheet", "my_sheet", "my_sheet_2", "_2nd", "Gr__e", "_", "Obstacles_2", "my_sheet_2_2"]
        );
    }
}
