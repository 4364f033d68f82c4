//! Several pictures beside each other.

use crate::{
    draw,
    picture::{Picture, Rgba},
};

/// The colour of captions.
const INK: Rgba = [44, 48, 54, 255];

/// Places pictures in rows of `columns`, each with a caption below it (which may be empty), on white. Cells
/// have the size of the largest picture; smaller ones are centred.
pub fn montage(pictures: &[(&Picture, &str)], columns: usize) -> Picture {
    let columns = columns.clamp(1, pictures.len().max(1));
    let width = pictures.iter().map(|(p, _)| p.width()).max().unwrap_or(0);
    let height = pictures.iter().map(|(p, _)| p.height()).max().unwrap_or(0);
    let gap = (width / 40).max(4);
    let size = (width as f32 / 36.0).clamp(7.0, 24.0);
    let under = if pictures.iter().all(|(_, words)| words.is_empty()) { 0 } else { (2.4 * size) as usize };
    let rows = pictures.len().div_ceil(columns);
    let across = columns * (width + gap) + gap;
    let down = rows * (height + under + gap) + gap;
    let mut whole = Picture::new(across, down, [255; 4]);
    for (k, (picture, words)) in pictures.iter().enumerate() {
        let left = gap + (k % columns) * (width + gap);
        let top = gap + (k / columns) * (height + under + gap);
        let (x0, y0) = (left + (width - picture.width()) / 2, top + (height - picture.height()) / 2);
        for y in 0..picture.height() {
            let to = (y0 + y) * across + x0;
            let from = y * picture.width();
            whole.pixels_mut()[to..to + picture.width()]
                .copy_from_slice(&picture.pixels()[from..from + picture.width()]);
        }
        let middle = left as f32 + 0.5 * (width as f32 - draw::text_width(size, words));
        draw::text(&mut whole, middle, (top + height) as f32 + 1.7 * size, size, INK, words);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_stand_beside_each_other() {
        let [red, green] = [[200, 0, 0, 255], [0, 200, 0, 255]];
        let (a, b) = (Picture::new(40, 30, red), Picture::new(20, 10, green));
        let both = montage(&[(&a, "one"), (&b, "two")], 2);
        let count = |color: Rgba| both.pixels().iter().filter(|p| **p == color).count();
        assert_eq!((count(red), count(green)), (40 * 30, 20 * 10));
        let column =
            |color: Rgba| (0..both.width()).find(|&x| (0..both.height()).any(|y| both.get(x, y) == color));
        assert!(column(red) < column(green));
        let stacked = montage(&[(&a, ""), (&a, "")], 1);
        assert!(stacked.height() >= 60 && stacked.width() < 60);
        assert_eq!(montage(&[], 3).width(), 8);
    }
}
