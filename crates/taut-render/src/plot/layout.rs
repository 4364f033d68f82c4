//! Layout of a figure: charts become lines, rectangles and text, which are then drawn as SVG or on a picture.

use super::{
    Chart,
    scale::{Label, Scale},
};
use crate::{draw::text_width, picture::Rgba};

/// Width of a figure \[units: pixels of an SVG at its own size\].
pub const WIDTH: f32 = 860.0;
/// Height of capitals of titles and of all else.
const TITLE: f32 = 10.0;
const SMALL: f32 = 8.0;
/// Height of an exponent's digits, and how far it is raised.
pub const EXPONENT: [f32; 2] = [0.7, 0.55];

const INK: Rgba = [0x22, 0x26, 0x2b, 255];
const SOFT: Rgba = [0x4c, 0x53, 0x5c, 255];
const GRID: Rgba = [0xe3, 0xe6, 0xea, 255];
const LIMIT: Rgba = [0xb4, 0x23, 0x18, 255];
/// Colours that are distinguishable with most colour vision, and in grey.
const COLORS: [Rgba; 9] = [
    [0x1f, 0x66, 0xb0, 255],
    [0xe0, 0x7b, 0x1a, 255],
    [0x2a, 0x93, 0x5b, 255],
    [0x85, 0x5c, 0xb4, 255],
    [0x17, 0xa2, 0xb8, 255],
    [0xc9, 0x4f, 0x8a, 255],
    [0x8a, 0x6d, 0x3b, 255],
    [0x6b, 0x72, 0x80, 255],
    [0x9a, 0xa8, 0x1c, 255],
];
/// Dashes of curves and of limits \[drawn, not drawn\].
const DASHED: [f32; 2] = [5.0, 4.0];
const LIMIT_DASHES: [[f32; 2]; 3] = [[7.0, 4.0], [2.0, 3.0], [12.0, 3.0]];

/// Horizontal alignment of text at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// Text of a figure.
#[derive(Clone, Debug)]
pub struct Words {
    pub at: [f32; 2],
    pub anchor: Anchor,
    pub height: f32,
    pub bold: bool,
    pub upwards: bool,
    pub color: Rgba,
    pub label: Label,
}

/// An element of a figure.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Polylines; dashed if there are dashes.
    Line { pieces: Vec<Vec<[f32; 2]>>, width: f32, color: Rgba, dashes: Option<[f32; 2]> },
    /// Discs.
    Dots { at: Vec<[f32; 2]>, radius: f32, color: Rgba },
    /// Text.
    Words(Words),
    /// A chart begins, with this title.
    Chart(String),
}

/// A figure: its height and its elements.
pub struct Figure {
    pub height: f32,
    pub shapes: Vec<Shape>,
}

/// The rectangle inside the axes.
#[derive(Clone, Copy)]
struct Frame {
    left: f32,
    right: f32,
    top: f32,
    bottom: f32,
}

/// A chart with its scales.
struct Scaled<'a> {
    chart: &'a Chart,
    x: Scale,
    y: Scale,
    colors: Vec<Rgba>,
}

impl<'a> Scaled<'a> {
    fn new(chart: &'a Chart, all: &[Chart]) -> Self {
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let both = || points().filter(|p| p[0].is_finite() && p[1].is_finite());
        // Also from points in gaps and from charts with the same axis, so that stacked charts are aligned.
        let same =
            |other: &&Chart| std::ptr::eq(*other, chart) || (other.x == chart.x && !chart.x.label.is_empty());
        let across = all.iter().filter(same).flat_map(|c| &c.series).flat_map(|series| &series.points);
        let x = Scale::new(chart.x.log, across.map(|p| p[0]), false);
        let y = Scale::new(chart.y.log, both().map(|p| p[1]).chain(chart.lines.iter().map(|l| l.y)), true);
        let mut next = 0usize;
        let colors = chart
            .series
            .iter()
            .map(|series| {
                next += usize::from(!series.dashed || next == 0);
                COLORS[(next - 1) % COLORS.len()]
            })
            .collect();
        Self { chart, x, y, colors }
    }

    /// Width of the labels of the y axis.
    fn label_width(&self) -> f32 {
        self.y.ticks(5.0).iter().map(|tick| width_of(&tick.label, SMALL)).fold(0.0, f32::max)
    }

    /// Lines of the legend: name, colour, dashes and width of the line. Curves without points have none.
    fn legend(&self) -> Vec<(String, Rgba, Option<[f32; 2]>, f32)> {
        let short = |name: &str| shortened(name, SMALL, 190.0);
        let series =
            self.chart.series.iter().zip(&self.colors).filter(|(series, _)| !series.points.is_empty());
        let curves = series.map(|(s, &color)| (short(&s.name), color, s.dashed.then_some(DASHED), 1.8));
        let dashes = LIMIT_DASHES.iter().cycle();
        let limits = self.chart.lines.iter().zip(dashes).map(|(l, &d)| (short(&l.name), LIMIT, Some(d), 1.2));
        curves.chain(limits).collect()
    }
}

/// Width of a label.
pub fn width_of(label: &Label, height: f32) -> f32 {
    text_width(height, &label.text) + text_width(height * EXPONENT[0], &label.exponent)
}

/// `text`, truncated to fit.
fn shortened(text: &str, height: f32, width: f32) -> String {
    if text_width(height, text) <= width {
        return text.into();
    }
    let mut short: String = text.into();
    while !short.is_empty() && text_width(height, &short) + text_width(height, "…") > width {
        short.pop();
    }
    short.trim_end().to_owned() + "…"
}

/// Lays out charts below each other, with aligned axes.
pub fn lay_out(charts: &[Chart]) -> Figure {
    let scaled: Vec<Scaled> = charts.iter().map(|chart| Scaled::new(chart, charts)).collect();
    let labels = scaled.iter().map(Scaled::label_width).fold(0.0, f32::max);
    let names =
        scaled.iter().flat_map(Scaled::legend).map(|(name, ..)| text_width(SMALL, &name)).fold(0.0, f32::max);
    // Fonts in SVG viewers may be wider than the built-in one.
    let legend = if names > 0.0 { 1.18 * names + 44.0 } else { 16.0 };
    let (left, right) = ((42.0 + labels).round(), (WIDTH - legend - 10.0).round());
    let mut shapes = Vec::new();
    let mut y = 14.0;
    for (i, scaled) in scaled.iter().enumerate() {
        let top = y + TITLE + 14.0;
        let bottom = top + 190f32.max(17.0 * scaled.legend().len() as f32);
        let frame = Frame { left, right, top, bottom };
        shapes.push(Shape::Chart(scaled.chart.title.clone()));
        let title = shortened(&scaled.chart.title, TITLE, WIDTH - left - 12.0);
        shapes.push(words([left, y + TITLE], Anchor::Start, title, TITLE, INK));
        axes(&mut shapes, scaled, frame);
        curves(&mut shapes, scaled, frame);
        key(&mut shapes, scaled, frame);
        y = bottom + 6.0 + SMALL + 6.0;
        // An axis shared with the chart below is labelled once.
        let shared = charts.get(i + 1).is_some_and(|next| next.x == scaled.chart.x);
        if !shared && !scaled.chart.x.label.is_empty() {
            let label = shortened(&scaled.chart.x.label, SMALL, right - left);
            let at = [(left + right) / 2.0, y + SMALL + 4.0];
            shapes.push(words(at, Anchor::Middle, label, SMALL, INK));
            y += SMALL + 4.0;
        }
        y += 20.0;
    }
    Figure { height: (y - 6.0).max(20.0), shapes }
}

fn words(at: [f32; 2], anchor: Anchor, label: impl Into<Label>, height: f32, color: Rgba) -> Shape {
    let (bold, label) = (height == TITLE, label.into());
    Shape::Words(Words { at, anchor, height, bold, upwards: false, color, label })
}

fn axes(shapes: &mut Vec<Shape>, scaled: &Scaled, frame: Frame) {
    let Frame { left, right, top, bottom } = frame;
    // At half pixels thin lines are sharp.
    let sharp = |v: f32| v.floor() + 0.5;
    let mut grid = Vec::new();
    for tick in scaled.y.ticks(5.0) {
        let y = sharp(bottom - (bottom - top) * tick.at as f32);
        if tick.at > 1e-6 {
            grid.push(vec![[left, y], [right, y]]);
        }
        shapes.push(words([left - 8.0, y + SMALL / 2.0], Anchor::End, tick.label, SMALL, SOFT));
    }
    shapes.push(Shape::Line { pieces: grid, width: 1.0, color: GRID, dashes: None });

    let mut marks = vec![vec![[left - 0.5, sharp(bottom)], [right + 0.5, sharp(bottom)]]];
    for tick in scaled.x.ticks(8.0) {
        let x = sharp(left + (right - left) * tick.at as f32);
        marks.push(vec![[x, sharp(bottom)], [x, bottom + 5.0]]);
        shapes.push(words([x, bottom + 8.0 + SMALL], Anchor::Middle, tick.label, SMALL, SOFT));
    }
    for at in scaled.x.small_ticks(5.0) {
        let x = sharp(left + (right - left) * at as f32);
        marks.push(vec![[x, sharp(bottom)], [x, bottom + 3.0]]);
    }
    for at in scaled.y.small_ticks(3.0) {
        let y = sharp(bottom - (bottom - top) * at as f32);
        marks.push(vec![[left - 3.0, y], [left, y]]);
    }
    shapes.push(Shape::Line { pieces: marks, width: 1.0, color: SOFT, dashes: None });

    if !scaled.chart.y.label.is_empty() {
        let text = shortened(&scaled.chart.y.label, SMALL, bottom - top + 20.0);
        let label = text.into();
        let at = [18.0, (top + bottom) / 2.0];
        let (anchor, height, color) = (Anchor::Middle, SMALL, INK);
        shapes.push(Shape::Words(Words { at, anchor, height, bold: false, upwards: true, color, label }));
    }
}

fn curves(shapes: &mut Vec<Shape>, scaled: &Scaled, frame: Frame) {
    let Frame { left, right, top, bottom } = frame;
    let place = |&[x, y]: &[f64; 2]| -> Option<[f32; 2]> {
        let (x, y) = (scaled.x.place(x)?, scaled.y.place(y)?);
        Some([left + (right - left) * x as f32, bottom - (bottom - top) * y as f32])
    };
    for (i, line) in scaled.chart.lines.iter().enumerate() {
        let Some(at) = scaled.y.place(line.y) else { continue };
        let y = (bottom - (bottom - top) * at as f32).floor() + 0.5;
        let dashes = Some(LIMIT_DASHES[i % LIMIT_DASHES.len()]);
        shapes.push(Shape::Line {
            pieces: vec![vec![[left, y], [right, y]]],
            width: 1.2,
            color: LIMIT,
            dashes,
        });
    }
    for (series, &color) in scaled.chart.series.iter().zip(&scaled.colors) {
        let mut pieces: Vec<Vec<[f32; 2]>> = vec![Vec::new()];
        for point in &series.points {
            match place(point) {
                Some(at) => pieces.last_mut().into_iter().for_each(|piece| piece.push(at)),
                None => pieces.push(Vec::new()),
            }
        }
        let few = series.points.len() <= 30;
        // A point between gaps would be invisible as a line.
        let marked = pieces.iter().filter(|piece| few || piece.len() == 1);
        let dots: Vec<[f32; 2]> = marked.flatten().copied().collect();
        let pieces: Vec<_> = pieces.into_iter().filter(|p| p.len() > 1).map(|p| thinned(&p)).collect();
        let dashes = series.dashed.then_some(DASHED);
        shapes.push(Shape::Line { pieces, width: 1.5, color, dashes });
        shapes.push(Shape::Dots { at: dots, radius: 2.2, color });
    }
}

/// At most four points for each column of pixels: the first, the lowest, the highest and the last.
fn thinned(points: &[[f32; 2]]) -> Vec<[f32; 2]> {
    let mut kept = Vec::new();
    for run in points.chunk_by(|a, b| a[0].floor() == b[0].floor()) {
        if run.len() <= 4 {
            kept.extend_from_slice(run);
            continue;
        }
        let by_height = |a: &usize, b: &usize| run[*a][1].total_cmp(&run[*b][1]);
        let (low, high) = ((0..run.len()).min_by(by_height), (0..run.len()).max_by(by_height));
        let mut which = vec![0, low.unwrap_or(0), high.unwrap_or(0), run.len() - 1];
        which.sort_unstable();
        which.dedup();
        kept.extend(which.into_iter().map(|i| run[i]));
    }
    kept
}

/// The legend, right of the axes, where it covers nothing.
fn key(shapes: &mut Vec<Shape>, scaled: &Scaled, frame: Frame) {
    let left = frame.right + 16.0;
    for (i, (name, color, dashes, width)) in scaled.legend().into_iter().enumerate() {
        let y = frame.top + 17.0 * i as f32 + 6.5;
        shapes.push(Shape::Line { pieces: vec![vec![[left, y], [left + 22.0, y]]], width, color, dashes });
        shapes.push(words([left + 29.0, y + SMALL / 2.0], Anchor::Start, name, SMALL, INK));
    }
}
