//! One proof of a site's session, or one login: restrictions from earlier logins, what is stored before anything is sent,
//! and the result. It runs concurrently with the loop and changes nothing of it; `session` draws the conclusions.

use crate::account::{self, Account, Keeper};
use crate::limits;
use crate::login::pace::Pace;
use crate::login::{self, Means, Noted, Proof, Report};
use crate::site::Site;
use gleaner_base::clock::UnixMillis;
use gleaner_login::secret::Secret;
use gleaner_login::tries::{Hold, Tries};
use gleaner_login::verdict::Verdict;
use gleaner_net::politeness::Answered;
use gleaner_rules::LoginRules;

/// The result of a proof or a login.
pub(super) enum SessionOutcome {
    Proof(Proof),
    /// Also if nothing was sent because earlier logins forbid it.
    Login(Result<Box<Report>, Hold>),
}

/// State of a login whose form was accepted, but for which no page has shown yet whether it succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unproven {
    /// An earlier process may have left one.
    #[default]
    Unasked,
    None,
    /// This process has sent it.
    Sent,
    /// An earlier process has sent it: a failed proof may now mean that its session has expired meanwhile.
    TakenUp,
}

/// Restores the cookies of a login that an earlier process has left unproven; true if there were some. The previous session
/// is known to have ended by then.
pub(super) fn take_up_unproven(site: &Site, account: &Account) -> bool {
    let before = account.jar.to_bytes();
    account.jar.clear();
    let is_taken_up = account.keeper.take_up_unproven(&account.jar).unwrap_or_else(|error| {
        let (site, error) = (&site.rules.name, account::in_one_line(&error));
        tracing::warn!(%site, error, "the cookies of an unproven login cannot be used");
        false
    });
    if !is_taken_up {
        account.jar.clear();
        // A moment ago a jar produced this list.
        let _ = account.jar.take_up(&before);
    }
    is_taken_up
}

/// Requests the page that proves the session.
pub(super) async fn prove(site: &Site, account: &Account, is_of_last_login: bool, pace: &mut Pace) -> SessionOutcome {
    let Some(rules) = &site.rules.login else { return NOTHING_TO_PROVE };
    let nothing = Secret::new("");
    let means = Means { rules, password: &nothing, jar: &account.jar };
    let tries = is_of_last_login.then(|| account.keeper.tries().ok()).flatten();
    let unless = tries.and_then(|tries| tries.unless()).unwrap_or(Verdict::Unknown);
    SessionOutcome::Proof(login::prove_last(site, means, unless, Some(pace)).await)
}

/// For a site whose rules have no login, and which therefore has no account.
const NOTHING_TO_PROVE: SessionOutcome =
    SessionOutcome::Proof(Proof { holds: Some(true), asks_to_wait: None, steps: Vec::new() });

/// One login, unless earlier ones forbid it. If it fails, the cookies of the previous session are restored: the stored
/// ones stay as they were.
pub(super) async fn log_in_once(site: &Site, of: &Account, now: UnixMillis, pace: &mut Pace) -> SessionOutcome {
    let Some(rules) = &site.rules.login else { return NOTHING_TO_PROVE };
    let keeper = &of.keeper;
    let _turn = match keeper.turn() {
        Ok(Some(turn)) => turn,
        Ok(None) => {
            let why = "another login to the site, by another process or another rule file of the account, is under way";
            return SessionOutcome::Login(Err(Hold::Until(now.plus(limits::OPERATOR_POLL), why.to_owned())));
        }
        Err(error) => return SessionOutcome::Login(Err(faulty(now, error))),
    };
    let (password, mut tries) = match may_log_in(site, rules, &**keeper, now) {
        Ok(known) => known,
        Err(hold) => return SessionOutcome::Login(Err(hold)),
    };
    let before = of.jar.to_bytes();
    of.jar.clear();
    let means = Means { rules, password: &password, jar: &of.jar };
    // It counts as an attempt once a form is sent: a process that is killed earlier has sent nothing to the account.
    tries.begin(&rules.user, &password);
    let noted = Noted::new(&site.rules.name, &*site.clock, &**keeper, &of.jar, tries.clone());
    let mut report = login::log_in_paced(site, means, &noted, pace).await;
    if report.was_sent {
        tries = noted.tries();
    }
    let now = site.clock.now();
    if report.is_unproven() {
        // It stays in progress until a page shows how it ended; the form is not sent again for that, not even by the next
        // process.
        tries.await_proof(report.unless, now);
        report.tell(&mut tries, now);
        if let Err(error) = keeper.keep_tries(&tries).and_then(|()| keeper.keep_unproven(&of.jar)) {
            let error = account::in_one_line(&error);
            tracing::error!(site = %site.rules.name, error, "the cookies of an unproven login cannot be stored");
        }
        return SessionOutcome::Login(Ok(Box::new(report)));
    }
    if report.judged.verdict != Verdict::LoggedIn {
        of.jar.clear();
        // A moment ago a jar produced this list.
        let _ = of.jar.take_up(&before);
    }
    match report.trouble {
        // A request that was held back or not answered before a form was sent says nothing of the login.
        Some(Answered::Reached) if !report.was_sent => tries.came_to_nothing(),
        Some(_) if !report.was_sent => tries.met_trouble(now),
        _ => {
            let _ = report.end(&mut tries, &rules.user, &password, now);
        }
    }
    report.tell(&mut tries, now);
    keep_end(site, &**keeper, &tries, report.judged.verdict);
    SessionOutcome::Login(Ok(Box::new(report)))
}

/// A file that cannot be read or written may be repaired at any time: it is retried soon.
fn faulty(now: UnixMillis, why: String) -> Hold {
    Hold::Until(now.plus(limits::KEEPER_RETRY), why)
}

/// The password, and the account's attempts, unless these or the stored state forbid a login.
fn may_log_in(site: &Site, rules: &LoginRules, keeper: &dyn Keeper, now: UnixMillis) -> Result<(Secret, Tries), Hold> {
    let faulty = |why| faulty(now, why);
    let password = keeper.password().map_err(Hold::Operator)?;
    let mut tries = keeper.tries().map_err(faulty)?;
    if let Some(why) = account::misplaced(&site.rules, rules, &password) {
        return Err(Hold::Operator(why));
    }
    tries.meet_table(rules.mark());
    tries.meet_way(rules.way);
    tries.meet_host(site.rules.first_authority());
    keeper.other_tries().iter().for_each(|other| tries.learn(other, &rules.user, &password));
    let broke_off = tries.broke_off(&rules.user, &password, now);
    let hold = tries.hold(&rules.user, &password, now);
    // An attempt that is not stored may be forgotten and repeated once too often: this checks beforehand that it can be stored.
    if broke_off || hold.is_none() {
        keeper.keep_tries(&tries).map_err(faulty)?;
    }
    if let Some(hold) = hold {
        return Err(hold);
    }
    // The cookies of an earlier login are of no use to this one.
    keeper.forget_unproven().map_err(faulty)?;
    Ok((password, tries))
}

/// Stores how a login has ended.
fn keep_end(site: &Site, keeper: &dyn Keeper, tries: &Tries, verdict: Verdict) {
    let site = &site.rules.name;
    // Its beginning is stored: without its end the next start would assume that it was killed.
    if let Err(error) = keeper.keep_tries(tries) {
        let error = account::in_one_line(&error);
        tracing::error!(%site, error, "the result of the login cannot be stored");
    }
    // A session to be kept replaces its cookies when it is stored: until then they must not be lost.
    if verdict != Verdict::LoggedIn
        && let Err(error) = keeper.forget_unproven()
    {
        let error = account::in_one_line(&error);
        tracing::warn!(%site, error, "the cookies of a login that has ended cannot be dropped");
    }
}
