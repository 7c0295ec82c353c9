//! One request to an address that the operator has named for it, as webhooks and dead man's switches are: no redirect is followed, no cookie kept, and next to nothing of
//! the answer read. Its address may be a secret: no error names it.

use std::time::Duration;

use crate::fetch::tls::Tls;
use crate::limits::HOOK_TIME_MAX;

/// Why it was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    #[error("it answers with status {0}")]
    Status(u16),
    #[error("it redirects (status {0}), which is not followed: write the address that it redirects to")]
    Redirects(u16),
    #[error("it does not answer within {} s", HOOK_TIME_MAX.as_secs())]
    TimedOut,
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    #[error("the request cannot be made: {0}")]
    Invalid(String),
}

/// A client for such requests.
#[derive(Clone)]
pub struct Hooks(reqwest::Client);

impl Hooks {
    /// # Errors
    /// The system's certificates cannot be read.
    pub fn new(user_agent: &str, tls: &Tls) -> Result<Self, HookError> {
        let invalid = |error: &dyn std::fmt::Display| HookError::Invalid(error.to_string());
        let config = tls.config().map_err(|error| invalid(&error))?;
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(config)
            .user_agent(user_agent)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .pool_max_idle_per_host(0)
            .timeout(HOOK_TIME_MAX)
            .connect_timeout(HOOK_TIME_MAX)
            .no_proxy();
        client.build().map(Self).map_err(|error| invalid(&error.without_url()))
    }

    /// A POST of JSON, or a GET without one; done if it is answered with 2xx.
    ///
    /// # Errors
    /// See [`HookError`].
    pub async fn send(&self, url: &str, json: Option<String>, header: Option<(&str, String)>) -> Result<(), HookError> {
        let mut request = match json {
            Some(json) => self.0.post(url).header("content-type", "application/json").body(json),
            None => self.0.get(url),
        };
        if let Some((name, value)) = header {
            let mut value = reqwest::header::HeaderValue::from_str(&value)
                .map_err(|_| HookError::Invalid("its secret does not fit into a header".to_owned()))?;
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        // A server that never ends its headers is bounded by the time, its body is not read.
        let sent = tokio::time::timeout(HOOK_TIME_MAX + Duration::from_secs(1), request.send()).await;
        match sent {
            Err(_) => Err(HookError::TimedOut),
            Ok(Err(error)) if error.is_timeout() => Err(HookError::TimedOut),
            Ok(Err(error)) if error.is_builder() => Err(HookError::Invalid(error.without_url().to_string())),
            Ok(Err(error)) => Err(HookError::Unreachable(cause(&error.without_url()))),
            Ok(Ok(answer)) => match answer.status().as_u16() {
                200..=299 => Ok(()),
                status @ 300..=399 => Err(HookError::Redirects(status)),
                status => Err(HookError::Status(status)),
            },
        }
    }
}

/// The innermost cause: those around it only say that it failed.
fn cause(error: &dyn std::error::Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
