//! Access control. Only pages served by this server may use it: a page of another site must not, though it
//! runs in the same browser and can reach the loopback address.
//!
//! - The requested `Host` must be the loopback address, `localhost`, or the address that the user chose to
//!   listen on, with the port. This prevents DNS rebinding.
//! - The `Origin` of a WebSocket must be that same host. Browsers always send it, and no page can change it.
//! - If the server listens beyond the loopback address, every request requires a random token.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hyper::{HeaderMap, Uri, header};

/// Name of the cookie that carries the token.
const COOKIE: &str = "taut-studio";

/// Checks requests.
#[derive(Clone, Debug)]
pub struct Gate {
    /// The listening port.
    pub port: u16,
    /// The address, if the user chose one.
    pub listen: Option<IpAddr>,
    /// The token required then.
    pub token: Option<String>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Wrong host.
    Host,
    /// A page of another site.
    Origin,
    /// The token is missing or wrong.
    Token,
}

impl Refusal {
    /// As text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Host => {
                "this server answers only for the loopback address; open the address printed by `taut view`"
            }
            Self::Origin => {
                "pages of other sites may not use this server; open the address printed by `taut view`"
            }
            Self::Token => "the token is missing or wrong; open the full address printed by `taut view`",
        }
    }
}

impl Gate {
    /// Whether a request may be answered; a WebSocket request must have an origin.
    ///
    /// # Errors
    /// Why not.
    pub fn admit(&self, uri: &Uri, headers: &HeaderMap, websocket: bool) -> Result<(), Refusal> {
        let host = only(headers, header::HOST).ok_or(Refusal::Host)?;
        let named = uri.authority().is_none_or(|authority| self.is_here(authority.as_str()));
        if !named || !self.is_here(host) {
            return Err(Refusal::Host);
        }
        let same =
            |origin: &str| origin.strip_prefix("http://").is_some_and(|from| from.eq_ignore_ascii_case(host));
        let origins = headers.get_all(header::ORIGIN).iter().count();
        match only(headers, header::ORIGIN) {
            Some(origin) if !same(origin) => return Err(Refusal::Origin),
            None if websocket || origins > 0 => return Err(Refusal::Origin),
            _ => {}
        }
        match &self.token {
            Some(token) if !knows(token, uri, headers) => Err(Refusal::Token),
            _ => Ok(()),
        }
    }

    /// The cookie to set for a request with the token in the address.
    pub fn cookie(&self, uri: &Uri) -> Option<String> {
        let token = self.token.as_ref()?;
        query(uri, "token")?;
        Some(format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"))
    }

    /// Whether `host`, a name or address with a port, is this server.
    fn is_here(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            // The colons of an address in brackets are its own.
            Some((name, port)) if !port.ends_with(']') => (name, port.parse::<u16>().ok()),
            _ => (host, Some(80)),
        };
        if port != Some(self.port) {
            return false;
        }
        if name.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let address = match bare {
            Some(bare) => bare.parse::<Ipv6Addr>().ok().map(IpAddr::from),
            None => name.parse::<Ipv4Addr>().ok().map(IpAddr::from),
        };
        let Some(address) = address else { return false };
        let loopback = address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST;
        // Which of the machine's addresses is meant is unknown; names of other sites are still refused.
        loopback || self.listen.is_some_and(|listen| listen == address || listen.is_unspecified())
    }
}

/// The value of a header that occurs exactly once.
fn only(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// The value of `key` in the address.
pub fn query<'a>(uri: &'a Uri, key: &str) -> Option<&'a str> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, _)| *name == key).map(|(_, value)| value).next()
}

fn knows(token: &str, uri: &Uri, headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let cookie = cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(name, _)| *name == COOKIE)
        .any(|(_, value)| same(value, token));
    cookie || query(uri, "token").is_some_and(|value| same(value, token))
}

/// Constant-time comparison of two strings.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// A new token: 128 random bits, as hexadecimal text.
///
/// # Errors
/// If the system's random number generator fails.
pub fn new_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate() -> Gate {
        Gate { port: 8420, listen: None, token: None }
    }

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    fn admit(gate: &Gate, uri: &str, pairs: &[(header::HeaderName, &str)], ws: bool) -> Result<(), Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(name, value.parse().unwrap());
        }
        gate.admit(&uri.parse().unwrap(), &map, ws)
    }

    #[test]
    fn loopback_names_alone_are_answered() {
        for host in ["127.0.0.1:8420", "localhost:8420", "LocalHost:8420", "[::1]:8420"] {
            assert!(gate().is_here(host), "{host}");
        }
        for host in [
            "evil.example:8420",
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost",
            "localhost:8421",
            "10.0.0.1:8420",
            "127.0.0.1.evil.example:8420",
            "localhost.:8420",
            "[::2]:8420",
            "",
            ":8420",
            "::1:8420",
            "0.0.0.0:8420",
        ] {
            assert!(!gate().is_here(host), "{host}");
        }
        let open = Gate { listen: Some([192, 168, 1, 5].into()), ..gate() };
        assert!(open.is_here("192.168.1.5:8420") && !open.is_here("192.168.1.6:8420"));
        let all = Gate { listen: Some([0, 0, 0, 0].into()), ..gate() };
        assert!(all.is_here("192.168.1.6:8420") && !all.is_here("evil.example:8420"));
    }

    #[test]
    fn other_origins_are_refused() {
        let host = (header::HOST, "localhost:8420");
        let from = |origin| [host.clone(), (header::ORIGIN, origin)];
        assert_eq!(admit(&gate(), "/ws", &from("http://localhost:8420"), true), Ok(()));
        for origin in [
            "http://evil.example",
            "null",
            "https://localhost:8420",
            "http://127.0.0.1:8420",
            "http://localhost",
        ] {
            assert_eq!(admit(&gate(), "/ws", &from(origin), true), Err(Refusal::Origin), "{origin}");
            assert_eq!(admit(&gate(), "/", &from(origin), false), Err(Refusal::Origin), "{origin}");
        }
        assert_eq!(admit(&gate(), "/ws", std::slice::from_ref(&host), true), Err(Refusal::Origin));
        assert_eq!(admit(&gate(), "/", std::slice::from_ref(&host), false), Ok(()));
        assert_eq!(admit(&gate(), "/", &[], false), Err(Refusal::Host));
        let two = [host.clone(), (header::HOST, "evil.example")];
        assert_eq!(admit(&gate(), "/", &two, false), Err(Refusal::Host));
        assert_eq!(admit(&gate(), "http://evil.example/", &[host], false), Err(Refusal::Host));
    }

    #[test]
    fn a_token_is_asked_for() {
        let gate = Gate { token: Some("abcd".into()), ..gate() };
        let host = (header::HOST, "localhost:8420");
        assert_eq!(admit(&gate, "/", std::slice::from_ref(&host), false), Err(Refusal::Token));
        assert_eq!(admit(&gate, "/?token=abce", std::slice::from_ref(&host), false), Err(Refusal::Token));
        assert_eq!(admit(&gate, "/?x=1&token=abcd", std::slice::from_ref(&host), false), Ok(()));
        let cookie = [host, (header::COOKIE, "a=b; taut-studio=abcd")];
        assert_eq!(admit(&gate, "/", &cookie, false), Ok(()));
        assert!(gate.cookie(&"/?token=abcd".parse().unwrap()).unwrap().contains("SameSite=Strict"));
        assert_eq!(headers(&cookie).len(), 2);
        assert_eq!(new_token().unwrap().len(), 32);
        assert_ne!(new_token().unwrap(), new_token().unwrap());
    }
}
