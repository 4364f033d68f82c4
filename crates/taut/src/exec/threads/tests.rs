//! Every item is done once, by whatever thread.

use super::*;

#[test]
fn every_item_is_done_once_whatever_the_threads() {
    for count in [1, 2, 3, 5] {
        let threads = Threads::new(count).unwrap();
        assert_eq!(threads.count(), count);
        for len in [0, 1, 7, 100, 1000, 70_000] {
            let mut items = vec![0u32; len];
            for round in 0..20 {
                threads.each(&mut items, 3, |first, part| {
                    for (k, item) in part.iter_mut().enumerate() {
                        assert_eq!(*item, round * (first + k) as u32);
                        *item += (first + k) as u32;
                    }
                });
            }
            threads.each_piece(&mut items, 1, |_, part| part.iter_mut().for_each(|item| *item += 1));
            assert!(items.iter().enumerate().all(|(k, &item)| item == 20 * k as u32 + 1));
            let mut others = vec![0.0f32; len];
            threads.each_pair(&mut items, &mut others, 3, |first, items, others| {
                for (k, (item, other)) in items.iter().zip(others).enumerate() {
                    assert_eq!(*item, 20 * (first + k) as u32 + 1);
                    *other = *item as f32;
                }
            });
            let largest = threads.largest(&others, 3, |part| part.iter().fold(0.0, |a, &b| a.max(b)));
            assert_eq!(largest, others.last().copied().unwrap_or(0.0));
        }
    }
}

#[test]
fn every_item_gets_its_own_place_and_parts() {
    for count in [1, 3] {
        let threads = Threads::new(count).unwrap();
        let places: Vec<u32> = (0..500).map(|k| 2 * k + 1).collect();
        let (mut items, mut targets) = (vec![1u32; 500], vec![0u32; 1000]);
        let largest = threads.largest_at(&mut items, (&places, &mut targets), 3, |place, item, target| {
            *target += *item + place as u32;
            place as f32
        });
        assert_eq!(largest, 999.0);
        let expected = |k: usize| if k % 2 == 1 { 1 + k as u32 } else { 0 };
        assert!(targets.iter().enumerate().all(|(k, &target)| target == expected(k)));

        let parts: Vec<_> = (0..100).map(|k| [10 * k..10 * k + 7, k..k + 1]).collect();
        let mut sums = vec![0u32; 100];
        for shared in [false, true] {
            let arrays = (&mut targets[..], &mut sums[..]);
            threads.each_with_parts(shared, &mut items[..100], &parts, arrays, |_, _, own, sum| {
                assert_eq!(own.len(), 7);
                sum[0] += own.iter().sum::<u32>();
            });
        }
        let own = |k: usize| (10 * k..10 * k + 7).map(expected).sum::<u32>();
        assert!(sums.iter().enumerate().all(|(k, &sum)| sum == 2 * own(k)));
    }
}

#[test]
#[should_panic(expected = "no place for each item")]
fn two_items_do_not_get_one_place() {
    Threads::alone().largest_at(&mut [0; 3], (&[0, 2, 2], &mut [0; 5]), 1, |_, _, _| 0.0);
}

#[test]
#[should_panic(expected = "parts of an array overlap")]
fn parts_that_overlap_are_refused() {
    let parts = [[0..3, 0..1], [2..4, 1..2]];
    Threads::alone().each_with_parts(false, &mut [0; 2], &parts, (&mut [0; 5], &mut [0; 5]), |_, _, _, _| {});
}

#[test]
fn loops_inside_loops_and_after_a_pause_run() {
    let threads = Threads::new(3).unwrap();
    for pause in [0, 1, 0, 5] {
        thread::sleep(Duration::from_millis(pause));
        let mut rows = vec![vec![0u8; 50]; 40];
        threads.each(&mut rows, 1, |_, rows| {
            for row in rows {
                threads.each(row, 1, |_, row| row.iter_mut().for_each(|v| *v += 1));
            }
        });
        assert!(rows.iter().flatten().all(|&v| v == 1));
    }
}

#[test]
fn a_panic_reaches_the_caller_and_the_threads_go_on() {
    let threads = Threads::new(2).unwrap();
    let mut items = vec![0; 100];
    let result = catch_unwind(AssertUnwindSafe(|| {
        threads.each(&mut items, 1, |first, _| assert_ne!(first, 50));
    }));
    assert!(result.is_err());
    threads.each(&mut items, 1, |_, part| part.fill(1));
    assert!(items.iter().all(|&v| v == 1));
}
