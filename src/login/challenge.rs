//! HTTP authentication (RFC 9110 §11, Basic: RFC 7617): what an answer of status 401 asks for, and what is sent for it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::limits;
use super::secret::Secret;

/// What a server asks for by `WWW-Authenticate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Challenge {
    /// A name and a password as they are.
    Basic,
    /// Only schemes that are not supported: the name of the first.
    Other(Box<str>),
}

impl Challenge {
    /// The challenge of an answer with these `WWW-Authenticate` headers; None if they name no scheme.
    #[must_use]
    pub fn of<'v>(values: impl IntoIterator<Item = &'v str>) -> Option<Self> {
        let mut other = None;
        for scheme in values.into_iter().flat_map(parts).filter_map(scheme) {
            if scheme.eq_ignore_ascii_case("basic") {
                return Some(Self::Basic);
            }
            other.get_or_insert(scheme);
        }
        other.map(|scheme| Self::Other(scheme[..scheme.len().min(limits::SCHEME_BYTES_MAX)].into()))
    }
}

/// A header's value, split at the commas outside of quotes.
fn parts(value: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    value.split(move |letter: char| {
        let is_end = letter == ',' && !is_quoted;
        is_quoted ^= letter == '"' && !is_escaped;
        is_escaped = is_quoted && letter == '\\' && !is_escaped;
        is_end
    })
}

/// The scheme that a part begins with; None if it is one more parameter of the scheme before it.
fn scheme(part: &str) -> Option<&str> {
    let part = part.trim();
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    let end = part.find(|letter| !is_of_name(letter)).unwrap_or(part.len());
    let (name, rest) = part.split_at(end);
    let is_alone = rest.is_empty() || rest.starts_with(' ') && !rest.trim_start().starts_with('=');
    (!name.is_empty() && is_alone).then_some(name)
}

/// The credentials as Basic sends them; None for a user name with a colon, or control characters in either: Basic cannot
/// send these.
#[must_use]
pub fn basic_token(user: &str, password: &Secret) -> Option<Zeroizing<String>> {
    let password = password.reveal();
    let is_sendable = !user.contains(':') && !user.chars().chain(password.chars()).any(char::is_control);
    let pair = Zeroizing::new(format!("{user}:{password}"));
    is_sendable.then(|| Zeroizing::new(STANDARD.encode(pair.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_is_found_among_other_schemes_and_no_parameter_is_one() {
        for (values, expected) in [
            (&["Basic realm=\"seedbox\""][..], Some("basic")),
            (&["basic"], Some("basic")),
            (&["Digest realm=\"a, Basic b\", qop=\"auth\", nonce=\"x\""], Some("Digest")),
            (&["Negotiate, NTLM , BASIC realm=x"], Some("basic")),
            (&["Negotiate", "Basic realm=\"a\""], Some("basic")),
            (&["Digest realm=\"say \\\", Basic \\\"\", basic = \"no\""], Some("Digest")),
            (&["Bearer"], Some("Bearer")),
            (&["", "=x", "\"", "realm=\"Basic\""], None),
            (&[], None),
        ] {
            let told = Challenge::of(values.iter().copied()).map(|found| match found {
                Challenge::Basic => "basic".to_owned(),
                Challenge::Other(name) => name.to_string(),
            });
            assert_eq!(told.as_deref(), expected, "{values:?}");
        }
        let long = "x".repeat(999);
        assert_eq!(Challenge::of([&*long]), Some(Challenge::Other("x".repeat(limits::SCHEME_BYTES_MAX).into())));
    }

    #[test]
    fn credentials_are_a_pair_in_base64_and_what_is_no_pair_is_not_sent() {
        let token = |user, password| basic_token(user, &Secret::new(password)).map(|token| token.to_string());
        assert_eq!(token("Aladdin", "open sesame").as_deref(), Some("QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert_eq!(token("test", "123\u{a3}").as_deref(), Some("dGVzdDoxMjPCow=="));
        assert_eq!(token("anna", "a:b\n").as_deref(), Some("YW5uYTphOmI="));
        assert_eq!((token("an:na", "x"), token("anna", "x\ty")), (None, None));
    }
}
