//! Colouring: elements of one colour share no vertex, so that they can be worked on at the same time.
//!
//! Greedy, in the order of the elements, taking the least used of the possible colours so that colours come
//! out of like size. It depends on the mesh alone, never on the number of threads. Triangles of a grid need 6
//! to 8 colours.

use std::collections::HashMap;

/// Gives each element (a set of `K` vertices) a colour; returns the elements of each colour in order.
pub fn color<const K: usize>(vertex_count: usize, elements: &[[u32; K]]) -> Vec<Vec<u32>> {
    // Colours in use at a vertex: 64 in a word, more in a map, for the rare vertex with hundreds of elements.
    let mut first = vec![0u64; vertex_count];
    let mut more: HashMap<u32, Vec<u64>> = HashMap::new();
    let mut classes: Vec<Vec<u32>> = Vec::new();
    for (e, element) in elements.iter().enumerate() {
        let used = element.iter().fold(0, |set, &v| set | first[v as usize]);
        let candidates = classes.len().min(64);
        let chosen = (0..candidates)
            .filter(|c| used >> c & 1 == 0)
            .min_by_key(|&c| classes[c].len())
            .unwrap_or_else(|| {
                if candidates < 64 {
                    return candidates;
                }
                let mut word = 0;
                loop {
                    let used = element
                        .iter()
                        .filter_map(|v| more.get(v).and_then(|words| words.get(word)))
                        .fold(0, |set, bits| set | bits);
                    if used != u64::MAX {
                        return 64 * (word + 1) + (!used).trailing_zeros() as usize;
                    }
                    word += 1;
                }
            });
        if chosen == classes.len() {
            classes.push(Vec::new());
        }
        classes[chosen].push(e as u32);
        for &v in element {
            if chosen < 64 {
                first[v as usize] |= 1 << chosen;
            } else {
                let words = more.entry(v).or_default();
                words.resize(words.len().max(chosen / 64), 0);
                words[chosen / 64 - 1] |= 1 << (chosen % 64);
            }
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_proper<const K: usize>(vertex_count: usize, elements: &[[u32; K]], classes: &[Vec<u32>]) {
        let mut seen = vec![false; elements.len()];
        for class in classes {
            let mut touched = vec![false; vertex_count];
            for &e in class {
                assert!(!std::mem::replace(&mut seen[e as usize], true), "element {e} has two colours");
                for &v in &elements[e as usize] {
                    assert!(
                        !std::mem::replace(&mut touched[v as usize], true),
                        "vertex {v} twice in a colour"
                    );
                }
            }
        }
        assert!(seen.into_iter().all(|s| s), "an element has no colour");
    }

    #[test]
    fn a_grid_needs_few_balanced_colors() {
        let n = 30u32;
        let at = |i: u32, j: u32| i * (n + 1) + j;
        let triangles: Vec<[u32; 3]> = (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .flat_map(|(i, j)| {
                [[at(i, j), at(i + 1, j), at(i, j + 1)], [at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]]
            })
            .collect();
        let count = ((n + 1) * (n + 1)) as usize;
        let classes = color(count, &triangles);
        assert_proper(count, &triangles, &classes);
        assert!(classes.len() <= 10, "{}", classes.len());
    }

    #[test]
    fn a_fan_of_hundreds_gets_a_color_each() {
        let fan: Vec<[u32; 3]> = (0..500).map(|k| [0, 1 + 2 * k, 2 + 2 * k]).collect();
        let classes = color(1001, &fan);
        assert_proper(1001, &fan, &classes);
        assert_eq!(classes.len(), 500);
    }
}
