//! The bytes of buffers: in the container, in the JSON as base64, or in a file beside it. Each is read once,
//! when needed.

use std::{borrow::Cow, collections::HashMap, path::Path};

use super::{
    super::{
        fault::{Fault, fault},
        file, text,
    },
    document::Document,
};

pub(super) struct Buffers<'a> {
    document: &'a Document,
    chunk: Option<&'a [u8]>,
    folder: Option<&'a Path>,
    loaded: HashMap<usize, Cow<'a, [u8]>>,
}

impl<'a> Buffers<'a> {
    pub fn new(document: &'a Document, chunk: Option<&'a [u8]>, folder: Option<&'a Path>) -> Self {
        Self { document, chunk, folder, loaded: HashMap::new() }
    }

    /// The bytes of a buffer view and its stride, which is absent if elements follow each other without gap.
    pub fn view(&mut self, index: usize) -> Result<(&[u8], Option<u64>), Fault> {
        let count = self.document.buffer_views.len();
        let name = format!("bufferView {index} (from 0)");
        let Some(view) = self.document.buffer_views.get(index) else {
            return Err(fault(format!("{name} does not exist: the file has {count}")));
        };
        let buffer = self.buffer(view.buffer)?;
        let end = view.byte_offset.checked_add(view.byte_length).filter(|&end| end <= buffer.len() as u64);
        let Some(end) = end else {
            let message = format!(
                "{name}: byteOffset {} and byteLength {} reach past the end of its buffer of {} bytes",
                view.byte_offset,
                view.byte_length,
                buffer.len()
            );
            return Err(fault(message));
        };
        Ok((&buffer[view.byte_offset as usize..end as usize], view.byte_stride))
    }

    fn buffer(&mut self, index: usize) -> Result<&[u8], Fault> {
        if !self.loaded.contains_key(&index) {
            let bytes = self.load(index)?;
            self.loaded.insert(index, bytes);
        }
        Ok(self.loaded.get(&index).map(|bytes| bytes.as_ref()).unwrap_or_default())
    }

    fn load(&self, index: usize) -> Result<Cow<'a, [u8]>, Fault> {
        let name = format!("buffer {index} (from 0)");
        let Some(buffer) = self.document.buffers.get(index) else {
            return Err(fault(format!(
                "{name} does not exist: the file has {}",
                self.document.buffers.len()
            )));
        };
        let mut bytes = match (&buffer.uri, self.chunk) {
            (None, Some(chunk)) if index == 0 => Cow::Borrowed(chunk),
            (None, _) => return Err(fault(format!("{name} has no uri, and is not the first of a GLB file"))),
            (Some(uri), _) => match uri.strip_prefix("data:") {
                Some(data) => Cow::Owned(decode_data(data).map_err(|why| fault(format!("{name}: {why}")))?),
                None => Cow::Owned(self.load_file(uri, &name)?),
            },
        };
        if (bytes.len() as u64) < buffer.byte_length {
            let message = format!("{name} has {} bytes: byteLength is {}", bytes.len(), buffer.byte_length);
            return Err(fault(message));
        }
        // A container pads its chunk; bytes past byteLength do not belong to the buffer.
        let length = buffer.byte_length as usize;
        match &mut bytes {
            Cow::Borrowed(slice) => *slice = &slice[..length],
            Cow::Owned(vec) => vec.truncate(length),
        }
        Ok(bytes)
    }

    fn load_file(&self, uri: &str, name: &str) -> Result<Vec<u8>, Fault> {
        let shown = text::shown(uri.as_bytes());
        let path = decode_percent(uri);
        let path = Path::new(&path);
        // A mesh may refer to files in its folder, but not elsewhere or on the network.
        if uri.contains("://") || path.is_absolute() {
            return Err(fault(format!("{name} is at {shown}: must be a path relative to the file")));
        }
        let Some(folder) = self.folder else {
            return Err(fault(format!("{name} is in the file {shown}, which is not available")));
        };
        let path = folder.join(path);
        file::read(&path).map_err(|found| found.in_file(path).at(name))
    }
}

/// The bytes of a data URI after `data:`.
fn decode_data(data: &str) -> Result<Vec<u8>, String> {
    let (kind, payload) = data.split_once(',').ok_or("a data URI without a comma")?;
    if !kind.ends_with(";base64") {
        return Err("a data URI that is not base64".into());
    }
    let mut bytes = Vec::with_capacity(payload.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for character in payload.trim_end_matches('=').bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            // Both alphabets of RFC 4648 are met.
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return Err(format!("{:?} is not a base64 character", char::from(character))),
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Ok(bytes)
}

/// A path from a URI: `%20` is a space.
fn decode_percent(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|&b| char::from(b).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_every_length() {
        for (text, bytes) in
            [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("Zm9vYg", b"foob")]
        {
            assert_eq!(decode_data(&format!("application/octet-stream;base64,{text}")).unwrap(), bytes);
        }
        assert!(decode_data(";base64,Z*==").unwrap_err().contains("'*'"));
        assert!(decode_data("text/plain,hello").unwrap_err().contains("base64"));
    }

    #[test]
    fn percent_signs() {
        assert_eq!(decode_percent("a%20b%c3%a9.bin"), "a bé.bin");
        assert_eq!(decode_percent("100%.bin%2"), "100%.bin%2");
    }
}
