//! The starter file of `gleaner rules new --offline URL`: a small file that passes `rules check` and explains the next steps.

use url::Url;

use gleaner_base::url::{Canonical, CrawlUrl, UrlFault};

/// A starter file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starter {
    /// `<host>.toml`, with the port if there is one: `example.org-8080.toml`.
    pub file_name: String,
    pub text: String,
}

/// Writes a starter file for the site of a URL. The URL becomes its start URL.
pub fn starter(url: &str) -> Result<Starter, UrlFault> {
    let url = typed_url(url)?;
    let name = site_name(url.authority());
    let start = toml_string(url.as_str());
    let home = toml_string(&format!("^{}$", regex::escape(url.path())));
    let host = url.authority();
    let origin = url.origin();
    let text = format!(
        r#"# Rules of {host}, written by `gleaner rules new`. docs/reference/rules.md describes every key.
#
# 1. Fill in the classes below: look at the site's links and write one expression for each kind of page.
# 2. Put real URLs of the site under [examples] and run `gleaner rules check rules/{name}.toml`.
# 3. `gleaner rules explain URL` shows how a URL is judged, `gleaner crawl {name} --dry-run` what would be fetched.
#
# Is it a plain directory listing? Then delete everything but `start` and write: extends = "families/autoindex"
# Does it run known software? Then write its family above [classes], and leave the classes out that it has: extends =
# "families/phpbb", discuz, mybb, vbulletin, smf, xenforo, nexusphp, gazelle, unit3d, torrentpier, xbtit, nyaa, torrust or nodebb.

start = [{start}]

# The service crawls the site while this is true.
enabled = true

# Never fetched; these come before the classes.
deny = [
    '(?i)[?&](?:action|do|mode)=(?:logout|delete|reply|register)\b',
]

# Expressions are matched against path and query, which begin with `/`. The first that matches wins, in this order;
# what none matches is not fetched. (?<page>…) marks the page number of a list.
[classes]
index = [
    {home},
    # '^/browse\?page=(?<page>\d+)$',
]
download = ['(?i)\.torrent(?:\?|$)']
# detail = ['^/torrent/\d+$']
# page = ['^/news/']

[rate]
requests_per_second = 1.0
connections = 2

# For members only? Name the account, never its password: that goes into the file `secrets/{name}` of the data folder
# (chmod 600). Then run `gleaner login {name}`; docs/guide/members.md explains the rest.
# [login]
# user = "anna"
# page = "/login.php"            # where the form is, if it is not found from the start page

# [parameters]
# drop = ["search_id", "ref*"]   # parameters that do not change what a URL names
# sort = true

# URLs of the site: `gleaner rules check` says whether the classes above still judge them so.
[examples]
accept = [
    {start},
    # {{ url = "{origin}/example.torrent", class = "download" }},
]
refuse = [
    # "{origin}/login",
]
"#
    );
    Ok(Starter { file_name: format!("{name}.toml"), text })
}

/// A URL as people type it: they leave `https://` out. A word alone is most likely none.
///
/// # Errors
/// Why it is none.
pub fn typed_url(text: &str) -> Result<CrawlUrl, UrlFault> {
    let before_path = text.split(['/', '?', '#']).next().unwrap_or_default();
    let host_and_port = before_path
        .split_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()));
    let is_without_scheme = host_and_port || Url::parse(text) == Err(url::ParseError::RelativeUrlWithoutBase);
    let url = match is_without_scheme {
        true => CrawlUrl::parse(&format!("https://{text}"), &Canonical::default())?,
        false => CrawlUrl::parse(text, &Canonical::default())?,
    };
    let host = url.host();
    if host.trim_end_matches('.').split('.').any(str::is_empty) {
        return Err(UrlFault::Syntax(format!("the host `{host}` has an empty label")));
    }
    if is_without_scheme && !host_and_port && host != "localhost" && !host.contains(['.', ':']) {
        return Err(UrlFault::Syntax(format!("`{host}` is a word without a dot or a port")));
    }
    Ok(url)
}

/// A host as a site name and file name.
#[must_use]
pub fn site_name(authority: &str) -> String {
    let plain = |character: char| {
        if character.is_ascii_alphanumeric() || character == '.' { character } else { '-' }
    };
    let name: String = authority.chars().map(plain).collect();
    let name = name.trim_matches(['-', '.']);
    let cut: String = name.chars().take(64).collect();
    if cut.is_empty() { "site".to_owned() } else { cut }
}

/// A TOML string for any text without control characters: literal if possible, else escaped.
#[must_use]
pub fn toml_string(text: &str) -> String {
    if text.contains('\'') {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    } else {
        format!("'{text}'")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Class, Verdict, from_text};

    #[test]
    fn a_starter_file_passes_the_check() {
        for url in [
            "https://example.org/",
            "example.org",
            "http://127.0.0.1:8080/a+b/(c)?d=[e]&f='g'",
            "https://[::1]:8443/x",
            "https://bücher.example/ü\"?q=%D6%D0",
        ] {
            let starter = starter(url).unwrap();
            let name = starter.file_name.strip_suffix(".toml").unwrap();
            let site = from_text(name, &starter.text).unwrap_or_else(|faults| panic!("{url}: {faults:#?}"));
            assert!(matches!(site.judge(&site.start[0]), Verdict::Take { class: Class::Index, .. }), "{url}");
        }
        assert_eq!(starter("http://127.0.0.1:8080/").unwrap().file_name, "127.0.0.1-8080.toml");
        assert_eq!(starter("ftp://h/"), Err(UrlFault::Scheme("ftp".to_owned())));
    }

    #[test]
    fn a_word_and_a_host_with_an_empty_label_are_no_addresses() {
        for (text, said) in [
            ("notaurl", "`notaurl` is a word without a dot or a port"),
            ("notaurl/browse?x=1:2", "`notaurl` is a word without a dot or a port"),
            ("example..org", "the host `example..org` has an empty label"),
            ("http://example..org/", "the host `example..org` has an empty label"),
            (".example.org", "the host `.example.org` has an empty label"),
        ] {
            assert_eq!(starter(text), Err(UrlFault::Syntax(said.to_owned())), "{text}");
        }
        for text in ["localhost", "tracker:8080", "localhost:8080/x", "http://tracker/", "192.0.2.1", "[::1]"] {
            assert!(starter(text).is_ok(), "{text}: {:?}", starter(text));
        }
        assert_eq!(starter("tracker:8080").unwrap().file_name, "tracker-8080.toml");
    }

    proptest! {
        #[test]
        fn any_url_gets_a_starter_file_that_passes(path in "[ -~é中]{0,40}") {
            if let Ok(starter) = starter(&format!("http://example.org/{path}")) {
                let login = from_text("site", &starter.text);
                // A URL that the starter's own `deny` matches, or that has a secret, is rejected with a message.
                let is_odd = |text: &str| text.contains("refused") || text.contains("secret");
                if let Err(faults) = &login {
                    prop_assert!(faults.iter().all(|fault| is_odd(&fault.message)), "{faults:#?}");
                }
            }
        }
    }
}
