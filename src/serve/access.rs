//! Who may ask: this machine where nothing else is between, else whoever has a token. A request for a name that is not ours is answered by nobody
//! (DNS rebinding).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use gleaner_rules::config::web::{Auth, Proxy};

use crate::links::Links;
use crate::problem::Problem;
use crate::tokens::Scope;
use crate::{Outlet, session, torznab};

/// Who connects, as the listener knows it; None over a Unix socket.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub Option<SocketAddr>);

/// Who asks.
#[derive(Clone, Debug)]
pub struct Caller {
    pub scope: Option<Scope>,
    pub links: Links,
    /// None over a Unix socket.
    pub address: Option<IpAddr>,
    /// The cookie by which the token is known, if it is by one.
    pub session: Option<String>,
    /// A secret was shown, and it is no token's.
    pub is_wrong: bool,
    /// It was one's, which is revoked.
    pub is_revoked: bool,
}

/// Where a request comes from: as the connection says, or as a proxy does that is believed.
#[derive(Debug, PartialEq, Eq)]
struct Sender {
    address: Option<IpAddr>,
    host: String,
    scheme: &'static str,
}

impl Sender {
    fn of(Peer(peer): Peer, headers: &HeaderMap, proxies: &[Proxy]) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let is_trusted = |address: Option<IpAddr>| proxies.iter().any(|proxy| proxy.has(address));
        let peer = peer.map(|peer| peer.ip().to_canonical());
        let own_host = text("host").unwrap_or_default();
        if !is_trusted(peer) {
            return Self { address: peer, host: own_host.to_owned(), scheme: "http" };
        }
        // Each proxy has added whom it got the request from: the last one that is none of ours has sent it.
        let lines = headers.get_all("x-forwarded-for").iter().filter_map(|line| line.to_str().ok());
        let named: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
        let mut address = peer;
        for sender in named.iter().rev() {
            let Some(sender) = address_of(sender) else { break };
            address = Some(sender);
            if !is_trusted(address) {
                break;
            }
        }
        let last = |name: &str| text(name).and_then(|value| value.rsplit(',').next()).map(str::trim);
        let is_https = last("x-forwarded-proto").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        let host = last("x-forwarded-host").filter(|host| !host.is_empty()).unwrap_or(own_host);
        Self { address, host: host.to_owned(), scheme: if is_https { "https" } else { "http" } }
    }
}

/// An address as proxies write it: with a port, or in brackets.
fn address_of(text: &str) -> Option<IpAddr> {
    let bare = || text.trim_start_matches('[').trim_end_matches(']').parse().ok();
    text.parse::<SocketAddr>().map(|with_port| with_port.ip()).ok().or_else(bare).map(|address| address.to_canonical())
}

/// Refuses names that are not ours and those who ask too often, and finds out who asks.
pub async fn guard(State(outlet): State<Arc<Outlet>>, mut request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<Peer>().copied().unwrap_or(Peer(None));
    let Sender { address, host, scheme } = Sender::of(peer, request.headers(), &outlet.settings.proxies);
    if !outlet.answers_for(&host) {
        let detail = "add the name to `hosts` of [web] in gleaner.toml, or set `public_url`";
        return Problem::new(StatusCode::MISDIRECTED_REQUEST, "requests for this host are not answered", detail)
            .into_response();
    }
    let now = outlet.clock.now();
    if let Err(seconds) = outlet.clients.ask(address, now) {
        return too_many(request.uri(), seconds);
    }
    let secrets = secrets(request.headers(), request.uri());
    let shown = secrets.iter().find_map(|secret| outlet.tokens.find(secret, now));
    let session = session::cookie(request.headers()).filter(|_| shown.is_none()).map(str::to_owned);
    let of_session = || outlet.sessions.find(&outlet.tokens, session.as_deref()?, now);
    let token = shown.or_else(of_session);
    let session = session.filter(|_| token.is_some());
    let scope = match &token {
        Some(token) => Some(token.scope),
        // Many clients insist on a key; where none is needed, any will do.
        None => outlet.is_this_machine(&host, peer, request.headers()).then_some(Scope::Admin),
    };
    let links = Links { base: outlet.base(scheme, &host), token: token.clone() };
    let is_wrong = !secrets.is_empty() && token.is_none();
    let is_revoked = is_wrong && secrets.iter().any(|secret| outlet.tokens.was_revoked(secret));
    request.extensions_mut().insert(Caller { scope, links, address, session, is_wrong, is_revoked });
    next.run(request).await
}

/// Refuses whoever may not ask for this.
///
/// # Errors
/// The refusal.
pub async fn needs(
    scope: Scope,
    axum::Extension(caller): axum::Extension<Caller>,
    request: Request,
    next: Next,
) -> Result<Response, Response> {
    caller.must_have(scope).map_err(Problem::into_response)?;
    Ok(next.run(request).await)
}

impl Caller {
    /// Who wants something, for the log.
    #[must_use]
    pub fn named(&self) -> String {
        self.links.token.as_ref().map_or_else(|| "this machine".to_owned(), |token| format!("token {}", token.name))
    }

    /// # Errors
    /// The refusal.
    pub fn must_have(&self, scope: Scope) -> Result<(), Problem> {
        match self.scope {
            Some(own) if own >= scope => Ok(()),
            Some(own) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("a token of the scope `{}` is not enough", own.name()),
                format!("make another: gleaner token new NAME --scope {}", scope.name()),
            )),
            None => Err(Problem::new(
                StatusCode::UNAUTHORIZED,
                match (self.is_wrong, self.is_revoked) {
                    (_, true) => "this token is revoked",
                    (true, _) => "this token is unknown",
                    (false, false) => "a token is needed",
                },
                format!(
                    "make one: gleaner token new NAME --scope {}; send it as `Authorization: Bearer …`",
                    scope.name()
                ),
            )),
        }
    }
}

fn too_many(uri: &Uri, seconds: u64) -> Response {
    if torznab::is_torznab(uri.path()) {
        let wait = [(header::RETRY_AFTER, seconds.to_string())];
        return (StatusCode::TOO_MANY_REQUESTS, wait, torznab::Fault::TooMany.into_response()).into_response();
    }
    let detail = format!("ask again in {seconds} s");
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many requests", detail).waiting(seconds).into_response()
}

/// What a request may show as its secret: a header, Basic (either half), or `apikey` of the query. A proxy may have one of its own.
fn secrets(headers: &HeaderMap, uri: &Uri) -> Vec<String> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let mut found = Vec::new();
    found.extend(header("x-api-key").map(str::to_owned));
    if let Some((scheme, rest)) = header("authorization").and_then(|value| value.split_once(' ')) {
        if scheme.eq_ignore_ascii_case("bearer") {
            found.push(rest.to_owned());
        } else if scheme.eq_ignore_ascii_case("basic") {
            let decoded = BASE64_STANDARD.decode(rest.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            let halves = decoded.as_deref().and_then(|text| text.split_once(':'));
            found.extend(halves.into_iter().flat_map(|(user, password)| [password.to_owned(), user.to_owned()]));
        }
    }
    let pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let keys = pairs.filter(|(name, _)| matches!(&**name, "apikey" | "passkey"));
    found.extend(keys.map(|(_, value)| value.into_owned()).take(1));
    found.iter_mut().for_each(|secret| *secret = secret.trim().to_owned());
    found.retain(|secret| !secret.is_empty());
    found
}

/// Headers of those that pass requests on.
const PASSED_ON: [&str; 9] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-real-ip",
    "x-client-ip",
    "cf-connecting-ip",
];

impl Outlet {
    /// True for a request of this machine itself, by a name of its own, that nobody has passed on. Where others reach the server under a
    /// public URL, there is a proxy: then nobody is.
    fn is_this_machine(&self, host: &str, peer: Peer, headers: &HeaderMap) -> bool {
        let name = host_name(host);
        let is_own_name = name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        self.needs_no_token()
            && is_own_name
            && peer.0.is_none_or(|peer| peer.ip().is_loopback())
            // What a proxy hands on is not this machine's, whatever it leaves out.
            && !self.settings.proxies.iter().any(|proxy| proxy.has(peer.0.map(|peer| peer.ip())))
            && !PASSED_ON.iter().any(|name| headers.contains_key(*name))
    }

    /// True if this machine itself is admitted without one.
    pub fn needs_no_token(&self) -> bool {
        self.settings.auth == Auth::Remote && self.settings.public_url.is_none() && self.is_local
    }

    /// True for this machine's own names, the public URL's, and those that the operator lists.
    fn answers_for(&self, host: &str) -> bool {
        let name = host_name(host);
        let is_public = self
            .settings
            .public_url
            .as_deref()
            .and_then(|url| url.split_once("://"))
            .is_some_and(|(_, rest)| host_name(rest) == name);
        let is_own =
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback() || !self.is_local);
        is_public || is_own || self.settings.hosts.iter().any(|own| own.eq_ignore_ascii_case(&name))
    }

    /// Where links begin for whoever asked for this host.
    fn base(&self, scheme: &str, host: &str) -> String {
        let origin = self.settings.public_url.clone().unwrap_or_else(|| format!("{scheme}://{host}"));
        format!("{origin}{}", self.settings.base_path)
    }
}

/// The name or address of a `Host` header, in lower case, without port and brackets.
fn host_name(host: &str) -> String {
    let host = host.split('/').next().unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_without_port_and_brackets() {
        for (host, name) in [
            ("A.example:80", "a.example"),
            ("[::1]:8717", "::1"),
            ("127.0.0.1", "127.0.0.1"),
            ("a.example.", "a.example"),
            ("", ""),
        ] {
            assert_eq!(host_name(host), name);
        }
    }

    #[test]
    fn only_proxies_that_are_trusted_are_believed() {
        let proxies: Vec<Proxy> = ["127.0.0.1", "10.0.0.0/8"].map(|text| text.parse().unwrap()).into();
        let of = |peer: &str, pairs: &[(&'static str, &str)]| {
            let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            let sender = Sender::of(Peer(peer.parse().ok()), &HeaderMap::from_iter(headers), &proxies);
            (sender.address.map(|of| of.to_string()).unwrap_or_default(), sender.host, sender.scheme)
        };
        let told = |address: &str, host: &str, scheme| (address.to_owned(), host.to_owned(), scheme);
        let all = [
            ("host", "127.0.0.1:8717"),
            ("x-forwarded-for", "6.6.6.6, 1.2.3.4, 10.0.0.9"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "evil.example, gleaner.example"),
        ];
        assert_eq!(of("127.0.0.1:5", &all), told("1.2.3.4", "gleaner.example", "https"));
        assert_eq!(of("[::ffff:10.1.1.1]:5", &all), told("1.2.3.4", "gleaner.example", "https"));
        // A stranger says what he likes.
        assert_eq!(of("1.1.1.1:5", &all), told("1.1.1.1", "127.0.0.1:8717", "http"));
        assert_eq!(of("unix", &all), told("", "127.0.0.1:8717", "http"));
        assert_eq!(of("127.0.0.1:5", &all[..1]), told("127.0.0.1", "127.0.0.1:8717", "http"));
        for (list, address) in [
            ("10.0.0.1, 10.0.0.2", "10.0.0.1"),
            ("nonsense", "127.0.0.1"),
            ("1.2.3.4, nonsense", "127.0.0.1"),
            ("1.2.3.4:80", "1.2.3.4"),
            ("[2001:db8::1]:80", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("", "127.0.0.1"),
        ] {
            assert_eq!(of("127.0.0.1:5", &[("x-forwarded-for", list)]).0, address, "{list}");
        }
    }

    #[test]
    fn a_secret_is_found_wherever_clients_put_it() {
        let uri = |text: &str| text.parse::<Uri>().unwrap();
        let of = |pairs: &[(&'static str, &str)], target: &str| {
            let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            secrets(&HeaderMap::from_iter(headers), &uri(target))
        };
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        assert_eq!(of(&[("x-api-key", "k1")], "/"), ["k1"]);
        assert_eq!(of(&[("authorization", "Bearer k1")], "/"), ["k1"]);
        assert_eq!(of(&[("authorization", &basic("user:k1"))], "/"), ["k1", "user"]);
        assert_eq!(of(&[("authorization", &basic("k1:"))], "/"), ["k1"]);
        assert_eq!(of(&[("authorization", "Negotiate x")], "/"), [""; 0]);
        // The proxy's own, and the client's.
        assert_eq!(of(&[("authorization", &basic("u:p")), ("x-api-key", "")], "/?apikey=k1"), ["p", "u", "k1"]);
        for (query, found) in
            [("/?apikey=k1", &["k1"][..]), ("/?t=caps&passkey=k1", &["k1"]), ("/?apikey=&q=x", &[]), ("/", &[])]
        {
            assert_eq!(of(&[], query), found, "{query}");
        }
    }
}
