//! Reads numbers from buffers: every component type, with stride, and sparse.

use std::{collections::HashMap, rc::Rc};

use super::{
    super::fault::{Fault, fault},
    buffers::Buffers,
    document::{Accessor, Document},
};

/// Maximum elements of an accessor without data, which is zero: nothing in the file bounds its size.
const MAX_ZEROS: u64 = 1_000_000;

/// Type of a component.
#[derive(Clone, Copy, PartialEq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn parse(code: u32) -> Result<Self, Fault> {
        Ok(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return Err(fault(format!("componentType {code}: must be 5120 to 5123, 5125 or 5126"))),
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The first component in `b`, which is long enough.
    fn float(self, b: &[u8], normalized: bool) -> f32 {
        let (value, most) = match self {
            Self::I8 => (f32::from(b[0] as i8), f32::from(i8::MAX)),
            Self::U8 => (f32::from(b[0]), f32::from(u8::MAX)),
            Self::I16 => (f32::from(i16::from_le_bytes([b[0], b[1]])), f32::from(i16::MAX)),
            Self::U16 => (f32::from(u16::from_le_bytes([b[0], b[1]])), f32::from(u16::MAX)),
            Self::U32 => (u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32, u32::MAX as f32),
            Self::F32 => return f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        };
        if normalized { (value / most).max(-1.0) } else { value }
    }

    fn index(self, b: &[u8]) -> u32 {
        match self {
            Self::U8 => u32::from(b[0]),
            Self::U16 => u32::from(u16::from_le_bytes([b[0], b[1]])),
            _ => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        }
    }

    fn is_index(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32)
    }
}

/// Accessors of a document, each read once: primitives often share them.
pub(super) struct Accessors<'a> {
    document: &'a Document,
    buffers: Buffers<'a>,
    floats: HashMap<(usize, usize), Rc<Vec<f32>>>,
    indices: HashMap<usize, Rc<Vec<u32>>>,
}

impl<'a> Accessors<'a> {
    pub fn new(document: &'a Document, buffers: Buffers<'a>) -> Self {
        Self { document, buffers, floats: HashMap::new(), indices: HashMap::new() }
    }

    /// Whether an accessor has nothing to read from.
    pub fn is_without_data(&self, index: usize) -> bool {
        self.document.accessors.get(index).is_some_and(|a| a.buffer_view.is_none() && a.sparse.is_none())
    }

    /// Vectors of `width` numbers, one after the other.
    pub fn floats(&mut self, index: usize, width: usize) -> Result<Rc<Vec<f32>>, Fault> {
        if let Some(known) = self.floats.get(&(index, width)) {
            return Ok(known.clone());
        }
        let read = |accessor: &Accessor, buffers: &mut Buffers| {
            let component = Component::parse(accessor.component_type)?;
            let normalized = accessor.normalized;
            read(accessor, width, component, buffers, |bytes| component.float(bytes, normalized))
        };
        let values = Rc::new(self.named(index, shape_of(width), read)?);
        self.floats.insert((index, width), values.clone());
        Ok(values)
    }

    /// Indices of vertices.
    pub fn indices(&mut self, index: usize) -> Result<Rc<Vec<u32>>, Fault> {
        if let Some(known) = self.indices.get(&index) {
            return Ok(known.clone());
        }
        let read = |accessor: &Accessor, buffers: &mut Buffers| {
            let component = Component::parse(accessor.component_type)?;
            if !component.is_index() {
                let code = accessor.component_type;
                return Err(fault(format!("componentType {code}: indices must be 5121, 5123 or 5125")));
            }
            read(accessor, 1, component, buffers, |bytes| component.index(bytes))
        };
        let values = Rc::new(self.named(index, "SCALAR", read)?);
        self.indices.insert(index, values.clone());
        Ok(values)
    }

    /// Reads accessor `index` if it exists and has the right shape; its name is put before what is wrong.
    fn named<T>(
        &mut self,
        index: usize,
        shape: &str,
        read: impl Fn(&Accessor, &mut Buffers) -> Result<Vec<T>, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let count = self.document.accessors.len();
        let Some(accessor) = self.document.accessors.get(index) else {
            return Err(fault(format!("accessor {index} (from 0) does not exist: the file has {count}")));
        };
        if accessor.shape != shape {
            let message =
                format!("accessor {index} (from 0) has type {:?}: must be {shape:?}", accessor.shape);
            return Err(fault(message));
        }
        read(accessor, &mut self.buffers).map_err(|found| found.within(&format!("accessor {index} (from 0)")))
    }
}

/// What an accessor of elements of `width` numbers is called.
fn shape_of(width: usize) -> &'static str {
    match width {
        1 => "SCALAR",
        2 => "VEC2",
        3 => "VEC3",
        4 => "VEC4",
        _ => "MAT4",
    }
}

/// All values of an accessor, with sparse ones put in.
fn read<T: Clone + Default>(
    accessor: &Accessor,
    width: usize,
    component: Component,
    buffers: &mut Buffers,
    convert: impl Fn(&[u8]) -> T,
) -> Result<Vec<T>, Fault> {
    let mut values = match accessor.buffer_view {
        Some(view) => {
            let place = Place { view, offset: accessor.byte_offset, count: accessor.count, width, component };
            place.read(buffers, &convert)?
        }
        None if accessor.count <= MAX_ZEROS => vec![T::default(); accessor.count as usize * width],
        None => {
            let message = format!("has no bufferView, and count {}: at most {MAX_ZEROS}", accessor.count);
            return Err(fault(message));
        }
    };
    let Some(sparse) = &accessor.sparse else { return Ok(values) };
    let index_type = Component::parse(sparse.indices.component_type)?;
    if !index_type.is_index() {
        return Err(fault("sparse.indices.componentType must be 5121, 5123 or 5125"));
    }
    let (count, indices) = (sparse.count, &sparse.indices);
    let place = Place {
        view: indices.buffer_view,
        offset: indices.byte_offset,
        count,
        width: 1,
        component: index_type,
    };
    let targets = place.read(buffers, |bytes| index_type.index(bytes))?;
    let place =
        Place { view: sparse.values.buffer_view, offset: sparse.values.byte_offset, count, width, component };
    let replacements = place.read(buffers, &convert)?;
    for (&target, replacement) in targets.iter().zip(replacements.chunks_exact(width)) {
        let at = target as usize * width;
        let Some(slot) = values.get_mut(at..at + width) else {
            let message =
                format!("sparse index {target}: it has {} elements, counted from 0", accessor.count);
            return Err(fault(message));
        };
        slot.clone_from_slice(replacement);
    }
    Ok(values)
}

/// Where elements are.
struct Place {
    view: usize,
    offset: u64,
    count: u64,
    width: usize,
    component: Component,
}

impl Place {
    /// Reads all components in order. What is allocated is no larger than what the view holds.
    fn read<T>(&self, buffers: &mut Buffers, convert: impl Fn(&[u8]) -> T) -> Result<Vec<T>, Fault> {
        let (bytes, stride) = buffers.view(self.view)?;
        if self.count == 0 {
            return Ok(Vec::new());
        }
        let size = (self.component.size() * self.width) as u64;
        let stride = stride.unwrap_or(size);
        if stride < size {
            return Err(fault(format!("byteStride {stride}: its elements have {size} bytes")));
        }
        let end = stride
            .checked_mul(self.count - 1)
            .and_then(|last| last.checked_add(size)?.checked_add(self.offset))
            .filter(|&end| end <= bytes.len() as u64);
        if end.is_none() {
            let message = format!(
                "{} elements of {size} bytes, {stride} apart from byteOffset {}, reach past the end of bufferView {} \
                 of {} bytes",
                self.count,
                self.offset,
                self.view,
                bytes.len()
            );
            return Err(fault(message));
        }
        let mut values = Vec::with_capacity(self.count as usize * self.width);
        for element in 0..self.count {
            let start = (self.offset + element * stride) as usize;
            let element = &bytes[start..start + size as usize];
            values.extend(element.chunks_exact(self.component.size()).map(&convert));
        }
        Ok(values)
    }
}
