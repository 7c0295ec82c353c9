//! A certificate authority for the test, which the crawler trusts through `SSL_CERT_FILE`, and the certificates that it signs: a good
//! one, and the bad ones.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Signs for the servers.
pub struct Certificates {
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Certificates {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self { authority }
    }

    /// Writes the authority's certificate for `SSL_CERT_FILE`.
    pub fn write_authority(&self, path: &Path) {
        std::fs::write(path, self.authority.pem()).unwrap();
    }

    /// For this address.
    pub fn good(&self, address: IpAddr) -> Arc<ServerConfig> {
        self.signed(params(address))
    }

    /// For this address, until 2001.
    pub fn expired(&self, address: IpAddr) -> Arc<ServerConfig> {
        let mut params = params(address);
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(2001, 1, 1);
        self.signed(params)
    }

    /// For a name that is not this address's.
    pub fn wrong_host(&self) -> Arc<ServerConfig> {
        self.signed(CertificateParams::new(vec!["elsewhere.example".to_owned()]).unwrap())
    }

    /// For this address, without a trusted signature.
    pub fn self_signed(&self, address: IpAddr) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let certificate = params(address).self_signed(&key).unwrap();
        config(certificate.der().to_vec(), &key)
    }

    fn signed(&self, params: CertificateParams) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.authority).unwrap();
        config(certificate.der().to_vec(), &key)
    }
}

fn params(address: IpAddr) -> CertificateParams {
    let mut params = CertificateParams::default();
    // A distinct name: the default is also the authority's.
    params.distinguished_name.push(DnType::CommonName, "hostile");
    params.subject_alt_names = vec![SanType::IpAddress(address)];
    params
}

fn config(certificate: Vec<u8>, key: &KeyPair) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate.into()], key).unwrap())
}
