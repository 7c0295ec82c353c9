//! Accepts connections, each bounded in time, and hands requests to the router.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::Uri;
use gleaner_rules::config::web::Listen;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio_io_timeout::TimeoutStream;

use crate::access::Peer;
use crate::limits::{ANSWER_TIME_MAX, BACKLOG, HEAD_BYTES_MAX, HEAD_TIME_MAX, STALL_TIME_MAX};
use crate::places::{Places, Seat, WithWork};
use crate::problem::Problem;
use crate::{Outlet, router};

/// A bound listener.
#[derive(Debug)]
pub enum Listening {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listening {
    /// Binds. A socket that a killed process left is replaced.
    ///
    /// # Errors
    /// Those of the system: the port is taken, or not ours.
    pub fn bind(listen: &Listen) -> std::io::Result<Self> {
        match listen {
            Listen::Tcp(address) => {
                let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
                // The next process takes the port over although connections of this one are still being closed.
                socket.set_reuseaddr(true)?;
                socket.bind(*address)?;
                socket.listen(BACKLOG).map(Self::Tcp)
            }
            Listen::Unix(path) => {
                if std::fs::symlink_metadata(path).is_ok_and(|of| of.file_type().is_socket()) {
                    std::fs::remove_file(path)?;
                }
                let listener = UnixListener::bind(path)?;
                // A proxy of the folder's group connects.
                std::fs::set_permissions(path, Permissions::from_mode(0o660))?;
                Ok(Self::Unix(listener))
            }
        }
    }

    /// The address in use: a port 0 has become one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn address(&self) -> std::io::Result<Option<SocketAddr>> {
        match self {
            Self::Tcp(listener) => listener.local_addr().map(Some),
            Self::Unix(_) => Ok(None),
        }
    }
}

/// Serves until dropped.
pub async fn serve(listening: Listening, outlet: Arc<Outlet>) {
    let base_path = outlet.settings.base_path.clone();
    let router = router(outlet);
    let places = Arc::new(Places::default());
    loop {
        let (router, base_path) = (router.clone(), base_path.clone());
        let accepted = match &listening {
            Listening::Tcp(listener) => match listener.accept().await {
                Ok((stream, peer)) => {
                    let seat = places.seat().await;
                    tokio::spawn(async move {
                        let _ = stream.set_nodelay(true);
                        connection(stream, Peer(Some(peer)), router, base_path, seat).await;
                    });
                    Ok(())
                }
                Err(error) => Err(error),
            },
            Listening::Unix(listener) => match listener.accept().await {
                Ok((stream, _)) => {
                    let seat = places.seat().await;
                    tokio::spawn(connection(stream, Peer(None), router, base_path, seat));
                    Ok(())
                }
                Err(error) => Err(error),
            },
        };
        if let Err(error) = accepted {
            // No file is left, say: others end.
            tracing::debug!(%error, "a connection cannot be accepted");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    router: Router,
    base_path: String,
    seat: Seat,
) {
    let seat = Arc::new(seat);
    let of_requests = Arc::clone(&seat);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let work = Seat::works(&of_requests);
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(peer);
        let below = below(request.uri(), &base_path);
        let mut router = router.clone();
        async move {
            *request.uri_mut() = below;
            // It is at work until its answer is taken.
            answered(&mut router, request)
                .await
                .map(|answer| answer.map(|body| Body::new(WithWork { body, _work: work })))
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX).max_buf_size(HEAD_BYTES_MAX).keep_alive(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(STALL_TIME_MAX));
    tokio::select! {
        // Whoever goes away in the middle tells us nothing.
        _ = http.serve_connection(TokioIo::new(Box::pin(stream)), service) => {}
        () = seat.leave.notified() => {}
    }
}

/// An answer within its time.
async fn answered(router: &mut Router, request: Request) -> Result<axum::response::Response, std::convert::Infallible> {
    use axum::response::IntoResponse as _;
    let answer = tower_service::Service::call(router, request);
    match tokio::time::timeout(ANSWER_TIME_MAX, answer).await {
        Ok(answer) => answer,
        Err(_) => {
            let status = axum::http::StatusCode::GATEWAY_TIMEOUT;
            Ok(Problem::new(status, "this took too long", "ask for less, or again in a while").into_response())
        }
    }
}

/// Where nothing is.
const NOWHERE: &str = "/-";

/// The URI below the base path, without a final slash. What is not below it is nowhere.
fn below(uri: &Uri, base_path: &str) -> Uri {
    let path = uri.path();
    let own = match path.strip_prefix(base_path) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_end_matches('/'),
        _ => NOWHERE,
    };
    let own = if own.is_empty() { "/" } else { own };
    let text = match uri.query() {
        Some(query) => format!("{own}?{query}"),
        None => own.to_owned(),
    };
    text.parse().unwrap_or_else(|_| Uri::from_static("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody accepts: of those beyond the backlog, the system drops what asks for a connection, and `connect` waits.
    #[tokio::test]
    async fn more_connections_wait_to_be_accepted_than_the_usual_128() {
        let listening = Listening::bind(&Listen::Tcp(([127, 0, 0, 1], 0).into())).unwrap();
        let address = listening.address().unwrap().unwrap();
        let mut waiting = Vec::new();
        for nth in 0..500 {
            let connected = std::net::TcpStream::connect_timeout(&address, std::time::Duration::from_secs(20));
            waiting.push(connected.unwrap_or_else(|error| panic!("connection {nth}: {error}")));
        }
    }

    #[test]
    fn paths_are_read_below_the_base_and_without_a_final_slash() {
        let of = |uri: &str, base: &str| below(&uri.parse().unwrap(), base).to_string();
        assert_eq!(of("/api/?t=caps", ""), "/api?t=caps");
        assert_eq!(of("/api", ""), "/api");
        assert_eq!(of("/g/api/", "/g"), "/api");
        assert_eq!(of("/g", "/g"), "/");
        assert_eq!(of("/gx/api?q=x", "/g"), "/-?q=x");
        assert_eq!(of("/../g/api", "/g"), "/-");
        assert_eq!(of("/g//api", "/g"), "//api");
    }
}
