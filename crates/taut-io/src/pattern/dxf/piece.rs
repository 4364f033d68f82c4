//! A piece of a DXF file as a panel: its outline as one loop, unfolded, cut into edges at its corners.

use glam::{DMat3, DVec2, DVec3};

use super::{
    super::{Curve, Edge, MAX_EDGES, Panel, outline},
    entity::{Block, Polyline},
};
use crate::Problem;

/// Layers of AAMA and ASTM.
const OUTLINE: &str = "1";
const CORNERS: &str = "2";
const FOLD: &str = "6";
const GRAIN: &str = "7";
/// Turn of an outline from which on it has a corner, where the file marks none \[degrees\].
const CORNER: f64 = 30.0;
/// Distance within which points are the same, relative to the size of a piece.
const SAME: f64 = 1e-4;

/// The panel of a block; nothing if it draws no outline.
pub(super) fn panel(block: &Block) -> Result<Option<Panel>, Problem> {
    let name = block.note("piece name").unwrap_or(&block.name).to_owned();
    let refuse = |line: usize, message: String| {
        let shown: String = name.chars().take(64).collect();
        Err(Problem { line: Some(line), key: Some(format!("piece {shown}")), message, ..Problem::default() })
    };
    let own: Vec<&Polyline> = block.lines.iter().filter(|line| line.layer == OUTLINE).collect();
    if let Some((kind, line)) = &block.unread {
        let message = format!("its outline has a {kind}, which is not read: save curves as polylines");
        return refuse(*line, message);
    }
    let Some(first) = own.first() else { return Ok(None) };
    let size = size(&own);
    let mut loop_points = match closed(&own, SAME * size) {
        Ok(points) => points,
        Err(message) => return refuse(first.line, message),
    };
    loop_points.dedup_by(|a, b| a.distance(*b) <= 1e-3 * SAME * size);
    if loop_points.len() < 3 {
        return refuse(
            first.line,
            format!("its outline has {} points: must have at least 3", loop_points.len()),
        );
    }
    let mut marked: Vec<DVec2> =
        block.points.iter().filter(|point| point.0 == CORNERS).map(|point| point.1).collect();
    if let Some(fold) = block.lines.iter().find(|line| line.layer == FOLD && line.points.len() >= 2) {
        let ends = [fold.points[0], fold.points[fold.points.len() - 1]];
        let Some(whole) = unfolded(&loop_points, ends, SAME * size) else {
            let message = "its mirror line (layer 6) is not a side of its outline: must be one".into();
            return refuse(fold.line, message);
        };
        loop_points = whole;
        let mirrored: Vec<DVec2> = marked.iter().map(|&p| mirror(p, ends)).collect();
        marked.extend(mirrored);
    }
    // The side that is drawn is the outside.
    if outline::twice_area(&closing(&loop_points)) < 0.0 {
        loop_points.reverse();
    }
    let grain = block.lines.iter().find(|line| line.layer == GRAIN && line.points.len() >= 2);
    let along = grain.map_or(DVec2::X, |line| line.points[line.points.len() - 1] - line.points[0]);
    let along = if along.length() > 0.0 { along.normalize() } else { DVec2::X };
    // The y axis of a panel is its grain: from the drawing to there, and back.
    let to_panel = |p: DVec2| DVec2::new(-along.perp_dot(p), along.dot(p));
    let edges = edges(&loop_points, &marked, SAME * size, &name, to_panel);
    if edges.len() > MAX_EDGES {
        return refuse(first.line, format!("has {} corners, must have at most {MAX_EDGES}", edges.len()));
    }
    // Seen from above: x of the drawing is x, its y is −z.
    let flat = |p: DVec2| DVec3::new(p.x, 0.0, -p.y);
    let rotation = DMat3::from_cols(flat(-along.perp()), flat(along), DVec3::Y);
    let order = (0..edges.len()).collect();
    Ok(Some(Panel { name, label: None, edges, order, rotation, translation: DVec3::ZERO }))
}

/// The larger extent of these lines.
fn size(lines: &[&Polyline]) -> f64 {
    let points = || lines.iter().flat_map(|line| &line.points).copied();
    let (low, high) = (points().fold(DVec2::MAX, DVec2::min), points().fold(DVec2::MIN, DVec2::max));
    (high - low).max_element().max(0.0)
}

/// One loop of all lines of an outline, which may be in any order and direction.
fn closed(lines: &[&Polyline], same: f64) -> Result<Vec<DVec2>, String> {
    if let Some(whole) = lines.iter().find(|line| line.is_closed) {
        let others = lines.len() - 1;
        return if others == 0 {
            Ok(whole.points.clone())
        } else {
            Err(format!(
                "has {others} more lines on layer 1 beside a closed outline: must be one loop, holes are not supported"
            ))
        };
    }
    let mut left: Vec<&Polyline> = lines.iter().copied().filter(|line| line.points.len() > 1).collect();
    if left.is_empty() || left.len() > 1000 {
        return Err(format!("its outline has {} lines: must have 1 to 1000", left.len()));
    }
    let mut points = left.remove(0).points.clone();
    while !left.is_empty() {
        let end = points[points.len() - 1];
        let ends = |line: &Polyline| [line.points[0], line.points[line.points.len() - 1]];
        let next = left.iter().position(|line| ends(line).iter().any(|p| p.distance(end) <= same));
        let Some(next) = next else {
            return Err(format!("its outline is open: no line goes on at ({:.4}, {:.4})", end.x, end.y));
        };
        let mut line = left.remove(next).points.clone();
        if line[0].distance(end) > same {
            line.reverse();
        }
        points.extend_from_slice(&line[1..]);
    }
    let (first, last) = (points[0], points[points.len() - 1]);
    if first.distance(last) > same {
        return Err(format!(
            "its outline is open: it begins at ({:.4}, {:.4}) and ends at ({:.4}, {:.4})",
            first.x, first.y, last.x, last.y
        ));
    }
    points.pop();
    Ok(points)
}

/// The polygon with its first point again at its end.
fn closing(points: &[DVec2]) -> Vec<DVec2> {
    points.iter().chain(points.first()).copied().collect()
}

fn mirror(p: DVec2, [a, b]: [DVec2; 2]) -> DVec2 {
    let along = (b - a).normalize_or_zero();
    2.0 * (a + along * along.dot(p - a)) - p
}

/// Both halves of a piece that is drawn to its mirror line, which must be a side of the outline.
fn unfolded(points: &[DVec2], line: [DVec2; 2], same: f64) -> Option<Vec<DVec2>> {
    let along = (line[1] - line[0]).normalize_or_zero();
    let is_on = |p: DVec2| along.perp_dot(p - line[0]).abs() <= same;
    let count = points.len();
    // The points on the line follow each other; the outline leaves it after the last of them.
    let last = (0..count).find(|&k| is_on(points[k]) && !is_on(points[(k + 1) % count]))?;
    let turned: Vec<DVec2> = (0..count).map(|k| points[(last + k) % count]).collect();
    let first = (1..count).find(|&k| is_on(turned[k]))?;
    if along == DVec2::ZERO || !turned[first..].iter().all(|&p| is_on(p)) || first < 2 {
        return None;
    }
    let half = &turned[1..first];
    let other = half.iter().rev().map(|&p| mirror(p, line));
    Some([turned[0]].into_iter().chain(half.iter().copied()).chain([turned[first]]).chain(other).collect())
}

/// The parts of an outline from corner to corner.
fn edges(
    points: &[DVec2],
    marked: &[DVec2],
    same: f64,
    name: &str,
    to_panel: impl Fn(DVec2) -> DVec2,
) -> Vec<Edge> {
    let count = points.len();
    let is_marked = |k: &usize| marked.iter().any(|p| p.distance(points[*k]) <= same);
    let turns = |k: &usize| {
        let (before, at, after) = (points[(k + count - 1) % count], points[*k], points[(k + 1) % count]);
        (at - before).angle_to(after - at).abs() >= CORNER.to_radians()
    };
    let mut corners: Vec<usize> = (0..count).filter(is_marked).collect();
    if corners.len() < 2 {
        corners = (0..count).filter(turns).collect();
    }
    if corners.len() < 2 {
        corners = vec![0, count / 2];
    }
    let edge = |k: usize| {
        let (from, to) = (corners[k], corners[(k + 1) % corners.len()]);
        let length = if to > from { to - from } else { to + count - from };
        let own = (0..=length).map(|step| to_panel(points[(from + step) % count])).collect();
        Edge {
            ends: [k, (k + 1) % corners.len()],
            curve: Curve::polyline(own),
            label: Some(format!("edge:{name}:{k}")),
        }
    };
    (0..corners.len()).map(edge).collect()
}
