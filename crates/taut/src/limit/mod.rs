//! Limits and how they are enforced.
