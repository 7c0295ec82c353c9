//! Unit tests of `engine::faults`.

use super::*;
use crate::wire::Response;

fn request(url: &str) -> Request {
    let method = "GET".to_owned();
    let (url, headers, body) = (url.to_owned(), Vec::new(), Vec::new());
    Request { asker: Asker::Fetch, method, url, headers, credentials: true, body }
}

#[test]
fn what_was_asked_in_vain_is_left_until_it_is_answered() {
    let mut faults = Faults::default();
    let ask = |faults: &mut Faults, id: RequestId, url: &str, status: u16| {
        faults.asked(id, &request(url));
        faults.answered(id, &Ok(Response { status, ..Response::default() }));
    };
    ask(&mut faults, 1, "http://s.test/api/new/1", 500);
    ask(&mut faults, 2, "http://s.test/count", 500);
    assert_eq!((faults.count(), faults.are_left()), (2, false), "neither has ever answered");
    ask(&mut faults, 3, "http://s.test/api/new/2", 200);
    assert!(faults.are_left(), "its neighbour has");
    ask(&mut faults, 4, "http://s.test/api/new/1", 200);
    assert!(!faults.are_left());
    ask(&mut faults, 5, "http://s.test/api/new/3", 404);
    assert!(!faults.are_left(), "what is not there is no fault");
    for (nth, id) in (7_u32..).step_by(2).zip(["feedbeef", "big-buck-bunny", "0a9f"]) {
        ask(&mut faults, nth, &format!("http://s.test/api/one/{id}"), 200);
        ask(&mut faults, nth + 1, "http://s.test/api/one/1b8e", 500);
        assert!(faults.are_left(), "{id} was answered");
        ask(&mut faults, nth + 1, "http://s.test/api/one/1b8e", 200);
        faults.answered.clear();
    }
    ask(&mut faults, 20, "http://s.test/api/list", 200);
    ask(&mut faults, 21, "http://s.test/api/stats", 500);
    assert!(!faults.are_left() && !faults.has_paused(), "another interface, which has never answered");
    ask(&mut faults, 22, "http://s.test/api/list", 503);
    assert!(faults.has_paused() && faults.is_paused());
    ask(&mut faults, 24, "http://s.test/api/list", 200);
    assert!(faults.has_paused() && !faults.is_paused());
    let count = faults.count();
    faults.asked(23, &request("http://other.test/x"));
    faults.answered(23, &Err("the rules refuse it".to_owned()));
    assert_eq!(faults.count(), count, "nobody was asked");
    ask(&mut faults, 25, "http://s.test/api/list", 429);
    ask(&mut faults, 26, "http://s.test/api/list", 200);
    assert!(faults.is_paused());
}
