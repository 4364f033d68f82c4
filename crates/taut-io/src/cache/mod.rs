//! Expensive results, cached between runs in the user's cache folder.
//!
//! The folder is `TAUT_CACHE` if that is set (empty: no cache), otherwise the system's cache folder. Nothing
//! in it is required: a file that is missing, damaged or from another version is computed again, and a folder
//! that cannot be written costs a warning and the time to recompute.

pub mod fit;

use std::{ffi::OsString, path::PathBuf};

/// The user's cache folder, which may not exist yet; `None` if caching is disabled or the folder is unknown.
pub fn folder() -> Option<PathBuf> {
    folder_from(|name| std::env::var_os(name))
}

fn folder_from(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(folder) = variable("TAUT_CACHE") {
        return (!folder.is_empty()).then(|| folder.into());
    }
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        path("LOCALAPPDATA").map(|folder| folder.join("taut").join("cache"))
    } else if cfg!(target_os = "macos") {
        path("HOME").map(|home| home.join("Library/Caches/taut"))
    } else {
        let xdg = path("XDG_CACHE_HOME").or_else(|| path("HOME").map(|home| home.join(".cache")));
        xdg.map(|folder| folder.join("taut"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> Option<PathBuf> {
        folder_from(|name| variables.iter().find(|v| v.0 == name).map(|v| v.1.into()))
    }

    #[test]
    fn what_the_user_asks_for_comes_first() {
        assert_eq!(found(&[("TAUT_CACHE", "here"), ("HOME", "/home/u")]), Some("here".into()));
        assert_eq!(found(&[("TAUT_CACHE", ""), ("HOME", "/home/u")]), None);
        assert_eq!(found(&[]), None);
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn then_where_the_system_keeps_caches() {
        let both = [("XDG_CACHE_HOME", "/x"), ("HOME", "/home/u")];
        assert_eq!(found(&both), Some("/x/taut".into()));
        assert_eq!(found(&both[1..]), Some("/home/u/.cache/taut".into()));
        // The specification says to ignore relative paths.
        assert_eq!(
            found(&[("XDG_CACHE_HOME", "x"), ("HOME", "/home/u")]),
            Some("/home/u/.cache/taut".into())
        );
    }
}
