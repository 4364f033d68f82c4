//! What must not be possible: other sites, other hosts, other folders, too much of anything.

use std::{
    io::{Read, Write},
    time::{Duration, Instant},
};

use serde_json::json;
use taut_studio::{Options, Studio, page::Page};
use tungstenite::Message;

use crate::client::{Client, PATIENCE, ask, get, open_sheet, tcp, try_connect};

/// A sheet, and a viewer that gets frames.
fn watched() -> (tempfile::TempDir, Studio, Client) {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let mut client = Client::new(&studio);
    client.frames(2);
    (folder, studio, client)
}

/// The simulation goes on, and not at a crawl.
fn goes_on(client: &mut Client) {
    let from = client.frames(1)[0].number;
    let begun = Instant::now();
    let last = client.frame("ten more frames", |f| f.number >= from + 10);
    assert!(last.number >= from + 10 && begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn other_origins_are_refused() {
    let (_folder, studio, mut client) = watched();
    let (address, host) = (studio.address(), studio.address().to_string());
    let port = address.port();
    for origin in [
        Some("http://evil.example".to_owned()),
        Some("null".into()),
        Some(format!("https://{host}")),
        Some(format!("http://localhost:{port}")),
        Some(format!("http://{host}.evil.example")),
        Some(format!("http://127.0.0.1:{}", port.wrapping_add(1))),
        None,
    ] {
        assert_eq!(try_connect(address, &host, origin.as_deref()).err(), Some(403), "{origin:?}");
    }
    assert_eq!(get(address, "/api/scenes", &[("Origin", "http://evil.example")]).0, 403);
    let named = format!("localhost:{port}");
    assert!(try_connect(address, &named, Some(&format!("http://{named}"))).is_ok());
    goes_on(&mut client);
}

#[test]
fn rebound_hosts_are_refused() {
    let (_folder, studio, mut client) = watched();
    let (address, port) = (studio.address(), studio.address().port());
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("10.1.2.3:{port}"),
        "127.0.0.1".into(),
    ] {
        assert_eq!(try_connect(address, &host, Some(&format!("http://{host}"))).err(), Some(403), "{host}");
        for target in ["/", "/api/scenes", "/api/export?format=toml"] {
            assert_eq!(get(address, target, &[("Host", &host)]).0, 403, "{host}{target}");
        }
    }
    assert_eq!(get(address, "http://evil.example/", &[]).0, 403, "the address itself names another host");
    goes_on(&mut client);
}

#[test]
fn no_path_leads_out() {
    let (folder, studio, mut client) = watched();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    let address = studio.address();
    for target in [
        "/../sheet.toml",
        "/assets/../../sheet.toml",
        "/%2e%2e/sheet.toml",
        "/sheet.toml",
        "//etc/passwd",
        "/assets/..%2f..%2fsheet.toml",
    ] {
        let (status, _, body) = get(address, target, &[]);
        assert_eq!(status, 404, "{target}");
        assert!(!String::from_utf8_lossy(&body).contains("cloth"));
    }
    for name in ["../sheet.toml", "/etc/passwd", "inner/../sheet.toml", "..", "", "a\0b.toml"] {
        client.say(json!({"type": "scene", "name": name}));
        client.text("problem");
        client.say(json!({"type": "save", "name": name}));
        client.text("problem");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing was written");
    goes_on(&mut client);
}

#[test]
fn a_page_from_a_folder_stays_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("dist");
    std::fs::create_dir_all(page.join("assets")).unwrap();
    std::fs::write(page.join("index.html"), "page").unwrap();
    std::fs::write(page.join("assets/a.js"), "code").unwrap();
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret"), page.join("link")).unwrap();
    let options = Options { port: Some(0), threads: 1, page: Page::Folder(page), ..Options::new("star") };
    let studio = Studio::start(options).unwrap();
    let address = studio.address();
    assert_eq!(get(address, "/", &[]).2, b"page");
    let (status, head, body) = get(address, "/assets/a.js", &[]);
    assert_eq!((status, body.as_slice()), (200, &b"code"[..]));
    assert!(head.contains("text/javascript"));
    for target in ["/../secret", "/assets/../../secret", "/link", "/assets"] {
        assert_eq!(get(address, target, &[]).0, 404, "{target}");
    }
}

#[test]
fn only_reading_is_possible_over_http() {
    let (_folder, studio, mut client) = watched();
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        assert_eq!(
            ask(studio.address(), method, "/api/scenes", &[("Content-Length", "0")]).0,
            405,
            "{method}"
        );
    }
    assert_eq!(get(studio.address(), "/ws", &[("Origin", &format!("http://{}", studio.address()))]).0, 400);
    goes_on(&mut client);
}

#[test]
fn a_message_of_a_gigabyte_is_refused_before_it_comes() {
    let (_folder, studio, mut client) = watched();
    let mut other = Client::new(&studio);
    other.frames(1);
    // The head of a text of 1 GiB, masked, and the first bytes of it.
    let mut head = vec![0x81, 0x80 | 127];
    head.extend_from_slice(&(1u64 << 30).to_be_bytes());
    head.extend_from_slice(&[1, 2, 3, 4]);
    head.extend_from_slice(&[0; 1000]);
    other.socket.get_mut().write_all(&head).unwrap();
    let begun = Instant::now();
    while other.hear().is_ok() {
        assert!(begun.elapsed() < PATIENCE, "it is not hung up on");
    }
    // Pieces that are small each and too long together are refused, too.
    let mut third = Client::new(&studio);
    third.frames(1);
    let piece = [0u8; 1000];
    let mut sent = 0;
    let mut first = true;
    while sent < 1 << 24 {
        let mut frame = vec![u8::from(first), 0x80 | 126];
        frame.extend_from_slice(&(piece.len() as u16).to_be_bytes());
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(&piece);
        first = false;
        if third.socket.get_mut().write_all(&frame).is_err() {
            break;
        }
        sent += piece.len();
    }
    let begun = Instant::now();
    while third.hear().is_ok() {
        assert!(begun.elapsed() < PATIENCE, "it is not hung up on");
    }
    goes_on(&mut client);
}

#[test]
fn a_flood_of_messages_ends_the_flooder_alone() {
    let (_folder, studio, mut client) = watched();
    let mut other = Client::new(&studio);
    other.frames(1);
    let mut refused = false;
    for k in 0..100_000 {
        let message = json!({"type": "ping", "stamp": k}).to_string();
        if other.socket.send(Message::text(message)).is_err() {
            refused = true;
            break;
        }
    }
    let begun = Instant::now();
    while !refused {
        refused = other.hear().is_err();
        assert!(begun.elapsed() < PATIENCE, "it is not hung up on");
    }
    goes_on(&mut client);
    // The driver floods with what the simulation has to do.
    for k in 0..5_000 {
        let message = json!({"type": "drag", "id": 1, "point": [0.0, 0.0, k]}).to_string();
        if client.socket.send(Message::text(message)).is_err() {
            break;
        }
    }
    goes_on(&mut Client::new(&studio));
}

#[test]
fn ten_idle_clients_are_harmless() {
    let (_folder, studio, mut client) = watched();
    // They read nothing, ever.
    let idle: Vec<Client> = (0..10).map(|_| Client::new(&studio)).collect();
    // These do not even finish what they ask for.
    let half: Vec<_> = (0..10)
        .map(|_| {
            let mut stream = tcp(studio.address());
            stream.write_all(b"GET / HTTP/1.1\r\nHost: 127").unwrap();
            stream
        })
        .collect();
    goes_on(&mut client);
    goes_on(&mut client);
    assert_eq!(get(studio.address(), "/", &[]).0, 200);
    assert_eq!(studio.viewers(), 11);
    drop((idle, half));
    let begun = Instant::now();
    while studio.viewers() > 1 {
        assert!(begun.elapsed() < PATIENCE, "they are not forgotten");
        client.frames(1);
    }
}

#[test]
fn a_client_that_breaks_off_inside_a_frame_is_harmless() {
    let (_folder, studio, mut client) = watched();
    for length in [1, 7, 100, 1200] {
        let mut other = Client::new(&studio);
        let mut some = vec![0; length];
        other.socket.get_mut().read_exact(&mut some).unwrap();
        drop(other);
    }
    // Half of a message, too.
    let mut other = Client::new(&studio);
    other.socket.get_mut().write_all(&[0x81, 0x85, 1]).unwrap();
    drop(other);
    // And what is no WebSocket at all.
    let mut other = Client::new(&studio);
    other.socket.get_mut().write_all(&[0xff; 64]).unwrap();
    while other.hear().is_ok() {}
    goes_on(&mut client);
}

#[test]
fn beyond_the_loopback_address_a_token_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sheet.toml");
    std::fs::write(&path, crate::client::SHEET).unwrap();
    let studio = Studio::start(Options {
        port: Some(0),
        listen: Some([127, 0, 0, 1].into()),
        threads: 1,
        page: Page::Single("page"),
        ..Options::new(path.to_str().unwrap())
    })
    .unwrap();
    let (address, token) = (studio.address(), studio.token().unwrap().to_owned());
    assert_eq!(studio.url(), format!("http://{address}/?token={token}"));
    let host = address.to_string();
    assert_eq!(get(address, "/", &[]).0, 403);
    assert_eq!(get(address, "/?token=0123", &[]).0, 403);
    assert_eq!(try_connect(address, &host, Some(&format!("http://{host}"))).err(), Some(403));
    let (status, head, _) = get(address, &format!("/?token={token}"), &[]);
    assert_eq!(status, 200);
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(get(address, "/api/scenes", &[("Cookie", pair)]).0, 200);
}
