//! The HTTP server of a running service, on a thread and a runtime of its own that yield to the crawl: no reader costs it a lane.

mod desk;
mod examine;
mod history;
mod measured;
mod rule_files;

use std::io::ErrorKind;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context as _, bail};
use gleaner_base::recent::Recent;
use gleaner_crawl::progress::{Progress, SiteProgress};
use gleaner_rules::config::Config;
use gleaner_rules::config::web::{Auth, Listen};
use gleaner_serve::alarms::Alarms;
use gleaner_serve::tokens::Tokens;
use gleaner_serve::{Inside, Listening, Outlet, Report, SiteWork, serve};
use tokio::sync::oneshot;

use self::history::History;
use self::measured::Sources;
use super::alarms::Desk;
use super::control::Live;
use super::figures::Figures;
use super::finding::Finder;
use super::niceness::be_nice_to_all;
use super::pauses::Wishes;
use super::{App, changes, schedule};
use crate::limits::SCHEDULE_LISTS_MAX;

/// The running server. Dropped, it ends; what is being answered is cut off.
pub struct Server {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts it; None if the configuration wants none, or its port is taken: then the crawl goes on without.
    ///
    /// # Errors
    /// An address that others can reach, without a token that admits them.
    pub fn start(
        app: &App,
        config: &Config,
        finder: Finder,
        progress: &Progress,
        (log, (wishes, alarms), figures): (Recent, (Wishes, Desk), Figures),
    ) -> anyhow::Result<Option<Self>> {
        let Some(listen) = config.web.listen.clone() else { return Ok(None) };
        if !listen.is_local() && Tokens::of(&app.data_dir).are_none() {
            bail!(
                "[web] listen = \"{}\": others than this machine can reach this address, and no token admits them\nhint: gleaner token new NAME{}, \
                 or listen on 127.0.0.1",
                told(&listen),
                config.given
            );
        }
        if config.web.auth == Auth::All && Tokens::of(&app.data_dir).are_none() {
            tracing::warn!(
                "[web] auth = \"all\", and there is no token: nobody is admitted (hint: gleaner token new NAME)"
            );
        }
        let history = History::new(app, progress);
        let outlet = Outlet::new(
            (app.reader(), Arc::clone(&app.archive), Arc::new(move || finder.search())),
            inside(app, config, (progress, &history, figures), log, (wishes, alarms)),
            Arc::clone(&app.clock),
            config.web.clone(),
            &app.data_dir,
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            // Searches and files are read on threads of its own.
            .on_thread_start(be_nice_to_all)
            .build()
            .context("the HTTP server has no runtime")?;
        // Bound here, so that a port that is taken is told before the service is up.
        let entered = runtime.enter();
        let bound = Listening::bind(&listen);
        drop(entered);
        let listening = match bound {
            Ok(listening) => listening,
            Err(error) => {
                // Dropped here, it would wait for its threads, which no task may.
                runtime.shutdown_background();
                let hint = match error.kind() {
                    ErrorKind::AddrInUse => {
                        "another program has this port: set another one as `listen` of [web] in gleaner.toml"
                    }
                    _ => "set `listen` of [web] in gleaner.toml",
                };
                tracing::error!(listen = told(&listen), %error, hint, "no HTTP server: the crawl goes on without");
                return Ok(None);
            }
        };
        let address = listening.address().ok().flatten();
        let shown = address.map_or_else(|| listen.to_string(), |address| Listen::Tcp(address).to_string());
        tracing::info!(
            url = format!("{shown}{}/", config.web.base_path),
            "HTTP server is up: below this URL are api (Torznab), feeds/all.rss, api/v1/summary (JSON)"
        );
        let (stop, stopped) = oneshot::channel();
        let run = move || {
            be_nice_to_all();
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listening, Arc::new(outlet)) => {}
                    () = history.keep_up() => {}
                    _ = stopped => {}
                }
            });
            // Answers that are being read from the disk may not hold the end of the process.
            runtime.shutdown_background();
        };
        let thread =
            std::thread::Builder::new().name("web".to_owned()).spawn(run).context("the HTTP server has no thread")?;
        Ok(Some(Self { stop: Some(stop), thread: Some(thread) }))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the service knows of its crawl: reports, as the commands print them, and the figures in them.
fn inside(
    app: &App,
    config: &Config,
    (progress, history, figures): (&Progress, &History, Figures),
    log: Recent,
    (wishes, desk): (Wishes, Desk),
) -> Inside {
    let live = Arc::new(Live { db: Arc::clone(&app.db), progress: Some(progress.clone()) });
    let clock = Arc::clone(&app.clock);
    let report = move |live: &Arc<Live>| {
        let (live, now) = (Arc::clone(live), clock.now());
        async move { live.report(now).await }
    };
    let sources = Sources::of(app, progress, figures.clone(), desk.clone());
    let (open, backups) = (desk.clone(), app.backups());
    let (of_all, of_site) = (report.clone(), report);
    let (l1, l2, l3, l4, l5, l6) = (live.clone(), live.clone(), live.clone(), live.clone(), live.clone(), live);
    let (for_lists, for_schedule) = (Arc::clone(&app.clock), Arc::clone(&app.clock));
    let progress = progress.clone();
    Inside {
        status: Report::of(move |_| {
            let report = of_all(&l1);
            let ((alarms, alarms_away), backups) = (open.open(), backups.status());
            async move { Ok(Some(super::status::StatusReport { alarms, alarms_away, backups, ..report.await? })) }
        }),
        site: Report::of(move |name| {
            let report = of_site(&l2);
            async move { Ok(report.await?.sites.into_iter().find(|site| site.name == name)) }
        }),
        lists: Box::new(move |site| {
            let (live, now) = (Arc::clone(&l3), for_lists.now());
            Box::pin(async move {
                let (state, boards) = schedule::stored(live.as_ref(), &site).await?;
                Ok(off_the_loop(move || schedule::lists(state.as_ref(), &boards, now)).await)
            })
        }),
        schedule: Report::of(move |site: String| {
            let (live, now) = (Arc::clone(&l4), for_schedule.now());
            async move {
                let (state, boards) = schedule::stored(live.as_ref(), &site).await?;
                let Some(state) = state else { return Ok(None) };
                let mut report = off_the_loop(move || schedule::report(&site, &state, &boards, now)).await;
                report.lists.truncate(SCHEDULE_LISTS_MAX);
                Ok(Some(report))
            }
        }),
        delay: Report::of(move |site: String| {
            let live = Arc::clone(&l5);
            async move { changes::delays(live.as_ref(), &site).await }
        }),
        log,
        act: Box::new(move |act| {
            let wishes = wishes.clone();
            Box::pin(async move { wishes.ask(act).await })
        }),
        alarms: alarms(desk),
        desk: desk::desk(app, config, (history, figures), (&progress, l6)),
        works: Box::new(move || works(&progress)),
        metrics: Box::new(move || {
            let sources = sources.clone();
            Box::pin(async move { sources.families().await })
        }),
    }
}

/// The alarms, for who looks at them and answers.
fn alarms(desk: Desk) -> Alarms {
    let (of_list, of_page) = (desk.clone(), desk.clone());
    Alarms {
        list: Box::new(move || {
            let list = of_list.list();
            Box::pin(async move { Ok(list) })
        }),
        answer: Box::new(move |id, answer| {
            let desk = desk.clone();
            Box::pin(async move { desk.answer(id, answer).await })
        }),
        page: Box::new(move |name| {
            let desk = of_page.clone();
            Box::pin(async move { Ok(off_the_loop(move || desk.page(&name)).await) })
        }),
    }
}

/// What takes long is reckoned beside the server's loop.
async fn off_the_loop<T: Send + Default + 'static>(reckon: impl FnOnce() -> T + Send + 'static) -> T {
    // It fails only with the process.
    tokio::task::spawn_blocking(reckon).await.unwrap_or_default()
}

fn works(progress: &Progress) -> Vec<SiteWork> {
    let work = |(site, doing): (String, SiteProgress)| SiteWork {
        site,
        requests: doing.counts.pages + doing.counts.script_requests,
        torrents: doing.counts.torrents,
        queued: doing.counts.queued,
        under_way: doing.under_way,
        waiting: doing.waiting.map(|(until, why)| (until.rfc3339(), why)),
    };
    progress.snapshot().into_iter().map(work).collect()
}

fn told(listen: &Listen) -> String {
    listen.to_string().trim_start_matches("http://").to_owned()
}
