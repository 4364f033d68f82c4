//! Levels of the bodies of a filter as those of one.

use std::{iter::once, ops::Range};

use crate::hierarchy::Transfer;

/// Levels of cloth and of solids, each with its vertices among those of the filter, as those of one body.
/// Where one has come to its coarsest, it stays as it is. Coarser levels have cloth first, then one solid
/// after the other, whatever the order on the finest, which is that of the filter's vertices.
pub(super) fn side_by_side(
    (places, transfers): (&[u32], Vec<Transfer>),
    solids: &[(Range<usize>, Vec<Transfer<4>>)],
) -> Vec<Transfer<4>> {
    let of_cloth: Vec<Transfer<4>> = transfers.into_iter().map(Transfer::from).collect();
    let of_solids = solids.iter().map(|(own, levels)| (own.len(), levels));
    let parts: Vec<(usize, &Vec<Transfer<4>>)> =
        once((places.len(), &of_cloth)).chain(of_solids).filter(|(count, _)| *count > 0).collect();
    let depth = parts.iter().map(|(_, levels)| levels.len()).max().unwrap_or(0);
    let mut counts: Vec<usize> = parts.iter().map(|(count, _)| *count).collect();
    let mut all = Vec::with_capacity(depth);
    for level in 0..depth {
        let mut joint = Transfer::default();
        let mut first = 0;
        for ((_, levels), count) in parts.iter().zip(&mut counts) {
            match levels.get(level) {
                Some(own) => {
                    joint.corners.extend(own.corners.iter().map(|c| c.map(|v| v + first)));
                    joint.weights.extend_from_slice(&own.weights);
                    let next = levels.get(level + 1).map(|next| next.corners.len());
                    *count = next.unwrap_or_else(|| {
                        own.corners.iter().flatten().map(|&c| c as usize + 1).max().unwrap_or(0)
                    });
                }
                None => {
                    joint.corners.extend((0..*count as u32).map(|v| [first + v; 4]));
                    joint.weights.extend((0..*count).map(|_| [1.0, 0.0, 0.0, 0.0]));
                }
            }
            first += *count as u32;
        }
        all.push(joint);
    }
    if let Some(finest) = all.first_mut() {
        let places = places.iter().copied();
        let order: Vec<u32> =
            places.chain(solids.iter().flat_map(|(own, _)| own.start as u32..own.end as u32)).collect();
        *finest = placed(finest, &order);
    }
    all
}

/// A transfer with its fine vertices in another order: `order` says where each goes.
fn placed(transfer: &Transfer<4>, order: &[u32]) -> Transfer<4> {
    let mut placed = transfer.clone();
    for (k, &place) in order.iter().enumerate() {
        placed.corners[place as usize] = transfer.corners[k];
        placed.weights[place as usize] = transfer.weights[k];
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two levels: vertices 2k and 2k + 1 of the finest lie on vertex k of the next, those on one vertex.
    fn halved<const K: usize>(count: u32) -> Vec<Transfer<K>> {
        let on = |k: u32| std::array::from_fn(|_| k);
        let weights = |n: u32| vec![std::array::from_fn(|j| if j == 0 { 1.0 } else { 0.0 }); n as usize];
        let fine = Transfer { corners: (0..count).map(|v| on(v / 2)).collect(), weights: weights(count) };
        let next = count.div_ceil(2);
        vec![fine, Transfer { corners: vec![on(0); next as usize], weights: weights(next) }]
    }

    #[test]
    fn levels_follow_the_vertices_of_the_filter_in_any_order_of_kinds() {
        let solids = |at: [Range<usize>; 2]| {
            at.map(|own| {
                let levels = halved::<4>(own.len() as u32);
                (own, levels)
            })
        };
        let usual = side_by_side((&[0, 1, 2, 3], halved::<3>(4)), &solids([4..6, 6..10]));
        // A solid first, then cloth, then the other solid.
        let mixed = side_by_side((&[2, 3, 4, 5], halved::<3>(4)), &solids([0..2, 6..10]));
        assert_eq!(usual.len(), 2);
        let order = [4, 5, 0, 1, 2, 3, 6, 7, 8, 9];
        for (vertex, &other) in order.iter().enumerate() {
            assert_eq!(mixed[0].corners[vertex], usual[0].corners[other]);
            assert_eq!(mixed[0].weights[vertex], usual[0].weights[other]);
        }
        assert_eq!((&mixed[1].corners, &mixed[1].weights), (&usual[1].corners, &usual[1].weights));
    }
}
