//! Names of bodies: those given, and those made up where none is given.

use super::tree::Node;

/// The name of each of `items`: its own, or `kind`, `kind-2`, … by its place, further on where that is taken.
pub(crate) fn effective(kind: &str, items: &[Node]) -> Vec<String> {
    let given: Vec<Option<&str>> = items.iter().map(|item| item.get("name").and_then(Node::text)).collect();
    complete(kind, &given)
}

/// [`effective`] for names already taken out.
pub(crate) fn complete(kind: &str, given: &[Option<&str>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(given.len());
    for (index, name) in given.iter().enumerate() {
        let name = name.map(str::to_owned).unwrap_or_else(|| {
            let candidate = |number: usize| if number == 1 { kind.into() } else { format!("{kind}-{number}") };
            let taken = |name: &String| {
                let same = |other: &str| other.eq_ignore_ascii_case(name);
                given.iter().flatten().any(|other| same(other)) || names.iter().any(|other| same(other))
            };
            let mut number = index + 1;
            while taken(&candidate(number)) {
                number += 1;
            }
            candidate(number)
        });
        names.push(name);
    }
    names
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
