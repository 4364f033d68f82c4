//! The bodies of a recording, from their rest meshes and what the scene says of them.

use std::sync::Arc;

use taut::Description;

use super::{Body, Connections, Geometry, ShownLines, ShownStrands, SoftBody, complain};
use crate::{Problem, mesh, output::layout::Layout};

/// Opens the body `name`, whose connectivity changes at the frames `changes`.
pub(super) fn body(
    files: &Layout,
    description: &Description,
    changes: Vec<u32>,
    name: &str,
) -> Result<Body, Problem> {
    let path = files.rest(name);
    let at_rest = |problem: Problem| Problem { key: Some(format!("rest mesh of {name}")), ..problem };
    let place = description.bodies.iter().position(|body| body.name() == name);
    let described = place.map(|place| &description.bodies[place]);
    let solid = described.and_then(taut::Body::as_solid);
    if solid.is_some() || files.rest_tetrahedra(name).is_file() {
        let (soft, shown) = SoftBody::open(files, name).map_err(at_rest)?;
        let skin = solid.and_then(|solid| solid.skin.as_ref());
        let uvs = skin.and_then(|skin| skin.uvs.clone()).filter(|uvs| uvs.len() == shown.triangles.len());
        let connections = Arc::new(Connections::Triangles(shown.triangles));
        return Ok(Body {
            name: name.into(),
            rest: Geometry { positions: shown.positions, connections },
            uvs,
            changes,
            described: place.filter(|_| solid.is_some()),
            soft: Some(soft),
            midpoints: None,
            lines: None,
            strands: None,
            radii: None,
        });
    }
    if let Some(particles) = described.and_then(taut::Body::as_particles) {
        let (positions, counts) = mesh::read_strands(&path).map_err(at_rest)?;
        let lines = ShownLines::new(&particles.mesh);
        if lines.counts != counts {
            return Err(at_rest(complain(&path, "has other strands than the particles of the scene")));
        }
        let connections = Arc::new(Connections::Curves(counts));
        // Particles without a radius are drawn with a width that suits the picture.
        let radius = Some(particles.radius).filter(|radius| *radius > 0.0);
        return Ok(Body {
            name: name.into(),
            radii: radius.map(|radius| vec![radius; positions.len()]),
            rest: Geometry { positions, connections },
            uvs: None,
            changes,
            described: place,
            soft: None,
            midpoints: None,
            lines: Some(lines),
            strands: None,
        });
    }
    let (positions, connections) = if mesh::holds_strands(&path) {
        let (positions, counts) = mesh::read_strands(&path).map_err(at_rest)?;
        (positions, Connections::Curves(counts))
    } else {
        let mesh = mesh::read(&path).map_err(at_rest)?;
        (mesh.positions, Connections::Triangles(mesh.triangles))
    };
    let cloth = described.and_then(taut::Body::as_cloth);
    let hair = described.and_then(taut::Body::as_hair);
    let fits = hair.is_some_and(|hair| connections == Connections::Curves(hair.groom.counts.clone()));
    let hair = hair.filter(|_| fits);
    let midpoints = cloth.and_then(|cloth| cloth.midpoints.clone());
    if let Some(midpoints) = midpoints.as_ref().filter(|m| m.shown.triangles != connections.triangles()) {
        let count = midpoints.shown.triangles.len();
        let message = format!("has other triangles than the {count} of the developable cloth of the scene");
        return Err(at_rest(complain(&path, message)));
    }
    let uvs = cloth
        .and_then(|cloth| midpoints.as_ref().map_or(&cloth.mesh, |m| &m.shown).uvs.clone())
        .filter(|uvs| uvs.len() == connections.triangles().len());
    if let Some((hair, strands)) = hair.and_then(|hair| Some((hair, ShownStrands::new(hair)?))) {
        let connections = Arc::new(Connections::Curves(strands.counts().to_vec()));
        return Ok(Body {
            name: name.into(),
            radii: Some(strands.radii(hair)),
            rest: Geometry { positions: strands.rest().to_vec(), connections },
            uvs: None,
            changes,
            described: place,
            soft: None,
            midpoints: None,
            lines: None,
            strands: Some(strands),
        });
    }
    Ok(Body {
        name: name.into(),
        radii: hair.map(|hair| (0..positions.len()).map(|v| hair.radius(v)).collect()),
        rest: Geometry { positions, connections: Arc::new(connections) },
        uvs,
        changes,
        described: place.filter(|_| cloth.is_some() || hair.is_some()),
        soft: None,
        midpoints,
        lines: None,
        strands: None,
    })
}
