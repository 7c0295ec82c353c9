//! The HTTP server of a running service, on a thread and a runtime of its own: no reader costs the crawl a lane.

mod measured;

use std::io::ErrorKind;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context as _, bail};
use gleaner_crawl::progress::Progress;
use gleaner_rules::config::Config;
use gleaner_rules::config::web::{Auth, Listen};
use gleaner_serve::tokens::Tokens;
use gleaner_serve::{Inside, Listening, Outlet, Report, serve};
use gleaner_store::crawldb::Reader;
use tokio::sync::oneshot;

use super::finding::Finder;
use super::{App, control};

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
    pub fn start(app: &App, config: &Config, finder: Finder, progress: &Progress) -> anyhow::Result<Option<Self>> {
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
        let outlet = Outlet::new(
            (Arc::clone(&app.db) as Arc<dyn Reader>, Arc::clone(&app.archive), Arc::new(move || finder.search())),
            inside(app, progress),
            Arc::clone(&app.clock),
            config.web.clone(),
            &app.data_dir,
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
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
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listening, Arc::new(outlet)) => {}
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

/// What the service knows of its crawl: the report of `status`, and the figures in it.
fn inside(app: &App, progress: &Progress) -> Inside {
    let of_service = (Arc::clone(&app.db), progress.clone(), Arc::clone(&app.clock));
    let report = move || {
        let (db, progress, clock) = of_service.clone();
        async move { control::report(db, Some(progress), clock.now()).await }
    };
    let (for_status, for_site, for_metrics) = (report.clone(), report.clone(), report);
    let (data_dir, started) = (app.data_dir.clone(), app.clock.now());
    Inside {
        status: Report::of(move |_| {
            let report = for_status();
            async move { report.await.map(Some) }
        }),
        site: Report::of(move |name| {
            let report = for_site();
            async move { Ok(report.await?.sites.into_iter().find(|site| site.name == name)) }
        }),
        metrics: Box::new(move || {
            let (report, data_dir) = (for_metrics(), data_dir.clone());
            Box::pin(async move { Ok(measured::families(&report.await?, &data_dir, started)) })
        }),
    }
}

fn told(listen: &Listen) -> String {
    listen.to_string().trim_start_matches("http://").to_owned()
}
