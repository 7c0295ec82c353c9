//! The differences between the families' shapes, as data: one row of `forums` or `trackers` is one site.
//!
//! Paths are patterns (`pattern`): `{page}` counts from 1, `{page0}` from 0, `{offset}` in rows; `{id}`, `{attach}`,
//! `{hash}`, `{slug}` and `{aid}` identify a torrent. Markup has `{sid}`, `{token}`, `{time}`, `{user}`, `{message}`.

/// One site's shape.
#[derive(Clone, Copy)]
pub(super) struct Family {
    pub name: &'static str,
    /// The family of rules that it corresponds to.
    pub rules: &'static str,
    /// User name of its one account.
    pub user: &'static str,
    /// Content type of its pages. If it names GBK, pages and forms are in GBK.
    pub content_type: &'static str,

    pub at: Addresses,
    /// Lists contain the links to the files, too.
    pub lists_files: bool,
    /// What its rows and details say of their category.
    pub categories: Option<Categories>,
    /// What members see of their account on each page, with `{logout}`.
    pub member_bar: &'static str,
    /// What guests see instead; it may contain a second form.
    pub guest_bar: &'static str,

    /// The form of the login page.
    pub form: &'static str,
    /// The fields that a correct browser sends for one of its forms; the first form whose user field is sent is used. No other field may be
    /// sent.
    pub sends: &'static [&'static [(&'static str, Sent)]],
    /// The parameter that contains the session in links of a visit without cookies.
    pub sid_in_links: Option<&'static str>,
    /// Parameters of a request, `name=value`, that do not matter for its page.
    pub noise: &'static [&'static str],
    /// Set on the first page of a visit.
    pub guest_cookies: &'static [&'static str],
    /// Set by a login; the number is the hop of the redirect chain, 0 for the response to the form. All are needed.
    pub member_cookies: &'static [(usize, &'static str)],
    pub after: After,

    /// Shown with the form after a wrong password.
    pub wrong: Say,
    pub locked: Say,
    /// The form was sent back too early, or with a token that is not its own.
    pub malformed: &'static str,

    /// What guests get in place of the front page, of a list, of a detail page, of a file.
    pub denied_front: Denied,
    pub denied_list: Denied,
    pub denied_detail: Denied,
    pub denied_file: Denied,
    /// A page before the account's first file.
    pub notice: Option<Notice>,
}

/// Addresses of its pages: path and query.
#[derive(Clone, Copy)]
pub(super) struct Addresses {
    /// Start page of a crawl.
    pub front: &'static str,
    pub list: &'static str,
    /// The list's first page, if its address differs.
    pub list_first: &'static str,
    pub detail: &'static str,
    pub file: &'static str,
    /// A page of the account, for members.
    pub account: &'static str,
    pub login_page: &'static str,
    /// Target of the forms.
    pub login_action: &'static str,
    pub logout: &'static str,
}

/// Links to all torrents of a category: in the menu of a list, in each of its rows, and on a torrent's page.
#[derive(Clone, Copy)]
pub(super) struct Categories {
    /// With `{label}`.
    pub link: &'static str,
    /// Of the first torrent, the second, and so on in turn.
    pub labels: &'static [&'static str],
}

impl Categories {
    /// The label of a torrent.
    pub(super) fn of(&self, at: usize) -> &'static str {
        self.labels[at % self.labels.len()]
    }
}

/// A page shown before the first file.
#[derive(Clone, Copy)]
pub(super) struct Notice {
    pub path: &'static str,
    /// Its text; `{file}` is the file's link.
    pub text: &'static str,
    /// The parameter that skips the page.
    pub passes: &'static str,
}

/// Required value of a field.
#[derive(Clone, Copy)]
pub(super) enum Sent {
    User,
    Password,
    /// MD5 of the password in hex.
    Md5,
    /// SHA-1 of the SHA-1 of name and password, and of the form's token (SMF).
    SaltedSha1,
    /// Present, and empty.
    Empty,
    Text(&'static str),
    /// A checkbox: not sent, or with this value.
    Maybe(&'static str),
    /// The form's own token.
    Token,
    Sid,
    /// Time when the form was generated, in seconds.
    Time,
    /// A field named `{mark}`, which depends on the session.
    Mark,
}

/// What follows a successful login.
#[derive(Clone, Copy)]
pub(super) enum After {
    /// 302 from each to the next; the last is a page of the site.
    Redirects(&'static [&'static str]),
    /// A page that redirects by itself.
    Page(&'static str),
    /// `{data: {token}}`, to be sent as `Authorization: Bearer`; there are no cookies.
    Token,
}

/// The message after a failed login.
#[derive(Clone, Copy)]
pub(super) enum Say {
    /// With this status; below 500 the form comes with it.
    With(u16, &'static str),
    /// 302 to the login page, which shows it once.
    Flash(&'static str),
}

/// The response to a guest.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Denied {
    /// The same page as for members.
    Open,
    /// The page without links to files.
    NoFiles,
    /// 302 to the login page.
    ToLogin,
    /// A page with this status; `{form}` is the login form. Text that begins with `{"` is JSON.
    Says(u16, &'static str),
    /// HTML under the content type of torrents.
    Poses(&'static str),
}

/// Every family.
pub(super) fn all() -> impl Iterator<Item = &'static Family> {
    super::forums::FORUMS.iter().chain(super::trackers::TRACKERS)
}
