//! Packages (`.usdz`): ZIP archives without compression, whose first file is the layer.

use super::super::fault::{Fault, fault};

/// The bytes of the first layer.
pub(super) fn first_layer(bytes: &[u8]) -> Result<&[u8], Fault> {
    let mut rest = bytes;
    let broken = || fault("is a truncated package");
    while let Some(member) = rest.strip_prefix(b"PK\x03\x04") {
        let (head, after) = member.split_at_checked(26).ok_or_else(broken)?;
        let short = |at: usize| usize::from(u16::from_le_bytes([head[at], head[at + 1]]));
        let (name, after) = after.split_at_checked(short(22)).ok_or_else(broken)?;
        let (_, after) = after.split_at_checked(short(24)).ok_or_else(broken)?;
        let shown = String::from_utf8_lossy(name);
        if short(4) != 0 {
            return Err(fault(format!("{shown:?} in the package is compressed: a usdz must not be")));
        }
        let length = u32::from_le_bytes([head[14], head[15], head[16], head[17]]) as usize;
        if short(2) & 8 != 0 && length == 0 {
            return Err(fault(format!("{shown:?} in the package has no length in its header")));
        }
        let (content, after) = after.split_at_checked(length).ok_or_else(broken)?;
        let ending = shown.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        if ["usd", "usda", "usdc"].contains(&ending.as_str()) {
            return Ok(content);
        }
        rest = after;
    }
    Err(fault("is a package without a layer: a usdz must begin with a .usd, .usda or .usdc file"))
}
