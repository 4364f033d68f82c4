//! The help of every command, as the program prints it, for the page of commands.
//!
//! The program is in another crate, so its output is committed, and a test of taut-cli compares it with the
//! program's.

/// The page's text: one section per command, from `ask`, which runs the program with arguments and returns
/// its output.
///
/// # Errors
/// Those of `ask`.
pub fn page<E>(mut ask: impl FnMut(&[&str]) -> Result<String, E>) -> Result<String, E> {
    let top = ask(&["--help"])?;
    let mut text = section("taut", &top);
    for command in commands(&top) {
        text += &section(&format!("taut {command}"), &ask(&[&command, "--help"])?);
    }
    Ok(text)
}

fn section(title: &str, help: &str) -> String {
    // Trailing spaces of clap have no meaning, and editors remove them.
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    format!("## {title}\n\n```text\n{}\n```\n\n", lines.join("\n"))
}

/// The commands in the help of the program, without `help` itself.
fn commands(help: &str) -> Vec<String> {
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A description may continue on the next line, which is indented further.
    let names = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(String::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_for_each_command() {
        let help = "About.\n\nCommands:\n  run     Simulate  \n          a scene\n  verify  Check\n  help    This\n\nOptions:\n";
        let ask = |words: &[&str]| -> Result<String, ()> {
            Ok(if words == ["--help"] { help.into() } else { format!("{words:?}\n") })
        };
        let page = page(ask).unwrap();
        assert!(page.contains("## taut run\n\n```text\n[\"run\", \"--help\"]\n```"), "{page}");
        assert!(
            page.contains("## taut verify") && !page.contains("## taut help") && !page.contains("## taut a")
        );
    }
}
