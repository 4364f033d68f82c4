//! Names of prims: USD allows only letters, digits and underscores, unique among siblings.

use std::collections::HashSet;

use super::{layer::Fields, value::Value};

/// Generates unique identifiers.
#[derive(Debug, Default)]
pub struct Names {
    given: HashSet<String>,
}

impl Names {
    /// Reserves a name.
    pub fn reserve(mut self, name: &str) -> Self {
        self.given.insert(name.into());
        self
    }

    /// A unique identifier for `wanted`.
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

/// `wanted` with invalid characters replaced by underscores.
fn identifier(wanted: &str) -> String {
    let mut name: String = wanted.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

/// Metadata with the original name, if it differs.
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
