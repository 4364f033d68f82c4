//! Faces and points of one `Mesh`.

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::{
    super::{
        fault::{Fault, fault},
        polygon::{Corner, NO_UV, Polygons},
    },
    stage::{Stage, When},
};

/// The faces of a mesh, over its own points.
pub(super) struct Surface {
    polygons: Polygons,
    uvs: Vec<Vec2>,
    is_left_handed: bool,
    /// Named parts: their points.
    pub groups: Vec<(String, Vec<u32>)>,
}

/// Triangles over points, and the texture coordinates of their corners.
type Triangles = (Vec<[u32; 3]>, Option<Vec<[Vec2; 3]>>);

impl Surface {
    /// Cuts polygons over `positions`, which are where `placement` put them.
    pub fn triangulate(&self, positions: &[Vec3], placement: DMat4) -> Triangles {
        let (mut triangles, mut uvs) = self.polygons.triangulate(positions, &self.uvs);
        // Fronts stay fronts: a mirror turns triangles over.
        if self.is_left_handed != (placement.determinant() < 0.0) {
            triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
            uvs.iter_mut().flatten().for_each(|corners| corners.swap(1, 2));
        }
        (triangles, uvs)
    }
}

impl Stage<'_> {
    /// The points of a mesh, where `placement` puts them \[m\].
    pub fn positions(&self, prim: usize, when: When, placement: DMat4) -> Result<Vec<Vec3>, Fault> {
        let wrong = |message: String| Err(self.at(fault(message), prim, Some("points")));
        let Some(numbers) = self.numbers(prim, "points", when)? else {
            let schema = &self.layer.prims[prim].schema;
            return wrong(format!("is missing: a {schema} must have points"));
        };
        let (points, rest) = numbers.as_chunks::<3>();
        if !rest.is_empty() {
            return wrong(format!("has {} numbers: must be three for each point", numbers.len()));
        }
        let mut positions = Vec::with_capacity(points.len());
        for (index, &point) in points.iter().enumerate() {
            let position = placement.transform_point3(DVec3::from(point)).as_vec3();
            if !position.is_finite() {
                return wrong(format!("point {index} (from 0) is at {position}: must be finite"));
            }
            positions.push(position);
        }
        Ok(positions)
    }

    /// Indices into a table of `count`, or all that are not negative.
    pub fn indices(
        &self,
        prim: usize,
        name: &str,
        when: When,
        count: Option<usize>,
    ) -> Result<Option<Vec<u32>>, Fault> {
        let Some(numbers) = self.numbers(prim, name, when)? else { return Ok(None) };
        let end = count.map_or(f64::from(u32::MAX), |count| count as f64);
        let outside = |number: &f64| !(0.0..end).contains(number) || number.fract() != 0.0;
        if let Some(at) = numbers.iter().position(outside) {
            let message = match count {
                Some(count) => {
                    format!("entry {at} (from 0) is {}: there are {count}, counted from 0", numbers[at])
                }
                None => format!("entry {at} (from 0) is {}: must be a number of corners", numbers[at]),
            };
            return Err(self.at(fault(message), prim, Some(name)));
        }
        Ok(Some(numbers.into_iter().map(|number| number as u32).collect()))
    }

    /// The faces of a mesh of `points` points.
    pub fn surface(&self, prim: usize, when: When, points: usize) -> Result<Surface, Fault> {
        let missing = |name: &str| self.at(fault("is missing: a Mesh must have it"), prim, Some(name));
        let corners = self.indices(prim, "faceVertexIndices", when, Some(points))?;
        let corners = corners.ok_or_else(|| missing("faceVertexIndices"))?;
        let counts = self.indices(prim, "faceVertexCounts", when, None)?;
        let counts = counts.ok_or_else(|| missing("faceVertexCounts"))?;
        let sum: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        if sum != corners.len() as u64 {
            let message = format!("add up to {sum}: faceVertexIndices has {}", corners.len());
            return Err(self.at(fault(message), prim, Some("faceVertexCounts")));
        }
        let holes = self.indices(prim, "holeIndices", when, Some(counts.len()))?.unwrap_or_default();
        let (uvs, uv_of_corner) = self.uvs(prim, when, &corners, points)?;
        let mut is_hole = vec![false; counts.len()];
        holes.iter().for_each(|&hole| is_hole[hole as usize] = true);
        let mut polygons = Polygons::default();
        let mut start = 0;
        for (face, &count) in counts.iter().enumerate() {
            let own = start..start + count as usize;
            start = own.end;
            if is_hole[face] {
                continue;
            }
            let uv = |corner: usize| uv_of_corner.get(corner).copied().unwrap_or(NO_UV);
            polygons.corners.extend(own.map(|corner| Corner { vertex: corners[corner], uv: uv(corner) }));
            let named = |found: Fault| self.at(found.within(&format!("face {face} (from 0)")), prim, None);
            polygons.close().map_err(named)?;
        }
        let is_left_handed = self.word(prim, "orientation", when)?.as_deref() == Some("leftHanded");
        let groups = self.subsets(prim, when, &corners, &counts, points)?;
        Ok(Surface { polygons, uvs, is_left_handed, groups })
    }

    /// Texture coordinates, and the index of each corner's; none if there are none.
    fn uvs(
        &self,
        prim: usize,
        when: When,
        corners: &[u32],
        points: usize,
    ) -> Result<(Vec<Vec2>, Vec<u32>), Fault> {
        let attributes = &self.layer.prims[prim].attributes;
        let is_table = |name: &&String| name.starts_with("primvars:") && !name.ends_with(":indices");
        // `st` by convention; some programs keep names of their own.
        let name = Some("primvars:st").filter(|name| attributes.contains_key(*name));
        let Some(name) = name.or_else(|| {
            attributes
                .keys()
                .filter(is_table)
                .find(|name| attributes[*name].kind.starts_with("texCoord2"))
                .map(String::as_str)
        }) else {
            return Ok(Default::default());
        };
        let wrong = |message: String| Err(self.at(fault(message), prim, Some(name)));
        let Some(numbers) = self.numbers(prim, name, when)? else { return Ok(Default::default()) };
        let (pairs, rest) = numbers.as_chunks::<2>();
        if !rest.is_empty() {
            return wrong(format!("has {} numbers: must be two for each coordinate", numbers.len()));
        }
        let uvs: Vec<Vec2> = pairs.iter().map(|&[u, v]| Vec2::new(u as f32, v as f32)).collect();
        let list = format!("{name}:indices");
        let indices = self.indices(prim, &list, when, Some(uvs.len()))?;
        let count = indices.as_ref().map_or(uvs.len(), Vec::len);
        let interpolation = attributes[name].interpolation.as_deref().unwrap_or("constant");
        let expected = match interpolation {
            "faceVarying" => corners.len(),
            "vertex" | "varying" => points,
            // One for the whole mesh, or for each face: no map of its surface.
            _ => return Ok(Default::default()),
        };
        if count != expected {
            return wrong(format!(
                "has {count} values with interpolation {interpolation}: must have {expected}"
            ));
        }
        let own = |k: usize| indices.as_ref().map_or(k as u32, |indices| indices[k]);
        let of_corner = match interpolation {
            "faceVarying" => (0..corners.len()).map(own).collect(),
            _ => corners.iter().map(|&vertex| own(vertex as usize)).collect(),
        };
        Ok((uvs, of_corner))
    }

    /// The named parts of a mesh: its `GeomSubset`s of faces or points.
    fn subsets(
        &self,
        mesh: usize,
        when: When,
        corners: &[u32],
        counts: &[u32],
        points: usize,
    ) -> Result<Vec<(String, Vec<u32>)>, Fault> {
        let mut groups = Vec::new();
        let prims = &self.layer.prims;
        // Children follow their parent, before any prim outside of it.
        let inside = (mesh + 1..prims.len()).take_while(|&index| prims[index].parent >= Some(mesh));
        let subsets =
            inside.filter(|&index| prims[index].parent == Some(mesh) && prims[index].schema == "GeomSubset");
        let starts: Vec<usize> = counts
            .iter()
            .scan(0, |sum, &count| {
                *sum += count as usize;
                Some(*sum - count as usize)
            })
            .collect();
        for subset in subsets {
            let members = match self.word(subset, "elementType", when)?.as_deref() {
                None | Some("face") => {
                    let faces =
                        self.indices(subset, "indices", when, Some(counts.len()))?.unwrap_or_default();
                    let own = |&face: &u32| {
                        let start = starts[face as usize];
                        &corners[start..start + counts[face as usize] as usize]
                    };
                    let mut members: Vec<u32> = faces.iter().flat_map(own).copied().collect();
                    members.sort_unstable();
                    members.dedup();
                    members
                }
                Some("point") => self.indices(subset, "indices", when, Some(points))?.unwrap_or_default(),
                _ => continue,
            };
            groups.push((prims[subset].name.clone(), members));
        }
        Ok(groups)
    }
}
