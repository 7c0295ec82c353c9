//! TLS for all sites of the process: rustls with ring, and the system's root certificates, read once. A client that
//! reads them itself would cost 4 MB and 10 ms.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::ring;

/// The process's TLS settings. Clones share them; nothing is read before the first client is built.
#[derive(Clone, Debug, Default)]
pub struct Tls(Arc<OnceLock<ClientConfig>>);

impl Tls {
    /// The settings for one client.
    ///
    /// # Errors
    /// The system's root certificates are unusable.
    pub fn config(&self) -> Result<ClientConfig, rustls::Error> {
        match self.0.get() {
            Some(config) => Ok(config.clone()),
            None => {
                let config = read()?;
                Ok(self.0.get_or_init(|| config).clone())
            }
        }
    }
}

fn read() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = rustls_platform_verifier::Verifier::new(Arc::clone(&provider))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
