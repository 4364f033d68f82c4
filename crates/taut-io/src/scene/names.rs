//! Names of bodies: given or generated.

use std::collections::HashSet;

use super::tree::Node;

/// The name of each of `items`: its own, or `kind`, `kind-2`, … by its position, or the next free number.
pub(crate) fn effective(kind: &str, items: &[Node]) -> Vec<String> {
    let given: Vec<Option<&str>> = items.iter().map(|item| item.get("name").and_then(Node::text)).collect();
    complete(kind, &given)
}

/// [`effective`] for extracted names.
pub(crate) fn complete(kind: &str, given: &[Option<&str>]) -> Vec<String> {
    // Case-insensitive, because names become file names.
    let mut taken: HashSet<String> = given.iter().flatten().map(|name| name.to_lowercase()).collect();
    let name = |(index, name): (usize, &Option<&str>)| {
        name.map(str::to_owned).unwrap_or_else(|| {
            let candidate =
                |number: usize| if number == 1 { kind.into() } else { format!("{kind}-{number}") };
            let mut number = index + 1;
            while !taken.insert(candidate(number)) {
                number += 1;
            }
            candidate(number)
        })
    };
    given.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_names_are_new() {
        let names = complete("cloth", &[None, Some("cloth-3"), None, None]);
        assert_eq!(names, ["cloth", "cloth-3", "cloth-4", "cloth-5"]);
        assert_eq!(complete("cloth", &[None, Some("Cloth")]), ["cloth-2", "Cloth"]);
    }
}
