//! What differs between the families' shapes, as data: one row of `forums` or `trackers` is one site.
//!
//! Paths are patterns (`pattern`): `{page}` counts from 1, `{page0}` from 0, `{offset}` in rows; `{id}`, `{attach}`,
//! `{hash}`, `{slug}` and `{aid}` name a torrent. Markup has `{sid}`, `{token}`, `{time}`, `{user}`, `{message}`.

/// One site's shape.
#[derive(Clone, Copy)]
pub(super) struct Family {
    pub name: &'static str,
    /// The family of rules that it is for.
    pub rules: &'static str,
    /// The name of its one account.
    pub user: &'static str,
    /// Of its pages. Where it names GBK, pages and forms are in GBK.
    pub content_type: &'static str,

    pub at: Addresses,
    /// Lists carry the links to the files, too.
    pub lists_files: bool,
    /// What members see of their account on each page, with `{logout}`.
    pub member_bar: &'static str,
    /// What guests see in its place; it may hold a second form.
    pub guest_bar: &'static str,

    /// The form of the login page.
    pub form: &'static str,
    /// What a right browser sends of one of its forms; the first whose user field is sent counts. Nothing else may be sent.
    pub sends: &'static [&'static [(&'static str, Sent)]],
    /// The parameter that carries the session on links of a visit without cookies.
    pub sid_in_links: Option<&'static str>,
    /// Parameters of a request, `name=value`, that its page does without.
    pub noise: &'static [&'static str],
    /// Set on the first page of a visit.
    pub guest_cookies: &'static [&'static str],
    /// Set by a login; the number is the hop of the redirect chain, 0 for the answer to the form. All are needed.
    pub member_cookies: &'static [(usize, &'static str)],
    pub after: After,

    /// Said with the form once more.
    pub wrong: Say,
    pub locked: Say,
    /// The form was sent back too early, or with another token than its own.
    pub malformed: &'static str,

    /// What guests get in place of the front page, of a list, of a detail page, of a file.
    pub denied_front: Denied,
    pub denied_list: Denied,
    pub denied_detail: Denied,
    pub denied_file: Denied,
    /// A page before the account's first file.
    pub notice: Option<Notice>,
}

/// Where its pages are: path and query.
#[derive(Clone, Copy)]
pub(super) struct Addresses {
    /// Where a crawl begins.
    pub front: &'static str,
    pub list: &'static str,
    /// The list's first page, where its address is another.
    pub list_first: &'static str,
    pub detail: &'static str,
    pub file: &'static str,
    /// A page of the account, which members see.
    pub account: &'static str,
    pub login_page: &'static str,
    /// Where the forms go.
    pub login_action: &'static str,
    pub logout: &'static str,
}

/// A page that stands before the first file.
#[derive(Clone, Copy)]
pub(super) struct Notice {
    pub path: &'static str,
    /// Where `{file}` is the file's link.
    pub text: &'static str,
    /// The parameter by which the file is had all the same.
    pub passes: &'static str,
}

/// What a field must carry.
#[derive(Clone, Copy)]
pub(super) enum Sent {
    User,
    Password,
    /// MD5 of the password in hex.
    Md5,
    /// SHA-1 of the SHA-1 of name and password, and of the form's token (SMF).
    SaltedSha1,
    /// There, and empty.
    Empty,
    Text(&'static str),
    /// A box: not sent, or with this value.
    Maybe(&'static str),
    /// The form's own token.
    Token,
    Sid,
    /// When the form was made, in seconds.
    Time,
    /// A field named `{mark}`, which differs with the session.
    Mark,
}

/// What follows a right login.
#[derive(Clone, Copy)]
pub(super) enum After {
    /// 302 from each to the next; the last is a page of the site.
    Redirects(&'static [&'static str]),
    /// A page that leads on by itself.
    Page(&'static str),
    /// `{data: {token}}`, to be sent as `Authorization: Bearer`; there are no cookies.
    Token,
}

/// A message after a login that failed.
#[derive(Clone, Copy)]
pub(super) enum Say {
    /// With this status; below 500 the form comes with it.
    With(u16, &'static str),
    /// 302 to the login page, which says it once.
    Flash(&'static str),
}

/// What a guest gets.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Denied {
    /// The same page as members.
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
