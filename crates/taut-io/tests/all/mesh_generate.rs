//! Generators as scene files name them.

use taut::mesh::generate::{Diagonals, Generator};

fn read(text: &str) -> Result<Generator, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn every_shape_has_a_name() {
    let grid = read(r#"{"grid": {"size": [1.0, 2.0], "cells": [3, 4]}}"#).unwrap();
    let expected =
        Generator::Grid { size: [1.0, 2.0], cells: [3, 4], diagonals: Diagonals::Alternating, seed: 0 };
    assert_eq!(grid, expected);
    for text in [
        r#"{"grid": {"size": [1, 1], "cells": [3, 4], "diagonals": "jittered", "seed": 9}}"#,
        r#"{"grid": {"size": [1, 1], "cells": [3, 4], "diagonals": "delaunay", "seed": 9}}"#,
        r#"{"ell": {"size": [1, 2], "cells": [8, 9], "seed": 9}}"#,
        r#"{"disc": {"radius": 1, "rings": 3}}"#,
        r#"{"cylinder": {"radius": 1, "height": 2, "segments": [8, 4]}}"#,
        r#"{"sphere": {"radius": 1, "frequency": 3}}"#,
        r#"{"torus": {"major": 1, "minor": 0.3, "segments": [8, 6]}}"#,
        r#"{"figure": {"edge": 0.02}}"#,
        r#"{"shirt": {"edge": 0.02}}"#,
        r#"{"cape": {"edge": 0.02}}"#,
        r#"{"curtain": {"size": [1, 1], "cells": [8, 8], "pleats": 2, "depth": 0.1}}"#,
        r#"{"capsule": {"radius": 1, "height": 2, "segments": [8, 4]}}"#,
        r#"{"box": {"size": [1, 2, 3], "cells": [1, 2, 3]}}"#,
    ] {
        let generator = read(text).unwrap();
        assert!(generator.generate().is_ok(), "{text}");
        let again = serde_json::to_string(&generator).unwrap();
        assert_eq!(read(&again), Ok(generator), "{again}");
    }
}

#[test]
fn unknown_keys_are_refused() {
    assert!(read(r#"{"disc": {"radius": 1, "rings": 3, "colour": 1}}"#).unwrap_err().contains("`colour`"));
    assert!(read(r#"{"cone": {"radius": 1}}"#).unwrap_err().contains("`cone`"));
    assert!(read(r#"{"disc": {"radius": 1}}"#).unwrap_err().contains("`rings`"));
}
