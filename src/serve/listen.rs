//! Accepts connections, each bounded in time, and hands requests to the router.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::Uri;
use gleaner_rules::config::web::Listen;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

use crate::access::Peer;
use crate::limits::{ANSWER_TIME_MAX, CONNECTIONS_MAX, HEAD_BYTES_MAX, HEAD_TIME_MAX, STALL_TIME_MAX};
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
                let listener = std::net::TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(TcpListener::from_std(listener)?))
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
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&connections).acquire_owned().await else { return };
        let (router, base_path) = (router.clone(), base_path.clone());
        let accepted = match &listening {
            Listening::Tcp(listener) => listener.accept().await.map(|(stream, peer)| {
                tokio::spawn(async move {
                    let _ = stream.set_nodelay(true);
                    connection(stream, Peer(Some(peer)), router, base_path).await;
                    drop(permit);
                });
            }),
            Listening::Unix(listener) => listener.accept().await.map(|(stream, _)| {
                tokio::spawn(async move {
                    connection(stream, Peer(None), router, base_path).await;
                    drop(permit);
                });
            }),
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
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(peer);
        let below = below(request.uri(), &base_path);
        let mut router = router.clone();
        async move {
            *request.uri_mut() = below;
            answered(&mut router, request).await
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME_MAX).max_buf_size(HEAD_BYTES_MAX).keep_alive(true);
    // Whoever goes away in the middle tells us nothing.
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(STALL_TIME_MAX));
    let _ = http.serve_connection(TokioIo::new(Box::pin(stream)), service).await;
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

/// The URI below the base path, without a final slash. What is not below it is nothing: `/` alone stands for that.
fn below(uri: &Uri, base_path: &str) -> Uri {
    let path = uri.path();
    let own = match path.strip_prefix(base_path) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => rest.trim_end_matches('/'),
        _ => "",
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

    #[test]
    fn paths_are_read_below_the_base_and_without_a_final_slash() {
        let of = |uri: &str, base: &str| below(&uri.parse().unwrap(), base).to_string();
        assert_eq!(of("/api/?t=caps", ""), "/api?t=caps");
        assert_eq!(of("/api", ""), "/api");
        assert_eq!(of("/g/api/", "/g"), "/api");
        assert_eq!(of("/g", "/g"), "/");
        assert_eq!(of("/gx/api", "/g"), "/");
        assert_eq!(of("/../g/api", "/g"), "/");
        assert_eq!(of("/g//api", "/g"), "//api");
    }
}
