//! The tables at the end of a crate file: tokens, strings, fields, sets of fields, paths and specs.

use std::{
    collections::HashMap,
    io::{self, Seek, Write},
};

use super::{
    coding::{pack_integers, store_in_lz4},
    file::File,
};

/// Kind of a spec.
#[derive(Clone, Copy, Debug)]
pub enum SpecKind {
    Attribute = 1,
    Prim = 6,
    Root = 7,
}

/// End of a set of fields.
const END_OF_SET: u32 = u32::MAX;

/// A node of the tree of prims and attributes.
#[derive(Debug, Default)]
struct Node {
    /// Token of its name.
    name: u32,
    is_attribute: bool,
    children: Vec<usize>,
}

/// All tables; returned numbers are indices into them.
#[derive(Debug)]
pub struct Tables {
    tokens: Vec<String>,
    token_places: HashMap<String, u32>,
    strings: Vec<u32>,
    /// Token of the name, and the value.
    fields: Vec<(u32, u64)>,
    sets: Vec<u32>,
    nodes: Vec<Node>,
    /// Path, first field of its set, kind.
    specs: Vec<[u32; 3]>,
}

impl Tables {
    /// Tables with only the root.
    pub fn new() -> Self {
        let mut tables = Self {
            tokens: Vec::new(),
            token_places: HashMap::new(),
            strings: Vec::new(),
            fields: Vec::new(),
            sets: Vec::new(),
            nodes: vec![Node::default()],
            specs: Vec::new(),
        };
        // Names of attributes are written as negative token indices, so no name may have index 0.
        tables.token("");
        tables
    }

    /// The index of a token.
    pub fn token(&mut self, text: &str) -> u32 {
        if let Some(&place) = self.token_places.get(text) {
            return place;
        }
        let place = self.tokens.len() as u32;
        self.tokens.push(text.into());
        self.token_places.insert(text.into(), place);
        place
    }

    /// The index of a string.
    pub fn string(&mut self, text: &str) -> u32 {
        let token = self.token(text);
        let place = self.strings.iter().position(|&known| known == token).unwrap_or_else(|| {
            self.strings.push(token);
            self.strings.len() - 1
        });
        place as u32
    }

    /// The path of a prim or attribute named `name` inside `parent`.
    pub fn path(&mut self, parent: usize, name: &str, is_attribute: bool) -> usize {
        let node = Node { name: self.token(name), is_attribute, children: Vec::new() };
        self.nodes.push(node);
        let place = self.nodes.len() - 1;
        self.nodes[parent].children.push(place);
        place
    }

    /// Adds the spec of a path: fields are given by name tokens and values.
    pub fn spec(&mut self, path: usize, kind: SpecKind, fields: &[(u32, u64)]) {
        self.specs.push([path as u32, self.sets.len() as u32, kind as u32]);
        for field in fields {
            self.sets.push(self.fields.len() as u32);
            self.fields.push(*field);
        }
        self.sets.push(END_OF_SET);
    }

    /// Writes all tables and, last, their offsets.
    pub fn write<W: Write + Seek>(&self, file: &mut File<W>) -> io::Result<()> {
        let sections: [(&str, Vec<u8>); 6] = [
            ("TOKENS", self.write_tokens()),
            ("STRINGS", self.write_strings()),
            ("FIELDS", self.write_fields()),
            ("FIELDSETS", [count(self.sets.len()), packed(&pack_integers(&self.sets))].concat()),
            ("PATHS", self.write_paths()),
            ("SPECS", self.write_specs()),
        ];
        let mut contents = count(sections.len());
        for (name, bytes) in &sections {
            let mut padded = [0; 16];
            padded[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(padded);
            contents.extend(file.position().to_le_bytes());
            contents.extend(count(bytes.len()));
            file.put(bytes)?;
        }
        let start = file.position();
        file.put(&contents)?;
        file.finish(start)
    }

    fn write_tokens(&self) -> Vec<u8> {
        let mut text = Vec::new();
        for token in &self.tokens {
            text.extend(token.as_bytes());
            text.push(0);
        }
        [count(self.tokens.len()), count(text.len()), packed(&text)].concat()
    }

    fn write_strings(&self) -> Vec<u8> {
        let tokens: Vec<u8> = self.strings.iter().flat_map(|token| token.to_le_bytes()).collect();
        [count(self.strings.len()), tokens].concat()
    }

    fn write_fields(&self) -> Vec<u8> {
        let names: Vec<u32> = self.fields.iter().map(|field| field.0).collect();
        let values: Vec<u8> = self.fields.iter().flat_map(|field| field.1.to_le_bytes()).collect();
        [count(self.fields.len()), packed(&pack_integers(&names)), packed(&values)].concat()
    }

    fn write_specs(&self) -> Vec<u8> {
        let column = |k: usize| {
            let column: Vec<u32> = self.specs.iter().map(|spec| spec[k]).collect();
            packed(&pack_integers(&column))
        };
        [count(self.specs.len()), column(0), column(1), column(2)].concat()
    }

    /// Paths in depth-first order, each with its place, its name and a jump: how many entries on its next
    /// sibling is, where it has children too; 0: its sibling is next; −1: it has children and no sibling; −2:
    /// neither.
    fn write_paths(&self) -> Vec<u8> {
        let mut columns = [Vec::new(), Vec::new(), Vec::new()];
        self.walk(0, false, &mut columns);
        let [places, names, jumps] = columns.map(|column| packed(&pack_integers(&column)));
        [count(self.nodes.len()), count(self.nodes.len()), places, names, jumps].concat()
    }

    fn walk(&self, place: usize, has_sibling: bool, columns: &mut [Vec<u32>; 3]) {
        let node = &self.nodes[place];
        let row = columns[0].len();
        columns[0].push(place as u32);
        columns[1].push(if node.is_attribute { node.name.wrapping_neg() } else { node.name });
        columns[2].push(0);
        for (k, &child) in node.children.iter().enumerate() {
            self.walk(child, k + 1 < node.children.len(), columns);
        }
        columns[2][row] = match (node.children.is_empty(), has_sibling) {
            (false, true) => (columns[0].len() - row) as u32,
            (true, true) => 0,
            (false, false) => (-1_i32) as u32,
            (true, false) => (-2_i32) as u32,
        };
    }
}

fn count(n: usize) -> Vec<u8> {
    (n as u64).to_le_bytes().to_vec()
}

/// Bytes in LZ4, after their packed length.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let stored = store_in_lz4(bytes);
    [count(stored.len()), stored].concat()
}
