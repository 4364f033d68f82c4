//! Charts: curves over axes, as SVG or as a picture.

/// A chart: curves over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// What it shows, above it.
    pub title: String,
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// Curves, each in a colour of its own.
    pub series: Vec<Series>,
    /// Horizontal dashed lines: limits and tolerances.
    pub lines: Vec<LimitLine>,
}

/// An axis of a [`Chart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures, with the unit, as in `time [s]`.
    pub label: String,
    /// Whether it is logarithmic; values that are not positive are then left out.
    pub log: bool,
}

/// A curve of a [`Chart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Points \[x, y\], joined by lines in this order. A point that is not finite leaves a gap.
    pub points: Vec<[f64; 2]>,
    /// Whether it is dashed. A dashed curve has the colour of the curve before it that is not: the same thing measured otherwise.
    pub dashed: bool,
}

/// A horizontal line of a [`Chart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitLine {
    /// Its name in the legend.
    pub name: String,
    /// Where it is on the y axis.
    pub y: f64,
}
