//! Random histories, for which the redb store has to give the same answers as the model.

use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::*;
use gleaner_torrent::Infohashes;
use proptest::prelude::*;

use super::{at, facts, hybrid, key, listing, magnet, redb, run, v1, v2, visit};

#[derive(Clone, Debug)]
enum Step {
    Add(Vec<Discovered>),
    MakeDue(Vec<Discovered>),
    Unpark { host: HostId, token: u64 },
    BringForward(HostId),
    Lease { host: HostId, owner: u64, urls_max: usize, time: u64, order: Box<LeaseOrder> },
    Release { owner: u64, keys: Vec<UrlKey> },
    ReleaseAll { owner: u64, host: HostId },
    Record(Vec<Visit>),
    Forget(Infohashes),
    Adopt(Infohashes),
    Block(HostId, u64, u32),
    Forgive(HostId),
    Note(u8, Vec<u8>),
    Reopen,
}

const HOSTS: u32 = 3;
const NOTES: [(&str, &str); 4] = [("s0", "a"), ("s0", "ab"), ("s0a", "b"), ("s1", "a")];
const TIME_MAX: u64 = 400;
/// Duration of a lease in a random history.
const LEASE_MS: u64 = 50;

fn any_key() -> impl Strategy<Value = UrlKey> {
    (0..HOSTS, 0..12_u8).prop_map(|(host, path)| key(HostId(host), &format!("/p{path}")))
}

fn any_due() -> impl Strategy<Value = UnixMillis> {
    prop_oneof![3 => Just(at(0)), 1 => (1..TIME_MAX).prop_map(at)]
}

fn any_found() -> impl Strategy<Value = Discovered> {
    let found = proptest::option::of((1..TIME_MAX).prop_map(at));
    (any_key(), 0..3_u16, 0..3_u8, any_due(), proptest::option::of(Just("http://via/".into())), any::<bool>(), found)
        .prop_map(|(key, depth, rank, due, via, is_target, found)| Discovered {
            key,
            depth,
            rank,
            due,
            via,
            is_target,
            found,
        })
}

fn any_hashes() -> impl Strategy<Value = Infohashes> {
    prop_oneof![
        (0..4_u8).prop_map(v1),
        (0..4_u8).prop_map(v2),
        (0..4_u8, 0..4_u8).prop_map(|(one, two)| hybrid(one, two)),
    ]
}

fn any_visit() -> impl Strategy<Value = Visit> {
    let next = prop_oneof![
        3 => Just(Next::Done),
        1 => any_due().prop_map(Next::RetryAt),
        1 => any_due().prop_map(Next::RefusedUntil),
        1 => any_due().prop_map(Next::RevisitAt),
        1 => any_due().prop_map(Next::WaitUntil),
        2 => (0..3_u64).prop_map(|token| Next::Park(token << 62)),
    ];
    let listing = (0..2_usize, 0..2_u64, proptest::collection::vec(0..9_u64, 0..5))
        .prop_map(|(series, page, targets)| listing(["/a", "/a\0b"][series], page, &targets));
    (
        (any_key(), 0..3_u16, 0..3_u8, 0..4_u8, 1..40_u64, proptest::sample::select(&Outcome::ALL[..]), next),
        proptest::option::weighted(0.3, 0..4_u64),
        proptest::collection::vec(any_found(), 0..4),
        proptest::option::weighted(0.4, any_hashes()),
        proptest::collection::vec(any_hashes(), 0..3),
        proptest::option::weighted(0.3, listing),
        proptest::option::weighted(0.4, (0..9_u8).prop_map(|memo| format!("memo {memo}").into())),
        proptest::option::weighted(0.3, (0..9_u8).prop_map(|why| format!("reason {why}").into())),
    )
        .prop_map(|(head, body_hash, outlinks, torrent, magnets, listing, memo, not_whole)| {
            let (key, depth, rank, attempts, ms, outcome, next) = head;
            Visit {
                depth,
                rank,
                attempts,
                next,
                body_hash,
                outlinks,
                torrent: torrent.map(facts),
                magnets: magnets.into_iter().map(magnet).collect(),
                listing,
                memo,
                not_whole,
                ..visit(key, ms, outcome)
            }
        })
}

fn any_step() -> impl Strategy<Value = Step> {
    let batch = || proptest::collection::vec(any_found(), 1..8);
    let ranks = RankOrder::of(&[2, 0, 3]);
    let order = prop_oneof![
        2 => Just(LeaseOrder::ByRank),
        2 => Just(LeaseOrder::Ranked(ranks)),
        1 => Just(LeaseOrder::Oldest(ranks)),
    ];
    let lease = (0..HOSTS, 1..3_u64, 0..6_usize, 0..60_u64, order);
    let release = (1..3_u64, proptest::collection::vec(any_key(), 1..6));
    prop_oneof![
        3 => batch().prop_map(Step::Add),
        2 => batch().prop_map(Step::MakeDue),
        2 => (0..HOSTS, 0..3_u64).prop_map(|(host, token)| Step::Unpark { host: HostId(host), token: token << 62 }),
        1 => (0..HOSTS).prop_map(|host| Step::BringForward(HostId(host))),
        4 => lease.prop_map(|(host, owner, urls_max, time, order)| {
            Step::Lease { host: HostId(host), owner, urls_max, time, order: Box::new(order) }
        }),
        2 => release.prop_map(|(owner, keys)| Step::Release { owner, keys }),
        1 => (1..3_u64, 0..HOSTS).prop_map(|(owner, host)| Step::ReleaseAll { owner, host: HostId(host) }),
        5 => proptest::collection::vec(any_visit(), 1..6).prop_map(Step::Record),
        1 => any_hashes().prop_map(Step::Forget),
        1 => any_hashes().prop_map(Step::Adopt),
        1 => (0..HOSTS, 0..TIME_MAX, 0..3_u32)
            .prop_map(|(host, until, complaints)| Step::Block(HostId(host), until, complaints)),
        1 => (0..HOSTS).prop_map(|host| Step::Forgive(HostId(host))),
        1 => (0..4_u8, proptest::collection::vec(any::<u8>(), 0..3)).prop_map(|(name, note)| Step::Note(name, note)),
        1 => Just(Step::Reopen),
    ]
}

/// The result of one step, in a comparable form.
async fn apply(db: &dyn CrawlDb, step: &Step, now: UnixMillis) -> String {
    match step.clone() {
        Step::Add(batch) => format!("{:?}", db.add_discovered(batch, now).await.unwrap()),
        Step::MakeDue(batch) => format!("{:?}", db.make_due(batch, now).await.unwrap()),
        Step::Unpark { host, token } => format!("{:?}", db.unpark(host, token, now).await.unwrap()),
        Step::BringForward(host) => format!("{:?}", db.bring_forward(host).await.unwrap()),
        Step::Lease { host, owner, urls_max, order, .. } => {
            let request = LeaseRequest {
                host,
                owner: Owner(owner),
                now,
                deadline: at(now.0 + LEASE_MS),
                urls_max,
                rank_max: u8::MAX,
                order: *order,
            };
            let mut leases = db.lease_due(request).await.unwrap();
            // The numbers are each store's own; their order is the line's.
            let mut line: Vec<u64> = leases.iter().map(|lease| lease.seq).collect();
            line.sort_unstable();
            for lease in &mut leases {
                lease.seq = line.iter().position(|seq| *seq == lease.seq).unwrap() as u64;
            }
            format!("{leases:?}")
        }
        Step::Release { owner, keys } => format!("{:?}", db.release(Owner(owner), keys).await.unwrap()),
        Step::ReleaseAll { owner, host } => {
            format!("{:?}", db.release_all(Owner(owner), &[host].into()).await.unwrap())
        }
        Step::Record(visits) => format!("{:?}", db.record_visits(visits.into()).await.unwrap()),
        Step::Forget(hashes) => format!("{:?}", db.forget_torrent(hashes, now).await.unwrap()),
        Step::Adopt(hashes) => format!("{:?}", db.adopt_torrent(facts(hashes), now).await.unwrap()),
        Step::Block(host, until, complaints) => {
            format!("{:?}", db.block_host_until(host, at(until), "why", complaints).await.unwrap())
        }
        Step::Forgive(host) => format!("{:?}", db.forgive_host(host).await.unwrap()),
        Step::Note(name, note) => {
            let (site, name) = NOTES[usize::from(name)];
            format!("{:?}", db.put_note(site, name, note).await.unwrap())
        }
        Step::Reopen => String::new(),
    }
}

/// Everything that the interface shows, one line each.
async fn everything(db: &dyn CrawlDb, now: UnixMillis) -> Vec<String> {
    let mut lines = vec![format!("{:?}", db.hosts().await.unwrap())];
    for host in (0..HOSTS).map(HostId) {
        lines.push(format!("due {:?}", db.host_due(host, now).await.unwrap()));
        lines.extend(db.queued(host, 99).await.unwrap().iter().map(|row| format!("queued {row:?}")));
        for path in 0..12 {
            lines.push(format!("{path} {:?}", db.url_record(&key(host, &format!("/p{path}"))).await.unwrap()));
        }
    }
    for (site, name) in NOTES {
        lines.push(format!("{site} {name} {:?}", db.note(site, name).await.unwrap()));
    }
    for site in ["s0", "s1"] {
        lines.push(format!("{site} {:?}", db.site_counts(site).await.unwrap()));
        lines.extend(db.not_whole(site).await.unwrap().iter().map(|row| format!("{row:?}")));
        lines.extend(db.url_looks(site, None, 99).await.unwrap().rows.iter().map(|row| format!("{row:?}")));
        lines.extend(db.listings(site, None, 99).await.unwrap().iter().map(|row| format!("{row:?}")));
    }
    lines.extend(db.torrents(None, 99).await.unwrap().iter().map(|row| format!("{row:?}")));
    lines.extend(db.newest(None, 0, 99).await.unwrap().iter().map(|row| format!("{:?}", row.place())));
    lines.push(format!("{:?}", Changes { database: 0, ..db.changes(0, 999).await.unwrap() }));
    lines.extend(db.magnets(None, 99).await.unwrap().iter().map(|row| format!("{row:?}")));
    let hashes = (0..4).flat_map(|byte| [v1(byte), v2(byte), hybrid(byte, 3 - byte)]).collect();
    lines.push(format!("{:?}", db.known_torrents(hashes).await.unwrap()));
    lines
}

async fn history(steps: Vec<Step>) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = redb(folder.path());
    let model = MemoryStore::new();
    for (number, site) in (0_u32..).zip(["s0", "s0", "s1"]) {
        let origin = format!("http://h{number}");
        for db in [&model as &dyn CrawlDb, &store] {
            assert_eq!(db.host_id(site, &origin).await.unwrap(), HostId(number));
        }
    }
    let mut now = at(1);
    for step in steps {
        if let Step::Lease { time, .. } = step {
            now = at(now.0 + time);
        }
        if let Step::Reopen = step {
            // Leases end with the process, the model's by time. URLs that a lease had marked due may have to be found
            // again, so both scan.
            now = at(now.0 + LEASE_MS);
            drop(store);
            store = redb(folder.path());
            for host in (0..HOSTS).map(HostId) {
                for db in [&model as &dyn CrawlDb, &store] {
                    let request = LeaseRequest {
                        host,
                        owner: Owner(0),
                        now,
                        deadline: now,
                        urls_max: 1,
                        rank_max: u8::MAX,
                        order: LeaseOrder::ByRank,
                    };
                    db.lease_due(request).await.unwrap();
                }
            }
        }
        assert_eq!(apply(&store, &step, now).await, apply(&model, &step, now).await, "{step:?} at {now:?}");
        let (ours, models) = (everything(&store, now).await, everything(&model, now).await);
        assert_eq!(ours, models, "after {step:?} at {now:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_redb_store_answers_as_the_model_does(steps in proptest::collection::vec(any_step(), 1..25)) {
        run(history(steps));
    }
}
