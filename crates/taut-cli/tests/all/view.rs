//! `taut view` as a user starts and ends it; what the studio does meanwhile is tested in its own crate.
#![cfg(unix)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
};

fn taut(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taut"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn it_prints_its_address_serves_and_ends_with_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "<!doctype html>a page").unwrap();
    let page = folder.path().to_str().unwrap();
    let mut child = taut(&["view", "star", "--no-open", "--port", "0", "--page", page]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix('/').unwrap().to_owned();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("a page"), "{answer}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn to_listen_elsewhere_is_warned_of_and_takes_a_token() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "page").unwrap();
    let page = folder.path().to_str().unwrap();
    let args = ["view", "star", "--no-open", "--port", "0", "--listen", "0.0.0.0", "--page", page];
    let mut child = taut(&args).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("/?token="), "{line}");
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("warning:") && said.contains("token"), "{said}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_cannot_be_shown_is_told() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "page").unwrap();
    let page = folder.path().to_str().unwrap();
    for (args, words) in [
        (vec!["view", "no-such-scene", "--page", page], "no-such-scene"),
        (vec!["view", page, "--page", page], "neither a scene file nor a run folder"),
        (vec!["view", "star", "--page", "/nowhere"], "no page in /nowhere"),
        (vec!["view", "star", "--page", page, "--set", "cloth.sheet.strain.max=wide"], "strain.max"),
        (vec!["view", "star", "--listen", "everywhere", "--page", page], "--listen"),
    ] {
        let output = taut(&args).arg("--no-open").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(words), "{args:?}: {said}");
    }
}
