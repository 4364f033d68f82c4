//! Levels of soft solids, for schemes that limit coarser levels too.

use crate::{
    Description,
    body::{
        BodyTables, PinnedVertex,
        levels::{depth, own_pins, places},
        solids,
    },
    limit::{
        aim::Aim,
        levels::{
            parts::{Bare, Leveled, Parts},
            solid::SolidLimits,
        },
    },
    mesh::tetrahedra::TetrahedronMesh,
};

/// Coarse levels of all solids with limits, if the scheme asks for them.
pub(crate) fn levels(
    description: &Description,
    bodies: &[BodyTables],
    pins: &[PinnedVertex],
) -> Vec<Leveled<SolidLimits, 4>> {
    let Some(depth) = depth(&description.solver) else { return Vec::new() };
    let aim = Aim::new(description);
    solids(description, bodies)
        .filter(|(solid, _)| solid.strain.is_some())
        .map(|(solid, body)| {
            let place = places(body);
            let mesh = TetrahedronMesh {
                positions: body.order().iter().map(|&v| solid.mesh.positions[v as usize]).collect(),
                tetrahedra: solid.mesh.tetrahedra.iter().map(|t| t.map(|v| place[v as usize])).collect(),
            };
            Leveled::new(Parts {
                vertices: body.vertices.clone(),
                bare: Bare::of_solid(&mesh, &solid.levels[..solid.levels.len().min(depth)]),
                rest: mesh.positions,
                masses: body.order().iter().map(|&v| body.masses[v as usize]).collect(),
                pins: own_pins(body, pins),
                limits: SolidLimits(aim.inside(solid.strain.range())),
            })
        })
        .collect()
}
