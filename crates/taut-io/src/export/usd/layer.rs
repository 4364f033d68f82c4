//! Elements of a USD layer, and the interface of a layer writer.
//!
//! A stage is written to a [`Layer`] once, from its root down: prims, their attributes, time samples. The
//! binary file takes the samples of all attributes of a prim frame by frame; text needs them attribute by
//! attribute. So samples are requested through a function, and neither keeps them.

use std::{io, ops::RangeInclusive};

use super::value::Value;
use crate::export::ExportError;

/// Metadata: names of fields with their values.
pub type Fields = Vec<(&'static str, Value)>;

/// A defined prim.
#[derive(Debug)]
pub struct Prim {
    /// Its name, an identifier unique among siblings.
    pub name: String,
    /// Its schema, such as `Mesh`.
    pub schema: &'static str,
    /// Its metadata.
    pub fields: Fields,
}

/// An attribute of a prim.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Its USD type, such as `point3f[]`.
    pub kind: &'static str,
    /// Whether it is constant over time.
    pub uniform: bool,
    /// Interpolation of its elements (`vertex`, `faceVarying`, `constant`).
    pub interpolation: Option<&'static str>,
}

impl Attribute {
    /// An attribute that may vary over time.
    pub const fn new(name: &'static str, kind: &'static str) -> Self {
        Self { name, kind, uniform: false, interpolation: None }
    }

    /// An attribute that is constant over time.
    pub const fn uniform(name: &'static str, kind: &'static str) -> Self {
        Self { uniform: true, ..Self::new(name, kind) }
    }

    /// The same with an interpolation.
    pub const fn per(self, interpolation: &'static str) -> Self {
        Self { interpolation: Some(interpolation), ..self }
    }
}

/// Why a layer was not written.
#[derive(Debug)]
pub enum Failure {
    /// The source failed, or the export was interrupted.
    Source(ExportError),
    /// A write error.
    Write(io::Error),
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        Self::Source(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

/// Returns the values of attributes at a frame: all of them, or only the one with the given index (the others
/// are ignored). `None` means that the value is unchanged since the previous frame.
pub type Source<'a> = dyn FnMut(u32, Option<usize>) -> Result<Vec<Option<Value>>, Failure> + 'a;

/// A writer of a stage.
pub trait Layer {
    /// Begins a prim inside the innermost open one.
    ///
    /// # Errors
    /// A write error.
    fn begin(&mut self, prim: Prim) -> io::Result<()>;

    /// Gives the prim an attribute with one value for all times.
    ///
    /// # Errors
    /// A write error.
    fn value(&mut self, attribute: &Attribute, value: &Value) -> io::Result<()>;

    /// Gives the prim attributes with a sample for each of `frames`, where frame 1 is time 1.
    ///
    /// # Errors
    /// A write error, or an error of `source`.
    fn samples(
        &mut self,
        attributes: &[Attribute],
        frames: RangeInclusive<u32>,
        source: &mut Source<'_>,
    ) -> Result<(), Failure>;

    /// Ends the prim.
    ///
    /// # Errors
    /// A write error.
    fn end(&mut self) -> io::Result<()>;

    /// Finishes the file.
    ///
    /// # Errors
    /// A write error.
    fn finish(&mut self) -> io::Result<()>;
}
