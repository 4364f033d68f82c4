//! What a DXF file draws: blocks of lines and texts, from pairs of lines (a code, a value).

use std::collections::BTreeMap;

use glam::{DAffine2, DVec2};

use crate::Problem;

/// Maximum blocks, and points of a file.
const MAX_BLOCKS: usize = 10_000;
const MAX_POINTS: usize = 1_000_000;
/// Largest coordinate.
const MAX_NUMBER: f64 = 1e7;
/// Straight parts of a full circle that stands for an arc of a polyline.
const PARTS_OF_A_CIRCLE: f64 = 64.0;

/// Lines between points.
#[derive(Clone, Debug, Default)]
pub(super) struct Polyline {
    pub layer: String,
    pub line: usize,
    pub points: Vec<DVec2>,
    /// Tangents of a quarter of the arc from each point to the next; 0 for straight lines.
    bulges: Vec<f64>,
    pub is_closed: bool,
}

/// A block: a piece, or what is drawn outside of blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub name: String,
    pub line: usize,
    pub lines: Vec<Polyline>,
    /// Points by layer.
    pub points: Vec<(String, DVec2)>,
    texts: Vec<String>,
    /// Curves on layer 1 that are not read, with their line.
    pub unread: Option<(String, usize)>,
    /// Where it is put.
    place: Option<DAffine2>,
}

/// The file.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// Whole numbers of the header.
    pub header: BTreeMap<String, i64>,
    pub blocks: Vec<Block>,
    texts: Vec<String>,
}

/// The value after `name:` in any of these texts.
fn note<'a>(texts: &'a [String], name: &str) -> Option<&'a str> {
    texts.iter().find_map(|text| {
        let (key, value) = text.split_once(':')?;
        let value = value.trim();
        (key.trim().eq_ignore_ascii_case(name) && !value.is_empty()).then_some(value)
    })
}

impl Drawing {
    /// The value after `name:` in a text outside of blocks.
    pub fn note(&self, name: &str) -> Option<&str> {
        note(&self.texts, name)
    }
}

impl Block {
    /// The value after `name:` in one of its texts.
    pub fn note(&self, name: &str) -> Option<&str> {
        note(&self.texts, name)
    }

    /// The layers of its lines.
    pub fn layers(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| line.layer.as_str())
    }
}

/// Codes and values of one entity, with the line of each.
struct Entity<'a> {
    kind: &'a str,
    line: usize,
    pairs: Vec<(i32, &'a str, usize)>,
}

impl<'a> Entity<'a> {
    fn text(&self, code: i32) -> Option<&'a str> {
        self.pairs.iter().find(|pair| pair.0 == code).map(|pair| pair.1)
    }

    fn number(&self, code: i32) -> Result<Option<f64>, Problem> {
        self.pairs.iter().find(|pair| pair.0 == code).map(number).transpose()
    }

    fn point(&self, code: i32) -> Result<DVec2, Problem> {
        Ok(DVec2::new(self.number(code)?.unwrap_or(0.0), self.number(code + 10)?.unwrap_or(0.0)))
    }

    fn is_closed(&self) -> Result<bool, Problem> {
        Ok(self.number(70)?.unwrap_or(0.0) as i64 & 1 == 1)
    }
}

fn number(&(code, text, line): &(i32, &str, usize)) -> Result<f64, Problem> {
    match text.parse::<f64>() {
        Ok(number) if number.abs() <= MAX_NUMBER => Ok(number),
        _ => {
            let shown: String = text.chars().take(40).collect();
            Err(problem(line, format!("{shown:?} (code {code}): must be a number within ±{MAX_NUMBER:e}")))
        }
    }
}

pub(super) fn problem(line: usize, message: impl Into<String>) -> Problem {
    Problem { line: Some(line), message: message.into(), ..Problem::default() }
}

/// Reads a file.
pub(super) fn read(bytes: &[u8]) -> Result<Drawing, Problem> {
    if bytes.starts_with(b"AutoCAD Binary DXF") {
        return Err(problem(1, "is a binary DXF file: text is read; save it as text"));
    }
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader {
        polyline: None,
        drawing: Drawing::default(),
        block: None,
        loose: Block::default(),
        section: String::new(),
        inserts: Vec::new(),
        points: 0,
    };
    let mut lines = text.lines().enumerate().map(|(k, line)| (k + 1, line.trim()));
    let mut entity: Option<Entity> = None;
    while let Some((line, code)) = lines.next() {
        let Ok(code) = code.parse::<i32>() else {
            // Empty lines at the end are no pair.
            if code.is_empty() && lines.all(|(_, rest)| rest.is_empty()) {
                break;
            }
            let shown: String = code.chars().take(40).collect();
            let message = format!(
                "{shown:?} must be a group code, a whole number: a DXF file has codes and values in turn"
            );
            return Err(problem(line, message));
        };
        let Some((line, value)) = lines.next() else {
            return Err(problem(line, "the file ends after a group code, without its value"));
        };
        if code == 0 {
            if let Some(whole) = entity.take() {
                reader.add(&whole)?;
            }
            entity = Some(Entity { kind: value, line, pairs: Vec::new() });
        } else if let Some(entity) = &mut entity {
            entity.pairs.push((code, value, line));
        }
    }
    if let Some(whole) = entity {
        reader.add(&whole)?;
    }
    reader.finish()
}

struct Reader {
    drawing: Drawing,
    section: String,
    /// The block that is open.
    block: Option<Block>,
    /// What is outside of blocks.
    loose: Block,
    /// A polyline whose vertices follow.
    polyline: Option<Polyline>,
    /// Blocks by name, and where they are put.
    inserts: Vec<(String, DAffine2)>,
    points: usize,
}

impl Reader {
    fn add(&mut self, entity: &Entity) -> Result<(), Problem> {
        match (entity.kind, self.section.as_str()) {
            ("SECTION", _) => {
                self.section = entity.text(2).unwrap_or_default().to_ascii_uppercase();
                if self.section == "HEADER" {
                    self.header(entity);
                }
            }
            ("ENDSEC" | "EOF", _) => {
                self.close_polyline();
                self.section.clear();
            }
            ("BLOCK", "BLOCKS") => {
                self.close_block()?;
                let name = entity.text(2).unwrap_or_default().to_owned();
                self.block = Some(Block { name, line: entity.line, ..Block::default() });
            }
            ("ENDBLK", "BLOCKS") => self.close_block()?,
            ("INSERT", "ENTITIES") => {
                let scale = |code| Ok(entity.number(code)?.unwrap_or(1.0));
                let scale = DVec2::new(scale(41)?, scale(42)?);
                let turn = entity.number(50)?.unwrap_or(0.0).to_radians();
                let place = DAffine2::from_scale_angle_translation(scale, turn, entity.point(10)?);
                self.inserts.push((entity.text(2).unwrap_or_default().to_owned(), place));
            }
            (_, "BLOCKS" | "ENTITIES") => self.draw(entity)?,
            _ => {}
        }
        Ok(())
    }

    /// Variables: a name with code 9, its value after it.
    fn header(&mut self, entity: &Entity) {
        for pair in entity.pairs.windows(2) {
            if let ([(9, name, _), (_, value, _)], true) = (pair, true)
                && let Ok(value) = value.parse()
            {
                self.drawing.header.insert((*name).to_owned(), value);
            }
        }
    }

    fn draw(&mut self, entity: &Entity) -> Result<(), Problem> {
        let layer = entity.text(8).unwrap_or("0").to_owned();
        let line = entity.line;
        if !matches!(entity.kind, "VERTEX" | "SEQEND") {
            self.close_polyline();
        }
        let place = self.block.as_mut().unwrap_or(&mut self.loose);
        let mut count = 1;
        match entity.kind {
            "POLYLINE" => {
                let is_closed = entity.is_closed()?;
                self.polyline = Some(Polyline { layer, line, is_closed, ..Polyline::default() });
            }
            "VERTEX" => {
                if let Some(polyline) = &mut self.polyline {
                    polyline.points.push(entity.point(10)?);
                    polyline.bulges.push(entity.number(42)?.unwrap_or(0.0));
                }
            }
            "SEQEND" => self.close_polyline(),
            "LWPOLYLINE" => {
                let is_closed = entity.is_closed()?;
                let mut own = Polyline { layer, line, is_closed, ..Polyline::default() };
                for pair in &entity.pairs {
                    match pair.0 {
                        10 => {
                            own.points.push(DVec2::new(number(pair)?, 0.0));
                            own.bulges.push(0.0);
                        }
                        20 => own.points.last_mut().map_or(Ok(()), |p| number(pair).map(|y| p.y = y))?,
                        42 => own.bulges.last_mut().map_or(Ok(()), |b| number(pair).map(|own| *b = own))?,
                        _ => {}
                    }
                }
                count = own.points.len();
                place.lines.push(own.rounded());
            }
            "LINE" => {
                let points = vec![entity.point(10)?, entity.point(11)?];
                place.lines.push(Polyline { layer, line, bulges: vec![0.0; 2], points, is_closed: false });
            }
            "POINT" => place.points.push((layer, entity.point(10)?)),
            "TEXT" | "MTEXT" => {
                let text = entity.text(1).unwrap_or_default().to_owned();
                if self.section == "ENTITIES" {
                    self.drawing.texts.push(text)
                } else {
                    place.texts.push(text)
                }
            }
            "ARC" | "CIRCLE" | "ELLIPSE" | "SPLINE" if layer == "1" => {
                place.unread.get_or_insert((entity.kind.to_owned(), line));
            }
            _ => {}
        }
        self.points += count;
        if self.points > MAX_POINTS {
            return Err(problem(line, format!("the file draws more than {MAX_POINTS} points")));
        }
        Ok(())
    }

    fn close_polyline(&mut self) {
        if let Some(polyline) = self.polyline.take() {
            self.block.as_mut().unwrap_or(&mut self.loose).lines.push(polyline.rounded());
        }
    }

    fn close_block(&mut self) -> Result<(), Problem> {
        self.close_polyline();
        if let Some(block) = self.block.take() {
            if self.drawing.blocks.len() == MAX_BLOCKS {
                return Err(problem(block.line, format!("the file has more than {MAX_BLOCKS} blocks")));
            }
            self.drawing.blocks.push(block);
        }
        Ok(())
    }

    /// Puts blocks where they are inserted; lines outside of blocks are a piece each.
    fn finish(mut self) -> Result<Drawing, Problem> {
        self.close_block()?;
        let mut places = BTreeMap::new();
        for (name, place) in self.inserts {
            places.entry(name).or_insert(place);
        }
        for block in &mut self.drawing.blocks {
            block.place = places.get(&block.name).copied();
            let Some(place) = block.place else { continue };
            for line in &mut block.lines {
                line.points.iter_mut().for_each(|p| *p = place.transform_point2(*p));
            }
            block.points.iter_mut().for_each(|(_, p)| *p = place.transform_point2(*p));
        }
        let has_outline = |block: &Block| block.lines.iter().any(|line| line.layer == "1");
        if !self.drawing.blocks.iter().any(has_outline) {
            let loops = self.loose.lines.into_iter().filter(|line| line.is_closed && line.layer == "1");
            for (number, line) in loops.take(MAX_BLOCKS).enumerate() {
                let name = format!("piece-{}", number + 1);
                let points = self.loose.points.clone();
                let start = line.line;
                self.drawing.blocks.push(Block {
                    name,
                    line: start,
                    lines: vec![line],
                    points,
                    ..Block::default()
                });
            }
        }
        Ok(self.drawing)
    }
}

impl Polyline {
    /// The same with arcs as straight parts, and closed if it ends where it begins.
    fn rounded(mut self) -> Self {
        if self.points.len() > 3 && self.points.first() == self.points.last() {
            self.points.pop();
            self.is_closed = true;
        }
        if self.bulges.iter().all(|&bulge| bulge == 0.0) {
            return self;
        }
        let count = self.points.len();
        let mut points = Vec::new();
        for (k, &from) in self.points.iter().enumerate() {
            points.push(from);
            let bulge = self.bulges[k];
            if bulge == 0.0 || k + 1 == count && !self.is_closed {
                continue;
            }
            let to = self.points[(k + 1) % count];
            // The bulge is the tangent of a quarter of the arc's angle, to the right of the way if positive.
            let angle = 4.0 * bulge.atan();
            let parts = (angle.abs() / std::f64::consts::TAU * PARTS_OF_A_CIRCLE).ceil().clamp(1.0, 64.0);
            let middle = 0.5 * (from + to);
            let center = middle + (to - from).perp() * (0.5 / (0.5 * angle).tan());
            for part in 1..parts as usize {
                let turn = DVec2::from_angle(angle * part as f64 / parts);
                points.push(center + turn.rotate(from - center));
            }
        }
        self.points = points;
        self
    }
}
