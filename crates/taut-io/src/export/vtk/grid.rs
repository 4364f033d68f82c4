//! One unstructured grid as a file: XML that describes the arrays, followed by their bytes.

use glam::Vec3;

use crate::export::sink::{put_floats, put_indices, put_vectors};

/// Kinds of cells.
const POLY_LINE: u8 = 4;
const TRIANGLE: u8 = 5;
const TETRAHEDRON: u8 = 10;

/// A grid and its arrays.
pub(super) struct Grid {
    points: usize,
    cells: usize,
    geometry: String,
    point_data: String,
    cell_data: String,
    /// Every array with its length before it.
    data: Vec<u8>,
}

impl Grid {
    /// Triangles over `positions`.
    pub fn of_triangles(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let ends: Vec<u32> = (1..=triangles.len() as u32).map(|t| 3 * t).collect();
        Self::new(positions, triangles.as_flattened(), &ends, TRIANGLE)
    }

    /// Tetrahedra over `positions`.
    pub fn of_tetrahedra(positions: &[Vec3], tetrahedra: &[[u32; 4]]) -> Self {
        let ends: Vec<u32> = (1..=tetrahedra.len() as u32).map(|t| 4 * t).collect();
        Self::new(positions, tetrahedra.as_flattened(), &ends, TETRAHEDRON)
    }

    /// Polylines over `positions`, whose vertices follow each other.
    pub fn of_curves(positions: &[Vec3], counts: &[u32]) -> Self {
        let mut end = 0;
        let add = |count: &u32| {
            end += count;
            end
        };
        let ends: Vec<u32> = counts.iter().map(add).collect();
        let vertices: Vec<u32> = (0..ends.last().copied().unwrap_or(0)).collect();
        Self::new(positions, &vertices, &ends, POLY_LINE)
    }

    fn new(positions: &[Vec3], vertices: &[u32], ends: &[u32], kind: u8) -> Self {
        let mut grid = Self {
            points: positions.len(),
            cells: ends.len(),
            geometry: String::new(),
            point_data: String::new(),
            cell_data: String::new(),
            data: Vec::new(),
        };
        let points = grid.array("Points", "Float32", 3, |bytes| put_vectors(bytes, positions));
        let vertices = grid.array("connectivity", "Int32", 1, |bytes| put_indices(bytes, vertices));
        let offsets = grid.array("offsets", "Int32", 1, |bytes| put_indices(bytes, ends));
        let types = grid.array("types", "UInt8", 1, |bytes| bytes.resize(bytes.len() + ends.len(), kind));
        grid.geometry = format!("<Points>\n{points}</Points>\n<Cells>\n{vertices}{offsets}{types}</Cells>\n");
        grid
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// Adds a vector for each vertex.
    pub fn add_point_vectors(&mut self, name: &str, vectors: &[Vec3]) {
        let array = self.array(name, "Float32", 3, |bytes| put_vectors(bytes, vectors));
        self.point_data += &array;
    }

    /// Adds a number for each vertex.
    pub fn add_point_numbers(&mut self, name: &str, numbers: impl Iterator<Item = f32>) {
        let array = self.array(name, "Float32", 1, |bytes| put_floats(bytes, numbers));
        self.point_data += &array;
    }

    /// Adds a vector for each cell.
    pub fn add_cell_vectors(&mut self, name: &str, vectors: &[Vec3]) {
        let array = self.array(name, "Float32", 3, |bytes| put_vectors(bytes, vectors));
        self.cell_data += &array;
    }

    /// Adds a number for each cell.
    pub fn add_cell_numbers(&mut self, name: &str, numbers: impl Iterator<Item = f32>) {
        let array = self.array(name, "Float32", 1, |bytes| put_floats(bytes, numbers));
        self.cell_data += &array;
    }

    /// Appends an array written by `put`; returns its XML description.
    fn array(&mut self, name: &str, kind: &str, components: u32, put: impl FnOnce(&mut Vec<u8>)) -> String {
        let offset = self.data.len();
        self.data.extend_from_slice(&[0; 8]);
        put(&mut self.data);
        let length = (self.data.len() - offset - 8) as u64;
        self.data[offset..offset + 8].copy_from_slice(&length.to_le_bytes());
        // One component is the default, and readers make plain arrays of it.
        let components =
            if components == 1 { String::new() } else { format!(" NumberOfComponents=\"{components}\"") };
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\"{components} format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }

    /// The bytes of the file.
    pub fn encode(&self) -> Vec<u8> {
        let Self { points, cells, geometry, point_data, cell_data, data } = self;
        let head = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
             byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n\
             <Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n{geometry}\
             <PointData>\n{point_data}</PointData>\n<CellData>\n{cell_data}</CellData>\n</Piece>\n</UnstructuredGrid>\n\
             <AppendedData encoding=\"raw\">\n_"
        );
        [head.as_bytes(), data, b"\n</AppendedData>\n</VTKFile>\n"].concat()
    }
}

/// Text as the value of an attribute in XML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            _ => escaped.push(c),
        }
    }
    escaped
}
