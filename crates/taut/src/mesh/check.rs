//! Finds what would go wrong with a mesh before it does, and names the element.
