//! Binary layers, the crate files of USD (`.usdc`).
//!
//! A crate file has values anywhere, and tables at its end: tokens (all texts, each once), strings (indices
//! of tokens), fields (name and value), sets of fields, paths (a tree, in depth-first order), and specs
//! (path, set of fields, kind). [`tables`] unpacks them, [`value`] decodes a value reference, [`packing`] has
//! LZ4 and integers. Versions 0.4 to 0.13 are read; older files have other tables, which no program has
//! written since 2018.

mod packing;
mod tables;
mod value;

use std::collections::HashMap;

use super::{
    super::fault::{Fault, fault},
    layer::{Encoding, Layer, Prim, Specifier, Stored, Value, is_kept},
};

pub(super) use tables::Crate;
use tables::{ATTRIBUTE, PRIM, Path, ROOT};

/// Reads the prims of a crate file.
pub(super) fn parse(bytes: &[u8]) -> Result<Layer<'_>, Fault> {
    let mut layer = Layer::new(Encoding::Text(&[]));
    let tables = Crate::open(bytes)?;
    let prims = add_prims(&tables, &mut layer)?;
    add_attributes(&tables, &mut layer, &prims)?;
    layer.encoding = Encoding::Binary(tables);
    Ok(layer)
}

/// Adds all prims in the order of their parents' lists, and returns the prim of each path.
fn add_prims(tables: &Crate, layer: &mut Layer) -> Result<HashMap<u32, usize>, Fault> {
    let mut specs = HashMap::new();
    let mut root = None;
    for spec in &tables.specs {
        match spec.kind {
            PRIM => drop(specs.insert(spec.path, spec.set)),
            ROOT => root = Some(*spec),
            _ => {}
        }
    }
    let Some(root) = root else { return Err(fault("has no root: a crate file must have one")) };
    let mut children = HashMap::new();
    for (index, path) in tables.paths.iter().enumerate() {
        if let Some(Path { parent, token, is_property: false }) = *path {
            children.insert((parent, token), index as u32);
        }
    }
    let mut prims = HashMap::new();
    let mut stack = vec![(root.path, root.set, None::<usize>)];
    let mut is_root = true;
    while let Some((path, set, parent)) = stack.pop() {
        let index = if std::mem::take(&mut is_root) {
            None
        } else {
            let token = tables.paths.get(path as usize).copied().flatten().map_or(0, |path| path.token);
            let prim = Prim { name: tables.token(token)?.to_owned(), parent, ..Prim::default() };
            Some(layer.add(prim)?)
        };
        if let Some(index) = index
            && prims.insert(path, index).is_some()
        {
            return Err(
                fault("is reached twice: prims must form a tree").at(format!("prim {}", layer.path(index)))
            );
        }
        let mut names = Vec::new();
        for field in tables.fields_of(set) {
            let (name, reference) = field?;
            if name == "primChildren" {
                names = tables.token_indices(reference)?;
                continue;
            }
            let Some(index) = index else {
                layer.set_metadata(name, Stored::Binary(reference));
                continue;
            };
            set_prim_field(tables, &mut layer.prims[index], name, reference)?;
        }
        for token in names.into_iter().rev() {
            let child = children.get(&(path, token));
            if let Some((&child, &set)) = child.and_then(|child| Some((child, specs.get(child)?))) {
                stack.push((child, set, index));
            }
        }
    }
    Ok(prims)
}

fn set_prim_field(tables: &Crate, prim: &mut Prim, name: &str, reference: u64) -> Result<(), Fault> {
    match name {
        "specifier" => {
            prim.specifier = match tables.value(reference)? {
                Value::Numbers(numbers) if numbers == [1.0] => Specifier::Over,
                Value::Numbers(numbers) if numbers == [2.0] => Specifier::Class,
                _ => Specifier::Def,
            };
        }
        "typeName" => {
            if let Value::Words(mut words) = tables.value(reference)? {
                prim.schema = words.pop().unwrap_or_default();
            }
        }
        "active" => prim.is_inactive = tables.value(reference)? == Value::Numbers(vec![0.0]),
        "references" => prim.refers = Some("references"),
        "payload" => prim.refers = Some("payload"),
        "inheritPaths" => prim.refers = Some("inherits"),
        "specializes" => prim.refers = Some("specializes"),
        "variantSetNames" => prim.refers = Some("variants"),
        _ => {}
    }
    Ok(())
}

fn add_attributes(tables: &Crate, layer: &mut Layer, prims: &HashMap<u32, usize>) -> Result<(), Fault> {
    for spec in tables.specs.iter().filter(|spec| spec.kind == ATTRIBUTE) {
        let path = tables.paths.get(spec.path as usize).copied().flatten();
        let Some(Path { parent, token, is_property: true }) = path else { continue };
        let Some(&prim) = prims.get(&parent) else { continue };
        let name = tables.token(token)?;
        let named = |found: Fault, layer: &Layer| found.within(name).at(format!("prim {}", layer.path(prim)));
        let mut kind = String::new();
        let (mut default, mut samples, mut interpolation) = (None, None, None);
        for field in tables.fields_of(spec.set) {
            let (field, reference) = field?;
            let word = || match tables.value(reference) {
                Ok(Value::Words(words)) => words.into_iter().next(),
                _ => None,
            };
            match field {
                "typeName" => kind = word().unwrap_or_default(),
                "interpolation" => interpolation = word(),
                "default" => default = Some(Stored::Binary(reference)),
                "timeSamples" => samples = Some(reference),
                _ => {}
            }
        }
        if !is_kept(name, &kind) {
            continue;
        }
        let samples = match samples {
            Some(reference) => tables.samples(reference, |count| layer.count_samples(count)),
            None => Ok(Vec::new()),
        };
        let samples = samples.map_err(|found| named(found, layer))?;
        let attribute = layer.attribute(prim, name)?;
        (attribute.kind, attribute.default) = (kind, default);
        (attribute.samples, attribute.interpolation) = (samples, interpolation);
    }
    Ok(())
}
