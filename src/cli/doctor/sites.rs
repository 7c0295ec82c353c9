//! Each site: its password and session, robots.txt, and its start pages, each requested once and as slowly as its rules say. Nothing is
//! posted. A site that a person has paused, whose host has asked for a pause, or that its own rules keep quiet, is left alone, and that is reported.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use super::{Finding, Patient};
use crate::app::database::Database;
use crate::app::{pauses, secrets, sessions, status};
use crate::cli::dry_run::ahead::{self, Ahead};
use crate::limits::{DOCTOR_CHECK_TIME_MAX, DOCTOR_SITE_TIME_MAX, DOCTOR_SITES_MAX};
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_base::url::{without_keys, without_keys_in};
use gleaner_rules::SiteRules;

pub(super) async fn check(of: &Patient) -> Vec<Finding> {
    // One alone has all the time of the check.
    let time = if of.sites.len() > 1 { DOCTOR_SITE_TIME_MAX } else { DOCTOR_CHECK_TIME_MAX };
    for site in of.sites.iter().take(DOCTOR_SITES_MAX) {
        if tokio::time::timeout(time, one(of, site)).await.is_err() {
            let what = format!("its start pages did not all answer within {} s", time.as_secs());
            let fix = format!("{}: one site alone has more time", of.command(&format!("doctor {}", site.name)));
            of.tell([Finding::new("site_timed_out", &site.name, what, fix)]);
        }
    }
    Vec::new()
}

async fn one(of: &Patient, site: &Arc<SiteRules>) {
    // To read an account's files would make them private: that is found already, and nothing is changed here.
    if site.login.is_some() && has_open_session(of, site) {
        return;
    }
    let rest = rest(of, site).await;
    let account = account(of, site);
    let has_session = account.is_empty();
    of.tell(account);
    match rest {
        Some(Rest::Pause(finding)) => return of.tell([finding]),
        Some(Rest::Rules(why)) => return of.leave(format!("{}: its start pages were not requested: {why}", site.name)),
        None => {}
    }
    // A guest's page would say nothing of a member's.
    if !has_session || of.is_unreachable(site) {
        return;
    }
    for (url, ahead) in site.start.iter().zip(ahead::of(&of.config, site).await) {
        of.tell(start_page(of, site, &without_keys(url.as_str()), &ahead));
    }
}

fn has_open_session(of: &Patient, site: &SiteRules) -> bool {
    let folder = of.config.data_dir.join("sessions");
    let paths = [folder.join("tries"), folder.join(format!("{}.json", site.name)), folder];
    paths.iter().any(|path| fs::metadata(path).is_ok_and(|there| there.mode() & 0o077 != 0))
}

/// What speaks against a login: the password is read, and compared with nothing.
fn account(of: &Patient, site: &SiteRules) -> Vec<Finding> {
    let Some(_) = &site.login else { return Vec::new() };
    let (data_dir, name) = (&*of.config.data_dir, &*site.name);
    let login = of.command(&format!("login {name}"));
    match sessions::kept_at(data_dir, name) {
        Err(error) => vec![Finding::of_error("session_damaged", name, &format!("{error:#}"), &login)],
        Ok(Some(_)) => Vec::new(),
        Ok(None) => match secrets::password(data_dir, name) {
            Err(error) => vec![Finding::of_error("password_missing", name, &error.to_string(), &login)],
            Ok(_) => vec![Finding::new("session_missing", name, "its account is not logged in", login)],
        },
    }
}

/// Why nothing of a site may be requested now.
enum Rest {
    /// A pause, of a person or a host.
    Pause(Finding),
    /// Its own rules, as every night; or this cannot be told.
    Rules(String),
}

async fn rest(of: &Patient, site: &SiteRules) -> Option<Rest> {
    let (name, now) = (&*site.name, SystemClock.now());
    // Known without a database.
    if let Some(until) = site.hours.quiet_until(now) {
        return Some(Rest::Rules(format!("quiet_hours of the rule file until {}", until.rfc3339())));
    }
    let unknown = |error: &dyn std::fmt::Display| {
        let error = error.to_string();
        let first = error.split('\n').next().unwrap_or_default();
        Some(Rest::Rules(format!("whether it is to be left alone is not known: {first}")))
    };
    let database = match of.opened().await {
        Ok(database) => database.as_ref()?,
        Err(error) => return unknown(error),
    };
    let db = database.reader();
    let pause = match pauses::of(db, name, now).await {
        Ok(pause) => pause,
        Err(error) => return unknown(&error),
    };
    if let Some(pause) = pause {
        let what = format!(
            "{} has paused it {}: nothing of it was requested",
            pause.by,
            match pause.until {
                Some(until) => format!("until {}", until.rfc3339()),
                None => "until it is resumed".to_owned(),
            }
        );
        let resume = of.command(&format!("resume {name}"));
        let fix = match database {
            Database::Held(_) => resume,
            Database::File(_) => format!("{resume} once the service runs, which keeps a pause over restarts"),
        };
        return Some(Rest::Pause(Finding::new("site_paused", name, what, fix)));
    }
    match status::held(db, site, now).await {
        Ok(None) => {}
        Ok(Some(waiting)) => return Some(Rest::Rules(format!("{} until {}", waiting.reason, waiting.until))),
        Err(error) => return unknown(&error),
    }
    let hosts = match db.hosts().await {
        Ok(hosts) => hosts,
        Err(error) => return unknown(&error),
    };
    let host = hosts.iter().find(|host| *host.site == *name && host.blocked_until > now)?;
    let (until, why) = (host.blocked_until.rfc3339(), without_keys_in(&host.blocked_reason));
    let what = format!("{} is left alone until {until}: {why}; nothing of it was requested", host.origin);
    let fix = format!(
        "wait: it ends by itself, and a good answer after it ends what led to it; if it comes back, lower `rate` of {}",
        site.file.display()
    );
    Some(Rest::Pause(Finding::new("host_paused", name, what, fix)))
}

fn start_page(of: &Patient, site: &SiteRules, url: &str, ahead: &Ahead) -> Option<Finding> {
    if ahead.is_well() {
        return None;
    }
    let file = site.file.display();
    let render = of.command(&format!("render {url}"));
    let login = if site.login.is_some() {
        format!("; if a member sees more: {}", of.command(&format!("login {}", site.name)))
    } else {
        String::new()
    };
    Some(match (&ahead.error, ahead.status) {
        (Some(error), _) if error.contains("robots.txt") && !error.contains("cannot be fetched") => {
            let fix = format!(
                "start elsewhere; or, with the operator's permission, set robots = {{ obey = false, reason = \"…\" }} in {file}"
            );
            Finding::new("robots_closed", url, error.as_str(), fix)
        }
        (Some(error), _) => {
            let fix = format!("open it in a browser; then correct `start` of {file}, or wait until the site is back");
            Finding::new("site_unreachable", url, error.as_str(), fix)
        }
        (None, Some(status @ (401 | 403 | 429 | 503))) => {
            let fix = format!("open it in a browser: it may want a login, or less requests (`rate` of {file}){login}");
            Finding::new("site_refuses", url, format!("it answers with status {status}"), fix)
        }
        (None, Some(status)) if !(200..300).contains(&status) => {
            let fix = format!("open it in a browser, then correct `start` of {file}");
            Finding::new("site_answers_otherwise", url, format!("it answers with status {status}"), fix)
        }
        (None, _) => {
            let fix = format!("correct [classes] of {file}: {render} shows its links{login}");
            Finding::new("no_links", url, "the rules accept none of its links", fix)
        }
    })
}
