//! The server: the page and its files, the list of scenes, exports, and WebSockets. No HTTP request changes
//! anything.

use std::{convert::Infallible, net::TcpListener, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{self, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{handshake::derive_accept_key, protocol::Role},
};

use crate::{
    gate::{Gate, query},
    hub::{Errand, Hub},
    page::Page,
    viewer,
};

/// Maximum number of connections, including WebSockets.
const MOST_CONNECTIONS: usize = 256;
/// Timeout for the head of a request.
const HEAD: Duration = Duration::from_secs(10);
/// Maximum size of the head of a request \[bytes\].
const LONGEST_HEAD: usize = 16 << 10;
/// Timeout for an export to start.
const EXPORT: Duration = Duration::from_secs(60);

/// State shared by all requests.
#[derive(Debug)]
pub struct Shared {
    /// Access control.
    pub gate: Gate,
    /// The files of the page.
    pub page: Page,
    /// Access to the simulation.
    pub hub: Arc<Hub>,
}

/// Answers requests until `stop` changes.
///
/// # Errors
/// If a socket cannot be created.
pub async fn serve(
    listener: TcpListener,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // Out of descriptors, or closed before it was accepted: keep accepting.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            _ = stop.changed() => return Ok(()),
        };
        // Connections above the maximum are closed.
        let Ok(place) = places.clone().try_acquire_owned() else { continue };
        let _ = stream.set_nodelay(true);
        let (shared, place) = (shared.clone(), Arc::new(place));
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let (shared, place) = (shared.clone(), place.clone());
                async move { Ok::<_, Infallible>(answer(shared, place, request).await) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .max_buf_size(LONGEST_HEAD)
                .serve_connection(TokioIo::new(stream), answer)
                .with_upgrades();
            // A broken connection is not an error of the server.
            let _ = connection.await;
        });
    }
}

type Answer = Response<Full<Bytes>>;

async fn answer(
    shared: Arc<Shared>,
    place: Arc<tokio::sync::OwnedSemaphorePermit>,
    request: Request<Incoming>,
) -> Answer {
    let websocket = request.uri().path() == "/ws";
    if let Err(refusal) = shared.gate.admit(request.uri(), request.headers(), websocket) {
        return plain(StatusCode::FORBIDDEN, refusal.reason());
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET is supported");
        answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    match request.uri().path() {
        "/ws" => upgrade(&shared, place, request),
        "/api/scenes" => scenes(&shared).await,
        "/api/export" => export(&shared, query(request.uri(), "format").unwrap_or("obj")).await,
        path => file(&shared, path, &request),
    }
}

fn file(shared: &Shared, path: &str, request: &Request<Incoming>) -> Answer {
    let name = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
    let Some((kind, bytes)) = shared.page.file(name) else {
        return plain(StatusCode::NOT_FOUND, "page not found");
    };
    let mut answer = with_type(bytes, kind);
    if let Some(cookie) = shared.gate.cookie(request.uri())
        && let Ok(cookie) = HeaderValue::from_str(&cookie)
    {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    answer
}

async fn scenes(shared: &Shared) -> Answer {
    let Some(folder) = shared.hub.folder.clone() else { return with_type("[]".into(), "application/json") };
    // Reads files: not on the server thread.
    let choices = tokio::task::spawn_blocking(move || folder.choices()).await.unwrap_or_default();
    with_type(serde_json::to_vec(&choices).unwrap_or_default().into(), "application/json")
}

async fn export(shared: &Shared, format: &str) -> Answer {
    let (reply, answer) = oneshot::channel();
    if !shared.hub.ask(Errand::Export(format.to_owned(), reply)) {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "the simulation is busy: try again");
    }
    match tokio::time::timeout(EXPORT, answer).await {
        Ok(Ok(Ok(file))) => {
            let mut answer = with_type(file.bytes.into(), "application/octet-stream");
            let disposition = format!("attachment; filename=\"{}\"", file.name);
            if let Ok(value) = HeaderValue::from_str(&disposition) {
                answer.headers_mut().insert(header::CONTENT_DISPOSITION, value);
            }
            answer
        }
        Ok(Ok(Err(problem))) => plain(StatusCode::BAD_REQUEST, &problem),
        _ => plain(StatusCode::SERVICE_UNAVAILABLE, "the simulation does not respond"),
    }
}

/// Upgrades the connection to a WebSocket.
fn upgrade(
    shared: &Arc<Shared>,
    place: Arc<tokio::sync::OwnedSemaphorePermit>,
    mut request: Request<Incoming>,
) -> Answer {
    let headers = request.headers();
    let says = |name, word: &str| {
        let values = headers.get_all(name).iter().filter_map(|value: &HeaderValue| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(word))
    };
    let key = headers.get(header::SEC_WEBSOCKET_KEY).map(|key| derive_accept_key(key.as_bytes()));
    let asked = request.method() == Method::GET
        && says(header::CONNECTION, "upgrade")
        && says(header::UPGRADE, "websocket")
        && says(header::SEC_WEBSOCKET_VERSION, "13");
    let (Some(key), true) = (key, asked) else {
        return plain(StatusCode::BAD_REQUEST, "this address is for WebSockets");
    };
    let hub = shared.hub.clone();
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        let Ok(stream) = upgraded.await else { return };
        let config = Some(viewer::config());
        let socket = WebSocketStream::from_raw_socket(TokioIo::new(stream), Role::Server, config).await;
        viewer::show(hub, socket).await;
        drop(place);
    });
    let mut answer = plain(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = answer.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.remove(header::CONTENT_TYPE);
    if let Ok(key) = HeaderValue::from_str(&key) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, key);
    }
    answer
}

fn plain(status: StatusCode, text: &str) -> Answer {
    let mut answer = with_type(text.to_owned().into(), "text/plain; charset=utf-8");
    *answer.status_mut() = status;
    answer
}

fn with_type(bytes: Bytes, kind: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(bytes));
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'self'; img-src 'self' data: blob:; connect-src 'self'; object-src 'none'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    answer
}
