//! Charts: curves over axes, as SVG or as a picture.
//!
//! `layout` positions everything, with ticks at round numbers from `scale`; [`svg()`] and [`png()`] draw the
//! same figure. Charts with the same x axis show the same range of it.

mod layout;
mod raster;
mod scale;
mod svg;

use crate::Picture;

/// A chart: curves over two axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    /// Title, above it.
    pub title: String,
    /// The x axis.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// Curves, each in its own colour. One without points uses up its colour and has no legend entry: the
    /// same curve on several charts can then have the same colour on all.
    pub series: Vec<Series>,
    /// Horizontal dashed lines: limits and tolerances.
    pub lines: Vec<LimitLine>,
}

/// An axis of a [`Chart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Label: quantity and unit, as in `time [s]`.
    pub label: String,
    /// Whether it is logarithmic: negative values are then omitted, and zeros have a position below the
    /// lowest decade.
    pub log: bool,
}

/// A curve of a [`Chart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Points \[x, y\], joined by lines in this order. A non-finite point leaves a gap.
    pub points: Vec<[f64; 2]>,
    /// Whether it is dashed. A dashed curve has the colour of the previous solid curve: the same quantity by
    /// another measurement.
    pub dashed: bool,
}

/// A horizontal line of a [`Chart`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitLine {
    /// Its name in the legend.
    pub name: String,
    /// Value on the y axis.
    pub y: f64,
}

/// The charts below each other, as an SVG.
pub fn svg(charts: &[Chart]) -> String {
    svg::write(&layout::lay_out(charts))
}

/// The charts below each other, as a picture; [`encode::png_small`](crate::encode::png_small()) encodes it.
pub fn png(charts: &[Chart]) -> Picture {
    raster::paint(&layout::lay_out(charts))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<[f64; 2]>, log: [bool; 2]) -> Chart {
        let [x, y] = log.map(|log| Axis { label: "a < b & \"c\" [m²]".into(), log });
        let name = "curve\u{0} <1>".to_owned();
        let series = vec![
            Series { name: name.clone(), points: points.clone(), dashed: false },
            Series { name, points, dashed: true },
        ];
        let lines = vec![LimitLine { name: "limit".into(), y: 0.5 }];
        Chart { title: "Title & more".into(), x, y, series, lines }
    }

    /// Checks that tags nest and that the text has no characters that XML forbids; returns the names of the
    /// elements.
    fn parse(svg: &str) -> Vec<String> {
        let (mut open, mut seen) = (Vec::new(), Vec::new());
        for (i, part) in svg.split('<').enumerate() {
            let Some((tag, text)) = part.split_once('>') else {
                assert!(i == 0 && part.is_empty(), "{part}");
                continue;
            };
            for (j, _) in text.match_indices('&') {
                assert!(
                    ["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|e| text[j..].starts_with(e)),
                    "{text}"
                );
            }
            assert!(tag.matches('"').count() % 2 == 0, "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name));
            } else {
                let name = tag.split([' ', '/']).next().unwrap().to_owned();
                seen.push(name.clone());
                if !tag.ends_with('/') {
                    open.push(name);
                }
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "numbers that no reader takes");
        assert!(svg.chars().all(|c| c == '\n' || !c.is_control()));
        seen
    }

    #[test]
    fn a_chart_has_curves_limits_legend_and_labels() {
        let charts = [chart((0..50).map(|i| [f64::from(i), f64::from(i % 7)]).collect(), [false; 2])];
        let text = svg(&charts);
        let elements = parse(&text);
        let count = |name: &str| elements.iter().filter(|e| *e == name).count();
        // The grid, the axes, a limit, two curves, and three lines of the legend.
        assert_eq!(count("path"), 8);
        assert!(text.contains("Title &amp; more") && text.contains("a &lt; b &amp; &quot;c&quot; [m²]"));
        assert!(text.contains("stroke-dasharray"));
        let picture = png(&charts);
        let colors: std::collections::HashSet<_> = picture.pixels().iter().collect();
        assert!(colors.len() > 50 && picture.width() == 2 * layout::WIDTH as usize);
        // The margins stay white.
        assert!((0..picture.height()).all(|y| picture.get(picture.width() - 1, y) == [255; 4]));
        assert!((0..picture.width()).all(|x| picture.get(x, 0) == [255; 4]));
    }

    #[test]
    fn gaps_break_curves_and_lonely_points_are_dots() {
        let curve = |points: Vec<[f64; 2]>| {
            let series = vec![Series { points, ..Series::default() }];
            svg(&[Chart { series, ..Chart::default() }])
        };
        let mut points: Vec<[f64; 2]> = (0..60).map(|i| [f64::from(i), f64::from(i)]).collect();
        let whole = curve(points.clone());
        assert_eq!(parse(&whole).iter().filter(|e| *e == "circle").count(), 0);
        let curve_of =
            |svg: &str| svg.lines().find(|l| l.contains("width=\"1.5\"")).unwrap().matches('M').count();
        assert_eq!(curve_of(&whole), 1);
        (points[20][1], points[22][1], points[40][0]) = (f64::NAN, f64::INFINITY, f64::NAN);
        let broken = curve(points);
        assert_eq!(curve_of(&broken), 3);
        assert_eq!(parse(&broken).iter().filter(|e| *e == "circle").count(), 1);
    }

    #[test]
    fn a_curve_without_points_keeps_its_color_to_itself() {
        let curve = |name: &str, points: &[[f64; 2]]| Series {
            name: name.into(),
            points: points.to_vec(),
            dashed: false,
        };
        let points = [[0.0, 1.0], [1.0, 2.0]];
        let of = |first: &[[f64; 2]]| {
            let series = vec![curve("first", first), curve("second", &points)];
            svg(&[Chart { series, ..Chart::default() }])
        };
        let color = |svg: &str| {
            let curve = svg.lines().rfind(|l| l.contains("width=\"1.5\"")).unwrap();
            curve.split_once("stroke=\"#").unwrap().1[..6].to_owned()
        };
        assert_eq!(color(&of(&[])), color(&of(&points)));
        assert!(!of(&[]).contains("first") && of(&points).contains("first"));
    }

    #[test]
    fn long_curves_make_small_files_that_keep_their_peaks() {
        let mut points: Vec<[f64; 2]> =
            (0..200_000).map(|i| [f64::from(i), (f64::from(i) * 0.37).sin()]).collect();
        points[123_456][1] = 40.0;
        let text = svg(&[chart(points, [false; 2])]);
        assert!(text.len() < 150_000, "{}", text.len());
        assert!(text.contains(">40<"), "the axis goes up to the peak");
    }

    #[test]
    fn nothing_and_nonsense_do_no_harm() {
        assert_eq!(parse(&svg(&[])), ["svg", "rect"]);
        assert!(png(&[]).width() > 0);
        parse(&svg(&[Chart::default()]));
        let mut random = 7u64;
        let mut next = move || {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            match random >> 60 {
                0 => f64::NAN,
                1 => f64::INFINITY,
                2 => f64::NEG_INFINITY,
                3 => 0.0,
                4 => f64::from_bits(random ^ random >> 19),
                _ => (random >> 40) as f64 / 1e6 - 2.0,
            }
        };
        for round in 0..300 {
            let points = (0..round % 40).map(|_| [next(), next()]).collect();
            let mut one = chart(points, [round % 2 == 0, round % 3 == 0]);
            one.lines[0].y = next();
            parse(&svg(&[one.clone()]));
            if round % 30 == 0 {
                png(&[one]);
            }
        }
    }
}
