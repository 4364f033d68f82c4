//! What happened in a frame, as dictionaries.

use pyo3::{prelude::*, types::PyDict};
use taut::{BrokenSpring, Element, Event};

use crate::simulation::{Body, Obstacle};

/// An event as a dictionary: its kind, and what it is about.
pub fn described(py: Python<'_>, event: Event) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    let kind = |kind: &str| dict.set_item("kind", kind);
    match event {
        Event::LimitNotMet { body, element, excess } => {
            kind("limit-not-met")?;
            dict.set_item("body", Body::of(body))?;
            let (what, element) = match element {
                Element::Triangle(number) => ("triangle", vec![number]),
                Element::Tetrahedron(number) => ("tetrahedron", vec![number]),
                Element::Edge(edge) => ("edge", edge.to_vec()),
                Element::Hinge(edge) => ("hinge", edge.to_vec()),
                _ => ("element", Vec::new()),
            };
            dict.set_item(what, element)?;
            dict.set_item("excess", excess)?;
        }
        Event::Tangled { body, vertex, edges } => {
            kind("tangled")?;
            dict.set_item("body", Body::of(body))?;
            dict.set_item("vertex", vertex)?;
            dict.set_item("edges", edges)?;
        }
        Event::SeamClosed { seam, bodies } => {
            kind("seam-closed")?;
            dict.set_item("seam", seam)?;
            dict.set_item("bodies", bodies.map(Body::of))?;
        }
        Event::Rescued { body, vertex } => {
            kind("rescued")?;
            dict.set_item("body", Body::of(body))?;
            dict.set_item("vertex", vertex)?;
        }
        Event::SpringBroke { spring } => {
            kind("spring-broke")?;
            match spring {
                BrokenSpring::Segment { body, segment } => {
                    dict.set_item("body", Body::of(body))?;
                    dict.set_item("segment", segment)?;
                }
                BrokenSpring::Spring { name, number } => {
                    dict.set_item("spring", name)?;
                    dict.set_item("number", number)?;
                }
                _ => {}
            }
        }
        Event::Torn { body, vertices } => {
            kind("torn")?;
            dict.set_item("body", Body::of(body))?;
            dict.set_item("vertices", (vertices.start, vertices.end))?;
        }
        Event::RigidBodyRescued { body } => {
            kind("rescued")?;
            dict.set_item("obstacle", Obstacle::of_rigid(body))?;
        }
        _ => kind("other")?,
    }
    Ok(dict)
}
