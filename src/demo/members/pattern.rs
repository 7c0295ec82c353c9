//! Paths with names in braces, as in the table of families: `/viewforum.php?f=2&start={offset}`. The same
//! pattern generates links and parses requests.

/// The values of a pattern's names in a text; None if the whole text does not match.
pub(super) fn read<'a>(pattern: &'static str, text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let mut parts = pattern.split('{');
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut values = Vec::new();
    for part in parts {
        let (name, literal) = part.split_once('}')?;
        let end = if literal.is_empty() { rest.len() } else { rest.find(literal)? };
        values.push((name, &rest[..end]));
        rest = &rest[end + literal.len()..];
    }
    rest.is_empty().then_some(values)
}

/// The pattern with each name replaced by a value.
pub(super) fn write(pattern: &'static str, value: impl Fn(&str) -> String) -> String {
    let mut parts = pattern.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, literal) = part.split_once('}').unwrap_or((part, ""));
        out.push_str(&value(name));
        out.push_str(literal);
    }
    out
}

/// True if `target` is this address, with any additional parameters (`returnto=…`).
pub(super) fn is_at(address: &str, target: &str) -> bool {
    let rest = target.strip_prefix(address);
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(if address.contains('?') { ['&', ';'] } else { ['?', '#'] })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_writes_it_reads() {
        let pattern = "/index.php?action=dlattach;topic={id}.0;attach={attach}";
        let link = write(pattern, |name| if name == "id" { "17".to_owned() } else { "9".to_owned() });
        assert_eq!(link, "/index.php?action=dlattach;topic=17.0;attach=9");
        assert_eq!(read(pattern, &link), Some(vec![("id", "17"), ("attach", "9")]));
        assert_eq!(read(pattern, "/index.php?action=dlattach;topic=17"), None);
        assert_eq!(read("/torrents", "/torrents?page=2"), None);
    }

    #[test]
    fn an_address_may_carry_more() {
        assert!(is_at("/login.php", "/login.php?returnto=%2F") && is_at("/l?a=1", "/l?a=1&b=2") && is_at("/l", "/l"));
        assert!(!is_at("/login.php", "/login.phpx") && !is_at("/l?a=1", "/l?a=12"));
    }
}
