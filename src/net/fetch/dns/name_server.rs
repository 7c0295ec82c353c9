//! A name server on loopback for tests: it gives the answers that the test wants, and counts queries.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::proto::rr::Name;
use tokio::net::UdpSocket;

use super::Dns;
use super::servers::Servers;

/// The name server's answer for a name.
#[derive(Clone, Debug)]
pub enum Says {
    /// One address, and its TTL in seconds.
    At(Ipv4Addr, u32),
    /// The same after this delay; queries in the meantime wait, too.
    Late(Duration, Ipv4Addr, u32),
    /// Addresses of both families.
    All(Vec<IpAddr>, u32),
    /// An alias with its TTL, and the address of its target.
    Alias(u32, Ipv4Addr, u32),
    NoSuchName,
    NoAddress,
    Fails,
    Garbage,
    Nothing,
}

/// A name server. `says` gets the queried name and the number of earlier queries for A.
pub struct NameServer {
    pub address: SocketAddr,
    asked: Arc<AtomicUsize>,
}

pub async fn name_server(says: impl Fn(&str, usize) -> Says + Send + 'static) -> NameServer {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let server = NameServer { address: socket.local_addr().unwrap(), asked: Arc::default() };
    let asked = Arc::clone(&server.asked);
    tokio::spawn(async move {
        let mut packet = [0; 1_500];
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            let (name, question) = question(&packet[..length]);
            let is_v4 = question[question.len() - 4..question.len() - 2] == [0, 1];
            let before = if is_v4 { asked.fetch_add(1, Ordering::Relaxed) } else { asked.load(Ordering::Relaxed) };
            // The AAAA query comes beside the A query, usually after it.
            let mut said = says(&name, if is_v4 { before } else { before.saturating_sub(1) });
            if let Says::Late(by, address, ttl) = said {
                tokio::time::sleep(if is_v4 { by } else { Duration::ZERO }).await;
                said = Says::At(address, ttl);
            }
            if let Some(answer) = answer(&packet[..2], question, is_v4, said) {
                socket.send_to(&answer, from).await.unwrap();
            }
        }
    });
    server
}

/// The name and the bytes of the only question in a packet (RFC 1035 §4.1).
fn question(packet: &[u8]) -> (String, &[u8]) {
    let (mut at, mut labels) = (12, Vec::new());
    while packet[at] != 0 {
        let length = usize::from(packet[at]);
        labels.push(String::from_utf8_lossy(&packet[at + 1..=at + length]).into_owned());
        at += 1 + length;
    }
    (labels.join("."), &packet[12..at + 5])
}

fn answer(id: &[u8], question: &[u8], is_v4: bool, said: Says) -> Option<Vec<u8>> {
    let record = |name: &[u8], kind: u8, ttl: u32, data: &[u8]| {
        let length = u16::try_from(data.len()).unwrap().to_be_bytes();
        [name, &[0, kind, 0, 1], &ttl.to_be_bytes(), &length, data].concat()
    };
    let asked_name = [0xc0, 12];
    let (code, answers): (u8, Vec<Vec<u8>>) = match said {
        Says::Nothing => return None,
        Says::Garbage => return Some([id, b"\xff\xff\xff"].concat()),
        Says::Fails => (2, vec![]),
        Says::NoSuchName => (3, vec![]),
        Says::At(address, ttl) if is_v4 => (0, vec![record(&asked_name, 1, ttl, &address.octets())]),
        Says::Alias(alias_ttl, address, ttl) if is_v4 => {
            let other = b"\x05other\x07example\0";
            (0, vec![record(&asked_name, 5, alias_ttl, other), record(other, 1, ttl, &address.octets())])
        }
        Says::All(addresses, ttl) => {
            let of_kind = addresses.iter().filter(|address| address.is_ipv4() == is_v4);
            let records = of_kind.map(|address| match address {
                IpAddr::V4(address) => record(&asked_name, 1, ttl, &address.octets()),
                IpAddr::V6(address) => record(&asked_name, 28, ttl, &address.octets()),
            });
            (0, records.collect())
        }
        Says::NoAddress | Says::At(..) | Says::Late(..) | Says::Alias(..) => (0, vec![]),
    };
    // The zone's SOA sets the negative TTL (RFC 2308): 60 s.
    let soa = record(&[0], 6, 60, &[&[0, 0][..], &[0; 16], &60_u32.to_be_bytes()].concat());
    let authority = if answers.is_empty() && code != 2 { soa } else { Vec::new() };
    let counts = [0, 1, 0, u8::try_from(answers.len()).unwrap(), 0, u8::from(!authority.is_empty()), 0, 0];
    Some([id, &[0x81, 0x80 | code], &counts, question, &answers.concat(), &authority].concat())
}

pub fn dns(server: &NameServer, hosts: &str) -> Dns {
    patient_dns(server, hosts, Duration::from_millis(300))
}

/// A resolver with this timeout for each answer.
pub fn patient_dns(server: &NameServer, hosts: &str, patience: Duration) -> Dns {
    let mut connection = ConnectionConfig::udp();
    connection.port = server.address.port();
    let config = ResolverConfig::from_parts(
        None,
        vec![Name::from_ascii("search.example.").unwrap()],
        vec![NameServerConfig::new(server.address.ip(), true, vec![connection])],
    );
    let mut options = ResolverOpts::default();
    options.timeout = patience;
    options.attempts = 1;
    Dns::new(Servers::fixed(config, options, hosts))
}

/// Advances time without waiting. The clock is paused only here: sockets need it to run.
pub async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

impl NameServer {
    /// Number of queries for A so far.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}
