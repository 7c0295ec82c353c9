//! Access control: sessions, the account's login attempts, and whether a form contains what a browser would have sent.

use std::collections::HashMap;
use std::fmt::Write as _;

use md5::Md5;
use sha1::{Digest as _, Sha1};

use super::family::{After, Family, Sent};
use super::pattern;
use crate::limits::{DEMO_PARAMETERS_MAX, DEMO_SESSIONS_MAX, DEMO_WRONG_TRIES_MAX};
use crate::random::{Random, mix};
use gleaner_base::clock::UnixMillis;

/// One session, of a guest or of a member.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Session {
    pub is_member: bool,
    /// Remaining requests; None for no limit.
    pub left: Option<u64>,
    /// The message that the login page shows once.
    pub flash: Option<&'static str>,
}

/// The result of a login attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tried {
    /// The id of the new session.
    In(String),
    Wrong,
    /// The third wrong attempt.
    LockedNow,
    /// The account was already locked.
    Locked,
    /// Not an attempt: the form is not the one that was issued.
    Malformed,
}

/// The account and its sessions.
pub(super) struct Gate {
    family: &'static Family,
    password: String,
    sessions: HashMap<String, Session>,
    /// Requests for which a session is valid; 0 for no limit.
    expire_every: u64,
    wrong_tries: u32,
    random: Random,
}

impl Gate {
    pub(super) fn new(family: &'static Family, password: String, expire_every: u64, seed: u64) -> Self {
        let random = Random::new(mix(seed, 0x6a7e));
        Self { family, password, sessions: HashMap::new(), expire_every, wrong_tries: 0, random }
    }

    pub(super) fn session(&mut self, id: &str) -> Option<&mut Session> {
        self.sessions.get_mut(id)
    }

    /// Creates a guest session. If there are too many, the guests' are dropped.
    pub(super) fn guest(&mut self) -> String {
        if self.sessions.len() >= DEMO_SESSIONS_MAX {
            self.sessions.retain(|_, session| session.is_member);
        }
        self.begin(Session::default())
    }

    fn begin(&mut self, session: Session) -> String {
        let id = format!("{:016x}{:016x}", self.random.number(), self.random.number());
        self.sessions.insert(id.clone(), session);
        id
    }

    pub(super) fn end(&mut self, id: &str) -> bool {
        self.sessions.remove(id).is_some_and(|session| session.is_member)
    }

    /// Counts one request of a member. False if the session was used up before it; it then ends for good.
    pub(super) fn count_request(&mut self, id: &str) -> bool {
        let Some(session) = self.sessions.get_mut(id) else { return false };
        match &mut session.left {
            Some(0) => {
                self.sessions.remove(id);
                return false;
            }
            Some(left) => *left -= 1,
            None => {}
        }
        true
    }

    /// The session that these cookies, or this `Authorization`, name, and whether it is a member's.
    pub(super) fn visitor(&self, cookies: &[(&str, &str)], bearer: Option<&str>) -> (Option<String>, bool) {
        if matches!(self.family.after, After::Token) {
            let id = bearer.filter(|id| self.sessions.contains_key(*id)).map(str::to_owned);
            let is_member = id.is_some();
            return (id, is_member);
        }
        let members = self.family.member_cookies.iter().map(|(_, cookie)| *cookie);
        let named = members.clone().chain(self.family.guest_cookies.iter().copied()).find_map(|cookie| {
            let (name, value) = pair(cookie);
            cookies.iter().filter(|(of, _)| *of == name).find_map(|(_, sent)| {
                let (_, id) = pattern::read(value, sent)?.into_iter().find(|(name, _)| *name == "sid")?;
                self.sessions.contains_key(id).then(|| id.to_owned())
            })
        });
        let Some(id) = named else { return (None, false) };
        let is_right = |cookie: &'static str| {
            let (name, value) = pair(cookie);
            let due = filled(value, &id);
            cookies.iter().any(|(of, sent)| *of == name && *sent == due)
        };
        let is_member =
            self.sessions.get(&id).is_some_and(|session| session.is_member) && members.clone().all(is_right);
        (Some(id), is_member)
    }

    /// Evaluates a login form, with its fields in order. `session` is the visitor's.
    pub(super) fn log_in(&mut self, fields: &[(String, String)], session: Option<&str>, now: UnixMillis) -> Tried {
        let user = |sends: &'static [(&'static str, Sent)]| sends.iter().find(|(_, sent)| matches!(sent, Sent::User));
        let value_of = |name: &str| fields.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str());
        let form = self.family.sends.iter().find(|sends| user(sends).is_some_and(|(name, _)| value_of(name).is_some()));
        let Some(form) = form.filter(|form| self.is_whole(form, fields, session, now)) else {
            return Tried::Malformed;
        };
        if self.wrong_tries >= DEMO_WRONG_TRIES_MAX {
            return Tried::Locked;
        }
        let is_right = form.iter().all(|(name, sent)| {
            let due = match sent {
                Sent::User => self.family.user.to_owned(),
                Sent::Password => self.password.clone(),
                Sent::Md5 => md5_hex(&self.password),
                Sent::SaltedSha1 => {
                    let kept = digest(&format!("{}{}", self.family.user, self.password));
                    digest(&format!("{kept}{}", token(session.unwrap_or_default(), "")))
                }
                _ => return true,
            };
            value_of(name) == Some(due.as_str())
        });
        if !is_right {
            self.wrong_tries += 1;
            return if self.wrong_tries == DEMO_WRONG_TRIES_MAX { Tried::LockedNow } else { Tried::Wrong };
        }
        self.wrong_tries = 0;
        session.map(|old| self.sessions.remove(old));
        let left = (self.expire_every > 0).then_some(self.expire_every);
        Tried::In(self.begin(Session { is_member: true, left, flash: None }))
    }

    /// True if every field is as a browser would send it, and no other field was sent.
    fn is_whole(
        &self,
        form: &[(&'static str, Sent)],
        fields: &[(String, String)],
        session: Option<&str>,
        now: UnixMillis,
    ) -> bool {
        let sid = session.unwrap_or_default();
        let real = |name: &'static str| filled(name, sid);
        let value_of = |name: &str| fields.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str());
        let time =
            form.iter().find(|(_, sent)| matches!(sent, Sent::Time)).and_then(|(name, _)| value_of(name)).unwrap_or("");
        let is_right = |(name, sent): &(&'static str, Sent)| {
            let value = value_of(&real(name));
            match sent {
                Sent::User | Sent::Password | Sent::Md5 | Sent::SaltedSha1 => value.is_some(),
                Sent::Empty => value == Some(""),
                Sent::Text(due) => value == Some(due),
                Sent::Maybe(due) => value.is_none_or(|value| value == *due),
                Sent::Token | Sent::Mark => session.is_some() && value == Some(token(sid, time).as_str()),
                // Without cookies, only the form contains the session.
                Sent::Sid => value.is_some_and(|value| value == sid || (session.is_none() && value.is_empty())),
                // phpBB refuses a form that comes back in the second in which it was generated.
                Sent::Time => {
                    value.and_then(|value| value.parse::<u64>().ok()).is_some_and(|made| now.0 / 1_000 > made)
                }
            }
        };
        fields.len() <= DEMO_PARAMETERS_MAX
            && form.iter().all(is_right)
            && fields.iter().all(|(sent, _)| form.iter().filter(|(name, _)| *sent == real(name)).count() == 1)
    }
}

/// A cookie's name and the pattern of its value.
fn pair(cookie: &'static str) -> (&'static str, &'static str) {
    cookie.split(';').next().unwrap_or_default().split_once('=').unwrap_or_default()
}

/// A text with the session's placeholders filled in.
pub(super) fn filled(text: &str, sid: &str) -> String {
    text.replace("{sid}", sid).replace("{mark}", &digest(&format!("mark {sid}"))[..8])
}

/// The token of a form: it depends on the session, and on the second in which the form was generated if the form contains that.
pub(super) fn token(sid: &str, time: &str) -> String {
    digest(&format!("form {sid} {time}"))[..32].to_owned()
}

/// 40 hex digits.
fn digest(text: &str) -> String {
    hex(&Sha1::digest(text.as_bytes()))
}

/// What the families' scripts send for an ASCII password.
fn md5_hex(text: &str) -> String {
    hex(&Md5::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing into a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests;
