//! Where prims are: `xformOp`s in the order of `xformOpOrder`, with pivots, inverses and resets.

use glam::{DMat4, DVec3};

use super::{
    super::fault::{Fault, fault},
    stage::{Stage, When, rotation},
};

/// Maximum operations of one prim.
const MAX_OPERATIONS: usize = 1024;
const RESET: &str = "!resetXformStack!";
const INVERT: &str = "!invert!";

impl Stage<'_> {
    /// Where prim `index` puts what is in it, relative to its parent; and whether all above it is ignored.
    fn local(&self, index: usize, when: When) -> Result<(DMat4, bool), Fault> {
        let order = self.words(index, "xformOpOrder", When::Still)?;
        let wrong = |message: String| Err(self.at(fault(message), index, Some("xformOpOrder")));
        if order.len() > MAX_OPERATIONS {
            return wrong(format!("has {} operations: at most {MAX_OPERATIONS} are read", order.len()));
        }
        let (mut placed, mut resets) = (DMat4::IDENTITY, false);
        for name in &order {
            if name == RESET {
                (placed, resets) = (DMat4::IDENTITY, true);
                continue;
            }
            let (attribute, inverted) = match name.strip_prefix(INVERT) {
                Some(attribute) => (attribute, true),
                None => (name.as_str(), false),
            };
            // An operation without value does nothing.
            let Some(numbers) = self.numbers(index, attribute, when)? else { continue };
            let operation = attribute.strip_prefix("xformOp:").unwrap_or_default();
            let kind = operation.split(':').next().unwrap_or_default();
            let Some(matrix) = operation_matrix(kind, &numbers) else {
                return wrong(format!(
                    "{attribute} with {} numbers is not a transform: must be translate, scale, rotateXYZ, orient, transform or the like",
                    numbers.len()
                ));
            };
            if !inverted {
                placed *= matrix;
            } else if matrix.determinant() != 0.0 {
                placed *= matrix.inverse();
            } else {
                return wrong(format!("{name} has no inverse: a scale is 0"));
            }
        }
        Ok((placed, resets))
    }

    /// Whether a prim or one above it moves.
    pub fn is_carried(&self, index: usize) -> bool {
        self.chain(index).any(|prim| {
            let attributes = &self.layer.prims[prim].attributes;
            attributes.iter().any(|(name, own)| name.starts_with("xformOp:") && own.samples.len() > 1)
        })
    }

    /// The prim and those that it is in, from inside out.
    pub fn chain(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(index), |&prim| self.layer.prims[prim].parent)
    }

    /// Where the points of prim `index` are \[m\].
    pub fn placement(&self, index: usize, when: When) -> Result<DMat4, Fault> {
        let mut placed = DMat4::IDENTITY;
        for prim in self.chain(index) {
            let (local, resets) = self.local(prim, when)?;
            placed = local * placed;
            if resets {
                break;
            }
        }
        Ok(self.units * placed)
    }
}

/// The matrix of one operation, if its kind is known and has this many numbers.
fn operation_matrix(kind: &str, numbers: &[f64]) -> Option<DMat4> {
    let axis = |letter: u8| match letter {
        b'X' => Some(DVec3::X),
        b'Y' => Some(DVec3::Y),
        b'Z' => Some(DVec3::Z),
        _ => None,
    };
    let turn = |letter: u8, degrees: f64| Some(DMat4::from_axis_angle(axis(letter)?, degrees.to_radians()));
    Some(match (kind, numbers) {
        ("translate", &[x, y, z]) => DMat4::from_translation(DVec3::new(x, y, z)),
        ("scale", &[x, y, z]) => DMat4::from_scale(DVec3::new(x, y, z)),
        ("orient", q @ [_, _, _, _]) => DMat4::from_quat(rotation(q)),
        // Rows in the file are columns here: USD multiplies row vectors.
        ("transform", numbers) => DMat4::from_cols_array(numbers.try_into().ok()?),
        (_, &[value]) => {
            let (operation, letter) = kind.split_at_checked(kind.len().checked_sub(1)?)?;
            let letter = letter.as_bytes()[0];
            match operation {
                "rotate" => turn(letter, value)?,
                "translate" => DMat4::from_translation(axis(letter)? * value),
                "scale" => DMat4::from_scale(DVec3::ONE + axis(letter)? * (value - 1.0)),
                _ => return None,
            }
        }
        (_, &[x, y, z]) => {
            let order: [u8; 3] = kind.strip_prefix("rotate")?.as_bytes().try_into().ok()?;
            let mut sorted = order;
            sorted.sort_unstable();
            if &sorted != b"XYZ" {
                return None;
            }
            // The first letter is applied first; values are about x, y and z in any order.
            let mut matrix = DMat4::IDENTITY;
            for letter in order {
                matrix = turn(letter, [x, y, z][usize::from(letter - b'X')])? * matrix;
            }
            matrix
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_letter_turns_first() {
        let at =
            |kind: &str, numbers: &[f64]| operation_matrix(kind, numbers).unwrap().transform_point3(DVec3::X);
        assert!(at("rotateXYZ", &[90.0, 0.0, 90.0]).distance(DVec3::Y) < 1e-12);
        assert!(at("rotateZYX", &[90.0, 0.0, 90.0]).distance(DVec3::Z) < 1e-12);
        assert!(at("rotateZ", &[90.0]).distance(DVec3::Y) < 1e-12);
        assert!(at("orient", &[0.5_f64.sqrt(), 0.0, 0.0, 0.5_f64.sqrt()]).distance(DVec3::Y) < 1e-12);
        assert_eq!(at("scaleX", &[3.0]), DVec3::X * 3.0);
        assert_eq!(at("translateZ", &[3.0]), DVec3::new(1.0, 0.0, 3.0));
        for (kind, count) in
            [("rotateXXY", 3), ("é", 1), ("", 1), ("rotate", 3), ("transform", 15), ("spin", 2)]
        {
            assert!(operation_matrix(kind, &vec![1.0; count]).is_none(), "{kind}");
        }
    }
}
