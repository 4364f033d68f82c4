//! Reads Rust just far enough to measure it: which lines have a comment, and where functions begin and end.
//! Knows comments, strings, characters and lifetimes, so that a brace in any of them is no brace.

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    /// Line of its `fn`, the first being 1.
    pub line: usize,
    /// Lines from there to its closing brace.
    pub lines: usize,
}

/// What was measured in a file.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Lines without those of test modules.
    pub lines: usize,
    /// Functions outside test modules.
    pub functions: Vec<Function>,
    /// Lines with a comment that are longer than was asked, with their lengths in characters.
    pub long_comments: Vec<(usize, usize)>,
}

/// A piece of a file, with the line on which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Mark(char),
}

/// Measures a file; comments may have `columns` characters a line.
pub fn measure(text: &str, columns: usize) -> Measured {
    let (tokens, commented) = tokens(text);
    let lengths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
    let long = |&line: &usize| lengths.get(line - 1).copied().filter(|&length| length > columns);
    let long_comments = commented.iter().filter_map(|line| Some((*line, long(line)?))).collect();
    let tests = test_modules(&tokens);
    let in_tests = |line: usize| tests.iter().any(|&(first, last)| (first..=last).contains(&line));
    let mut functions = functions(&tokens);
    functions.retain(|function| !in_tests(function.line));
    let lines = (1..=lengths.len()).filter(|&line| !in_tests(line)).count();
    Measured { lines, functions, long_comments }
}

/// Tokens with their lines, and lines on which a comment begins or goes on.
fn tokens(text: &str) -> (Vec<(usize, Token)>, Vec<usize>) {
    let chars: Vec<char> = text.chars().collect();
    let (mut tokens, mut commented) = (Vec::new(), Vec::new());
    let (mut at, mut line) = (0, 1);
    let peek = |at: usize| chars.get(at).copied().unwrap_or('\0');
    while at < chars.len() {
        let begun = at;
        let first_line = line;
        let c = chars[at];
        match c {
            '/' if peek(at + 1) == '/' => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
                commented.push(line);
            }
            '/' if peek(at + 1) == '*' => {
                let mut depth = 0;
                while at < chars.len() {
                    match (chars[at], peek(at + 1)) {
                        ('/', '*') => (depth, at) = (depth + 1, at + 2),
                        ('*', '/') => (depth, at) = (depth - 1, at + 2),
                        _ => at += 1,
                    }
                    if depth == 0 {
                        break;
                    }
                }
                commented.extend(line..=line + newlines(&chars[begun..at.min(chars.len())]));
            }
            '"' => at = end_of_string(&chars, at),
            '\'' => at = end_of_character(&chars, at),
            _ if c.is_alphanumeric() || c == '_' => {
                while at < chars.len() && (chars[at].is_alphanumeric() || chars[at] == '_') {
                    at += 1;
                }
                let word: String = chars[begun..at].iter().collect();
                let hashes = chars[at..].iter().take_while(|&&c| c == '#').count();
                if matches!(word.as_str(), "r" | "br" | "cr") && peek(at + hashes) == '"' {
                    at = end_of_raw_string(&chars, at + hashes + 1, hashes);
                } else {
                    tokens.push((first_line, Token::Word(word)));
                }
            }
            _ => {
                at += 1;
                if !c.is_whitespace() {
                    tokens.push((first_line, Token::Mark(c)));
                }
            }
        }
        line += newlines(&chars[begun..at.min(chars.len())]);
    }
    (tokens, commented)
}

fn newlines(chars: &[char]) -> usize {
    chars.iter().filter(|&&c| c == '\n').count()
}

/// Behind the string whose first quote is at `at`.
fn end_of_string(chars: &[char], mut at: usize) -> usize {
    at += 1;
    while at < chars.len() && chars[at] != '"' {
        at += if chars[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// Behind the raw string of so many hashes whose text begins at `at`.
fn end_of_raw_string(chars: &[char], mut at: usize, hashes: usize) -> usize {
    while at < chars.len() {
        let closes = chars[at] == '"' && chars[at + 1..].iter().take_while(|&&c| c == '#').count() >= hashes;
        at += 1;
        if closes {
            return at + hashes;
        }
    }
    at
}

/// Behind the character at `at`, or behind the quote of a lifetime.
fn end_of_character(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            let mut end = at + 3;
            while end < chars.len() && chars[end] != '\'' {
                end += 1;
            }
            end + 1
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}

/// First and last line of modules that only tests have, their attribute among them.
fn test_modules(tokens: &[(usize, Token)]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mark = |at: usize, c: char| tokens.get(at).is_some_and(|(_, token)| *token == Token::Mark(c));
    let word = |at: usize, w: &str| matches!(tokens.get(at), Some((_, Token::Word(word))) if word == w);
    for at in 0..tokens.len() {
        let attribute = mark(at, '#')
            && mark(at + 1, '[')
            && word(at + 2, "cfg")
            && mark(at + 3, '(')
            && word(at + 4, "test")
            && mark(at + 5, ')')
            && mark(at + 6, ']');
        if attribute && word(at + 7, "mod") && mark(at + 9, '{') {
            found.push((tokens[at].0, tokens[closing(tokens, at + 9)].0));
        }
    }
    found
}

/// All functions that have a body.
fn functions(tokens: &[(usize, Token)]) -> Vec<Function> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let (line, Token::Word(word)) = &tokens[at] else { continue };
        // A name follows, unless it is the type of a function.
        let Some((_, Token::Word(name))) = tokens.get(at + 1) else { continue };
        if word != "fn" {
            continue;
        }
        let mut depth = 0i32;
        for body in at + 2..tokens.len() {
            match tokens[body].1 {
                Token::Mark('(' | '[') => depth += 1,
                Token::Mark(')' | ']') => depth -= 1,
                Token::Mark(';') if depth == 0 => break,
                Token::Mark('{') if depth == 0 => {
                    let last = tokens[closing(tokens, body)].0;
                    found.push(Function { name: name.clone(), line: *line, lines: last - line + 1 });
                    break;
                }
                _ => {}
            }
        }
    }
    found
}

/// The brace that closes the one at `open`.
fn closing(tokens: &[(usize, Token)], open: usize) -> usize {
    let mut depth = 0;
    for (at, (_, token)) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"//! A comment with a { brace.
fn short() -> char { '{' }
/* fn none() {
*/
fn long<'a>(f: fn(u8) -> [u8; 2], text: &'a str) -> &'a str
where
    u8: Copy,
{
    let s = "fn inner() { \" {"; // 30 characters, as it is
    let r = r#"} " {"#;
    fn nested() {
        let q = '\'';
    }
    text
}
trait T { fn declared(&self); fn with_body(&self) { } }

#[cfg(test)]
mod tests {
    fn in_tests() {
    }
}
"##;

    #[test]
    fn functions_are_found_with_their_lines() {
        let found = measure(TEXT, 25);
        let expected = [("short", 2, 1), ("long", 5, 11), ("nested", 11, 3), ("with_body", 16, 1)];
        let expected = expected.map(|(name, line, lines)| Function { name: name.into(), line, lines });
        assert_eq!(found.functions, expected);
        assert_eq!(found.lines, 17);
    }

    #[test]
    fn long_comments_are_found_in_characters() {
        let lines: Vec<usize> = measure(TEXT, 25).long_comments.iter().map(|found| found.0).collect();
        assert_eq!(lines, [1, 9]);
        assert_eq!(measure("// ééé", 6).long_comments, []);
        assert_eq!(measure("// ééé", 5).long_comments, [(1, 6)]);
        assert_eq!(measure("let a = \"// no comment at all\";", 5).long_comments, []);
        assert_eq!(measure("/* a\nlong one */", 5).long_comments, [(2, 11)]);
    }
}
