//! `metrics.jsonl`: one line of JSON per frame, appended when the frame's positions are on disk.
//!
//! A line contains the frame's number, its time \[s\], the solver's report (`null` for frame 0), its duration
//! \[ms\] and the certificate. A killed run may leave a partial line at the end; [`scan`], which resumes,
//! drops it; [`read`], which checks, reports it.

use std::{
    fs::{File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use taut::{Certificate, FrameReport};

use super::OutputError;
use crate::Problem;

/// One line of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameLine {
    /// Number of the frame; 0 is the initial state.
    pub frame: u32,
    /// Time since the start \[s\].
    pub time: f64,
    /// Report of the solver; none for frame 0.
    pub report: Option<FrameReport>,
    /// Time to simulate the frame, without writing it \[ms\].
    pub frame_ms: f64,
    /// Certificate of the frame.
    pub certificate: Certificate,
}

/// Appends lines.
#[derive(Debug)]
pub struct MetricsWriter {
    path: PathBuf,
    file: File,
    length: u64,
}

impl MetricsWriter {
    /// Opens or creates the file `path`, and truncates it to its first `length` bytes.
    ///
    /// # Errors
    /// An I/O error.
    pub fn open(path: PathBuf, length: u64) -> Result<Self, OutputError> {
        let open = || -> io::Result<File> {
            let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            file.sync_all()?;
            Ok(file)
        };
        let file = open().map_err(OutputError::io("write", &path))?;
        Ok(Self { path, file, length })
    }

    /// Appends one line; it is on disk when this returns.
    ///
    /// # Errors
    /// An I/O error, for example a full disk; the file then ends with the previous line.
    pub fn append(&mut self, line: &FrameLine) -> Result<(), OutputError> {
        let mut text = serde_json::to_vec(line)
            .map_err(|error| OutputError::io("write", &self.path)(io::Error::other(error)))?;
        text.push(b'\n');
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            // Part of the line may be written; the first error is reported.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            OutputError::io("write", &self.path)(error)
        })?;
        self.length += text.len() as u64;
        Ok(())
    }
}

/// The complete lines of frames 0, 1, 2, … at the start of the file, each with its end offset. Reading stops
/// at the first line that is truncated, unreadable or out of order; a missing file has no lines.
///
/// # Errors
/// An I/O error.
pub fn scan(path: &Path) -> Result<Vec<(FrameLine, u64)>, OutputError> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(OutputError::io("read", path)(error)),
    };
    let mut lines = Vec::new();
    let mut end = 0;
    for text in bytes.split_inclusive(|&b| b == b'\n') {
        let whole = text.ends_with(b"\n");
        let Some(line) = serde_json::from_slice::<FrameLine>(text).ok().filter(|line| {
            whole && line.frame as usize == lines.len() && line.report.is_some() == (line.frame > 0)
        }) else {
            break;
        };
        end += text.len() as u64;
        lines.push((line, end));
    }
    Ok(lines)
}

/// All lines of the file, each parsed or a problem.
///
/// # Errors
/// A problem if the file cannot be read.
pub fn read(path: &Path) -> Result<Vec<Result<FrameLine, Problem>>, Problem> {
    let text = std::fs::read_to_string(path).map_err(|error| Problem {
        file: Some(path.into()),
        message: format!("could not be read: {error}"),
        ..Problem::default()
    })?;
    let parse = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|error| Problem {
            file: Some(path.into()),
            line: Some(index + 1),
            message: format!("is not a valid line of metrics: {error}"),
            ..Problem::default()
        })
    };
    Ok(text.lines().enumerate().map(parse).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(frame: u32) -> FrameLine {
        let report = (frame > 0).then(FrameReport::default);
        FrameLine { frame, time: f64::from(frame) / 30.0, report, ..FrameLine::default() }
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        assert!(scan(&path).unwrap().is_empty());
        let mut writer = MetricsWriter::open(path.clone(), 0).unwrap();
        (0..3).for_each(|frame| writer.append(&line(frame)).unwrap());
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let lines = scan(&path).unwrap();
        assert_eq!(lines.len(), 2, "a line without its end is torn");

        let mut writer = MetricsWriter::open(path.clone(), lines[1].1).unwrap();
        writer.append(&line(2)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    #[test]
    fn lines_out_of_order_end_the_scan_and_garbage_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        let text = [line(0), line(2)].map(|l| serde_json::to_string(&l).unwrap()).join("\n");
        std::fs::write(&path, format!("{text}\nnonsense\n")).unwrap();
        assert_eq!(scan(&path).unwrap().len(), 1);
        let lines = read(&path).unwrap();
        assert!(lines[0].is_ok() && lines[1].is_ok());
        let problem = lines[2].as_ref().unwrap_err().to_string();
        assert!(problem.contains("metrics.jsonl:3"), "{problem}");
    }

    #[test]
    fn figures_survive_the_file_to_the_last_bit() {
        let mut line = line(1);
        line.frame_ms = 0.1 + 0.2;
        line.time = 1.0 / 3.0;
        let back: FrameLine = serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap();
        assert_eq!(back, line);
    }
}
