//! The nearest known word to a mistyped one, for "did you mean".

/// The word of `known` nearest to `word`, or `None` if all are too far away.
///
/// Too far is more than a third of the letters, so that `frmaes` finds `frames` and `gravity` does not.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A word this long is not a typo, and the cost is quadratic in its length.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(d, candidate)| *d <= 1 + word.len().max(candidate.len()) / 4 && *d < candidate.len().max(2))
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate)
}

/// The text between "… is unknown" and the list of known words: `; did you mean "frames"?`, or `;` if no
/// known word is near.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, known).map_or_else(|| ";".into(), |near| format!("; did you mean \"{near}\"?"))
}

/// Damerau–Levenshtein distance: insertions, deletions, substitutions and transpositions from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substitute = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substitute.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typing_mistakes_and_nothing_else() {
        let known = ["frames", "frame_rate", "gravity", "seed"];
        assert_eq!(nearest("frmaes", known), Some("frames"));
        assert_eq!(nearest("Gravty", known), Some("gravity"));
        assert_eq!(nearest("frame-rate", known), Some("frame_rate"));
        assert_eq!(nearest("thickness", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
    }
}
