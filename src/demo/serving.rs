//! The socket of a demo site: one listener on loopback, a delay before each response, a shutdown that waits for requests in progress.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::DemoError;
use crate::limits::DEMO_STOP_TIME_MAX;

/// A site that is being served. Dropped without [`Serving::stop`], it aborts its connections.
pub(super) struct Serving {
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<()>,
}

/// Listens on a loopback address; port 0 lets the system choose.
///
/// # Errors
/// When the address is not loopback or not available.
pub(super) async fn listen(bind: SocketAddr) -> Result<(TcpListener, SocketAddr), DemoError> {
    if !bind.ip().is_loopback() {
        return Err(DemoError::NotLoopback { address: bind });
    }
    let bind_error = |source| DemoError::Bind { address: bind, source };
    let listener = TcpListener::bind(bind).await.map_err(bind_error)?;
    let address = listener.local_addr().map_err(bind_error)?;
    Ok((listener, address))
}

/// Serves a site on the current runtime, each response after a delay.
pub(super) fn serve<S, A, F>(listener: TcpListener, site: Arc<S>, delay: Duration, answer: A) -> Serving
where
    S: Send + Sync + 'static,
    A: Fn(Arc<S>, Request) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send,
{
    let router = Router::new().fallback(move |State(site): State<Arc<S>>, request: Request| async move {
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        answer(site, request).await
    });
    let (stop, stopped) = oneshot::channel();
    // Without it, small responses wait for the client's delayed acknowledgement. A socket that refuses it still works.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let server = tokio::spawn(async move {
        let until = async move { drop(stopped.await) };
        // axum's server never ends with an error: a failed accept is retried.
        drop(axum::serve(listener, router.with_state(site)).with_graceful_shutdown(until).await);
    });
    Serving { stop: Some(stop), server }
}

impl Serving {
    /// Stops listening, lets running responses finish, and releases the port; after `limits::DEMO_STOP_TIME_MAX`
    /// the remaining connections are aborted.
    pub(super) async fn stop(mut self) {
        // An error only means that the server has ended already.
        self.stop.take().map(|stop| stop.send(()));
        drop(tokio::time::timeout(DEMO_STOP_TIME_MAX, &mut self.server).await);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.server.abort();
    }
}
