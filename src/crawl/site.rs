//! One site under crawl: its rules, the parameters of its requests, and the state that its visits share.

use std::sync::{Arc, MutexGuard};

use crate::account::Account;
use crate::fresh::Fresh;
use crate::memory::Memory;
use crate::read_before::ReadBefore;
use crate::repeats::Repeats;
use crate::rows::Rows;
use crate::scripts::shared::Scripts;
use crate::sitemaps::Sitemaps;
use crate::watched::MostRows;
use crate::worth::Worth;
use gleaner_base::clock::Clock;
use gleaner_net::fetch::Transport;
use gleaner_render::children::Children;
use gleaner_rules::SiteRules;
use gleaner_store::crawldb::{CrawlDb, WALL_TOKENS};

/// One site under crawl.
pub struct Site {
    pub rules: Arc<SiteRules>,
    pub transport: Arc<dyn Transport>,
    pub clock: Arc<dyn Clock>,
    pub db: Arc<dyn CrawlDb>,
    pub memory: Memory,
    /// The operator's account, if the rules name one and the crawling user can read its credentials.
    pub account: Option<Account>,
    /// Marks URLs that these rules have refused.
    pub rules_token: u64,
    pub rows: Rows,
    /// State for running the scripts of its pages.
    pub scripts: Scripts,
    /// What is known of how it changes.
    pub fresh: Arc<Fresh>,
    /// Lists that end although their page numbers go on.
    pub repeats: Repeats,
    /// Which page of a list shows too little.
    pub most_rows: MostRows,
    /// Answers that are at hand for first visits.
    pub read_before: Option<Arc<dyn ReadBefore>>,
}

impl Site {
    /// Creates a site; its transport and clock are the caller's choice. It shares its memory limits with no other site.
    #[must_use]
    pub fn new(
        rules: Arc<SiteRules>,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        db: Arc<dyn CrawlDb>,
    ) -> Self {
        let rules_token = rules.links_fingerprint() & (WALL_TOKENS - 1);
        let sitemaps = Arc::<Sitemaps>::default();
        let rows = Rows::new(Arc::clone(&rules), rules_token, Arc::clone(&db), Arc::clone(&sitemaps));
        let scripts = Scripts::new(&rules, rules_token, &transport, &clock, sitemaps);
        Self {
            fresh: Arc::new(Fresh::new(&rules)),
            memory: scripts.memory.clone(),
            account: None,
            repeats: Repeats::default(),
            most_rows: MostRows::default(),
            read_before: None,
            rules,
            transport,
            clock,
            db,
            rules_token,
            rows,
            scripts,
        }
    }

    /// The site with memory limits that it shares with others.
    #[must_use]
    pub fn with_memory(mut self, memory: Memory) -> Self {
        self.scripts.memory = memory.clone();
        Self { memory, ..self }
    }

    /// The site with the operator's account.
    #[must_use]
    pub fn with_account(mut self, account: Account) -> Self {
        self.scripts.is_members = true;
        Self { account: Some(account), ..self }
    }

    /// The site with answers that are at hand.
    #[must_use]
    pub fn with_read_before(mut self, answers: Arc<dyn ReadBefore>) -> Self {
        self.read_before = Some(answers);
        self
    }

    /// The site with children that run the scripts of its pages, shared with other sites.
    #[must_use]
    pub fn with_renderer(mut self, children: Arc<Children>) -> Self {
        self.scripts.renderer = Some(children);
        self
    }

    /// Value estimates for the site's URLs. Do not hold the guard across an await.
    pub fn worth(&self) -> MutexGuard<'_, Worth> {
        self.rows.worth()
    }
}
