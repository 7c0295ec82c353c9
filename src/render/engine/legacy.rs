//! Browser extensions to ECMAScript that pages rely on: human-readable dates (`new Date('Nov 21, 2026')`), the statics of `RegExp`
//! with the last match (`RegExp.$1`, Annex B proposal "legacy RegExp features"), and `caller` and `arguments` of functions, which are
//! null in place of an error (proposal "legacy function reflection": forums look for the event among their callers' arguments).

use boa_engine::builtins::regexp::LastMatch;
use boa_engine::object::FunctionObjectBuilder;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsArgs, JsObject, JsResult, JsString, JsValue, NativeFunction, js_string};

use super::{bind, realm};

/// The engine's own functions, which the replacements call.
struct EngineFunctions {
    date: JsObject,
    parse: JsObject,
}

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    let object = |value: JsValue| value.as_object().ok_or_else(|| bind::type_error("a built-in is missing"));
    let date = object(global.get(js_string!("Date"), context)?)?;
    let parse_own = object(date.get(js_string!("parse"), context)?)?;
    let regexp = object(global.get(js_string!("RegExp"), context)?)?;
    let prototype = object(date.get(js_string!("prototype"), context)?)?;

    let constructor: JsObject =
        FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(construct_date))
            .name(js_string!("Date"))
            .length(7)
            .constructor(true)
            .build()
            .into();
    for name in ["now", "UTC"] {
        let function = date.get(js_string!(name), context)?;
        bind::hidden(&constructor, js_string!(name), function, true, context)?;
    }
    let parse = bind::function("parse", 1, parse_date, context);
    bind::hidden(&constructor, js_string!("parse"), parse.into(), true, context)?;
    bind::hidden(&constructor, js_string!("prototype"), prototype.clone().into(), false, context)?;
    bind::hidden(&prototype, js_string!("constructor"), constructor.clone().into(), true, context)?;
    bind::hidden(&global, js_string!("Date"), constructor.into(), true, context)?;

    realm::keep(EngineFunctions { date, parse: parse_own }, context);
    last_match_statics(&regexp, context)?;
    let function = context.intrinsics().constructors().function().prototype();
    for name in ["caller", "arguments"] {
        let null = bind::function(name, 0, |_, _, _| Ok(JsValue::null()), context);
        let ignore = bind::function(name, 1, |_, _, _| Ok(JsValue::undefined()), context);
        let accessor = PropertyDescriptor::builder().get(null).set(ignore).enumerable(false).configurable(true);
        function.define_property_or_throw(js_string!(name), accessor, context)?;
    }
    Ok(())
}

fn own(context: &Context, which: impl FnOnce(&EngineFunctions) -> &JsObject) -> JsResult<JsObject> {
    realm::own::<EngineFunctions>(context)
        .map(|own| which(&own).clone())
        .ok_or_else(|| bind::type_error("a built-in is missing"))
}

/// A text that the engine cannot parse is parsed as a human-readable date; everything else is the engine's.
fn construct_date(new_target: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let date = own(context, |own| &own.date)?;
    let Some(target) = new_target.as_object() else { return date.call(&JsValue::undefined(), args, context) };
    let text = match args {
        [only] => only.as_string(),
        _ => None,
    };
    let time = match text {
        Some(text) => Some(parse_date(&JsValue::undefined(), &[text.into()], context)?),
        None => None,
    };
    let args = time.as_ref().map_or(args, std::slice::from_ref);
    Ok(date.construct(args, Some(&target), context)?.into())
}

fn parse_date(_: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = args.get_or_undefined(0).to_string(context)?;
    let parse = own(context, |own| &own.parse)?;
    let known = parse.call(&JsValue::undefined(), &[text.clone().into()], context)?;
    if known.as_number().is_some_and(|time| !time.is_nan()) {
        return Ok(known);
    }
    Ok(time_of(&text.to_std_string_lossy()).map_or(JsValue::nan(), JsValue::from))
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Offsets of the zones that RFC 2822 §4.3 names, in hours.
const ZONES: [(&str, i64); 11] = [
    ("z", 0),
    ("ut", 0),
    ("utc", 0),
    ("gmt", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
];

/// Maximum length of a date.
const DATE_BYTES: usize = 100;

/// Milliseconds since 1970 of a human-readable date: `2026/11/21`, `11/21/2026`, `Nov 21, 2026 5:04 PM`, `Sat, 21 Nov 2026 17:04:00
/// +0100`, `21-Nov-2026`. Dates without a zone are in the page's own, which is UTC.
pub fn time_of(text: &str) -> Option<f64> {
    let text = text.split('(').next().filter(|text| text.len() <= DATE_BYTES)?.to_ascii_lowercase();
    let (mut numbers, mut month, mut clock, mut offset_minutes) = (Vec::new(), None, None, 0_i64);
    let mut afternoon = None;
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let span = |test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        if first.is_ascii_digit() {
            let end = span(|c| c.is_ascii_digit() || c == ':' || c == '.');
            let word = &rest[..end];
            if word.contains(':') {
                clock = Some(clock_of(word)?);
            } else {
                let digits = word.trim_end_matches('.');
                numbers.push((digits.parse::<i64>().ok().filter(|_| digits.len() <= 6)?, digits.len()));
            }
            rest = &rest[end..];
        } else if first.is_ascii_alphabetic() {
            let end = span(|c| c.is_ascii_alphabetic());
            let word = &rest[..end];
            let starts = |name: &&str| word.len() >= 3 && word.starts_with(*name);
            if let Some(place) = MONTHS.iter().position(&starts) {
                month = Some(i64::try_from(place).ok()? + 1);
            } else if word == "am" || word == "pm" {
                afternoon = Some(word == "pm");
            } else if let Some((_, hours)) = ZONES.iter().find(|(name, _)| *name == word) {
                offset_minutes = hours * 60;
            } else if !DAYS.iter().any(starts) && !matches!(word, "t" | "at" | "of" | "st" | "nd" | "rd" | "th") {
                return None;
            }
            rest = &rest[end..];
        } else if matches!(first, '+' | '-') && clock.is_some() {
            let end = 1 + rest[1..].find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(rest.len() - 1);
            let digits: String = rest[1..end].chars().filter(char::is_ascii_digit).collect();
            let (hours, minutes) =
                if digits.len() <= 2 { (digits.as_str(), "0") } else { digits.split_at_checked(digits.len() - 2)? };
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            offset_minutes = if first == '-' { -minutes } else { minutes };
            rest = &rest[end..];
        } else {
            rest = &rest[first.len_utf8()..];
        }
    }
    let (year, month, day) = day_of(&numbers, month)?;
    let (mut hours, minutes, seconds) = clock.unwrap_or((0, 0, 0.0));
    match afternoon {
        Some(_) if !(1..=12).contains(&hours) => return None,
        Some(true) => hours = hours % 12 + 12,
        Some(false) => hours %= 12,
        None => {}
    }
    let days = days_from_civil(year, month, day);
    let minutes = (days * 24 + hours) * 60 + minutes - offset_minutes;
    Some(minutes as f64 * 60_000.0 + (seconds * 1_000.0).floor())
}

/// Hours, minutes and seconds of `17:04`, `17:04:05` or `17:04:05.678`.
fn clock_of(word: &str) -> Option<(i64, i64, f64)> {
    let mut parts = word.split(':');
    let (hours, minutes) = (parts.next()?.parse::<i64>().ok()?, parts.next()?.parse::<i64>().ok()?);
    let seconds = parts.next().map_or(Some(0.0), |text| text.parse::<f64>().ok())?;
    ((0..=24).contains(&hours)
        && (0..60).contains(&minutes)
        && (0.0..60.0).contains(&seconds)
        && parts.next().is_none())
    .then_some((hours, minutes, seconds))
}

/// Year, month and day. With a month's name, day and year are in either order; otherwise the year is first if it is long, else the month.
fn day_of(numbers: &[(i64, usize)], month: Option<i64>) -> Option<(i64, i64, i64)> {
    let full = |(year, digits): (i64, usize)| match (digits, year) {
        (1 | 2, 0..=49) => year + 2_000,
        (1 | 2, _) => year + 1_900,
        _ => year,
    };
    let (year, month, day) = match (month, numbers) {
        (Some(month), [one]) if one.1 > 2 => (full(*one), month, 1),
        (Some(month), [day]) => (2_001, month, day.0),
        (Some(month), [one, two]) if one.1 > 2 => (full(*one), month, two.0),
        (Some(month), [one, two]) => (full(*two), month, one.0),
        (None, [year, month, day]) if year.1 > 2 => (full(*year), month.0, day.0),
        (None, [month, day, year]) => (full(*year), month.0, day.0),
        _ => return None,
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar; a day beyond its month's end overflows into the next one.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// `RegExp.$1` … `$9`, `lastMatch`, `input`, `leftContext`, `rightContext`, `lastParen`, and their short names.
fn last_match_statics(regexp: &JsObject, context: &mut Context) -> JsResult<()> {
    const NAMES: [&str; 10] = ["$&", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9"];
    for (index, name) in NAMES.into_iter().enumerate() {
        define_static(regexp, name, move |last| last.group(index), context)?;
    }
    type Read = fn(&LastMatch) -> Option<JsString>;
    let others: [(&str, Read); 9] = [
        ("lastMatch", |last| last.group(0)),
        ("$_", |last| Some(last.input().clone())),
        ("input", |last| Some(last.input().clone())),
        ("$`", |last| Some(last.before())),
        ("leftContext", |last| Some(last.before())),
        ("$'", |last| Some(last.after())),
        ("rightContext", |last| Some(last.after())),
        ("$+", LastMatch::last_group),
        ("lastParen", LastMatch::last_group),
    ];
    for (name, read) in others {
        define_static(regexp, name, read, context)?;
    }
    Ok(())
}

/// A static that reads the last match: an empty text if there was none, or the group did not participate.
fn define_static(
    regexp: &JsObject,
    name: &str,
    read: impl Fn(&LastMatch) -> Option<JsString> + Copy + 'static,
    context: &mut Context,
) -> JsResult<()> {
    let get = NativeFunction::from_copy_closure(move |_, _, context| {
        let last = context.realm().last_match();
        Ok(last.as_ref().and_then(read).unwrap_or_default().into())
    });
    let get = get.to_js_function(context.realm());
    let property = PropertyDescriptor::builder().get(get).enumerable(false).configurable(true);
    regexp.define_property_or_throw(js_string!(name), property, context).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_people_are_read() {
        let noon = |text| time_of(text).map(|ms| ms / 1_000.0);
        let midnight = 1_795_219_200.0;
        for text in [
            "2026/11/21",
            "Nov 21, 2026",
            "21 November 2026",
            "11/21/2026",
            "21-Nov-2026",
            "Saturday, Nov 21st 2026",
            "11/21/26",
        ] {
            assert_eq!(noon(text), Some(midnight), "{text}");
        }
        assert_eq!(noon("Sat, 21 Nov 2026 17:04:00 +0100"), Some(midnight + 16.0 * 3_600.0 + 240.0));
        assert_eq!(noon("Nov 21, 2026 5:04 PM"), Some(midnight + 17.0 * 3_600.0 + 240.0));
        assert_eq!(noon("2026/11/21 12:30:15 AM"), Some(midnight + 30.0 * 60.0 + 15.0));
        assert_eq!(noon("Sat Nov 21 2026 00:00:00 GMT-0500 (EST)"), Some(midnight + 5.0 * 3_600.0));
        for text in
            ["", "hello", "2026", "13/45/2026", "Nov 21 2026 25:00", "🦀 2026/1/1 x", "1/2/3/4/5/6", "99999999999/1/1"]
        {
            assert_eq!(noon(text), None, "{text}");
        }
    }
}
