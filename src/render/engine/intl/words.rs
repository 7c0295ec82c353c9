//! `Intl.PluralRules`, `Intl.ListFormat`, `Intl.RelativeTimeFormat` (ECMA-402 §16, §13, §18) by the rules of English, and the parts of
//! formatted numbers and dates.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsValue, Trace, js_string};

use super::{DateFormat, NumberFormat, define, resolved, word};
use crate::engine::bind;
use crate::limits;

/// A piece of a formatted text: its kind, its text and, of a relative time, the unit that it counts.
pub(super) struct Part {
    kind: &'static str,
    text: String,
    unit: Option<&'static str>,
}

impl Part {
    fn new(kind: &'static str, text: &str) -> Self {
        Self { kind, text: text.to_owned(), unit: None }
    }
}

/// Defines these three.
pub(super) fn make(intl: &JsObject, context: &mut Context) -> JsResult<()> {
    for interface in [&PLURAL_RULES, &LIST_FORMAT, &RELATIVE_TIME_FORMAT] {
        define(interface, intl, context)?;
    }
    Ok(())
}

/// Parts as script values.
pub(super) fn parts(parts: Vec<Part>, context: &mut Context) -> JsResult<JsValue> {
    let mut list = Vec::with_capacity(parts.len());
    for part in parts {
        let object = JsObject::with_object_proto(context.intrinsics());
        object.create_data_property_or_throw(js_string!("type"), js_string!(part.kind), context)?;
        object.create_data_property_or_throw(js_string!("value"), js_string!(part.text.as_str()), context)?;
        if let Some(unit) = part.unit {
            object.create_data_property_or_throw(js_string!("unit"), js_string!(unit), context)?;
        }
        list.push(object.into());
    }
    Ok(bind::array(list, context))
}

fn joined(parts: &[Part]) -> JsValue {
    bind::js(&parts.iter().map(|part| part.text.as_str()).collect::<String>())
}

/// Splits a text where the character class changes: runs of digits, runs of letters, and everything between.
fn runs(text: &str) -> Vec<&str> {
    let class = |c: char| if c.is_ascii_digit() { 0 } else { 1 + u8::from(!c.is_alphabetic()) };
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| class(c) != class(first)).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        found.push(run);
        rest = behind;
    }
    found
}

/// The parts of a number's text.
pub(super) fn parts_of_number(text: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let mut is_fraction = false;
    for run in runs(text) {
        if run.starts_with(|c: char| c.is_ascii_digit()) {
            found.push(Part::new(if is_fraction { "fraction" } else { "integer" }, run));
            continue;
        }
        if run.starts_with(char::is_alphabetic) {
            found.push(Part::new(if run == "NaN" { "nan" } else { "currency" }, run));
            continue;
        }
        for sign in run.chars() {
            let kind = match sign {
                '-' => "minusSign",
                ',' => "group",
                '.' => "decimal",
                '%' => "percentSign",
                '∞' => "infinity",
                _ => "currency",
            };
            is_fraction |= sign == '.';
            found.push(Part::new(kind, sign.encode_utf8(&mut [0; 4])));
        }
    }
    found
}

/// The parts of a date's text: English has its numbers in a fixed order, and the position of its words determines their type.
pub(super) fn parts_of_date(format: &DateFormat, text: &str) -> Vec<Part> {
    let has = |style: &String| !style.is_empty();
    let month_is_word = matches!(format.month.as_str(), "long" | "short" | "narrow");
    let numbers = [
        ("month", has(&format.month) && !month_is_word),
        ("day", has(&format.day)),
        ("year", has(&format.year)),
        ("hour", has(&format.hour)),
        ("minute", has(&format.minute)),
        ("second", has(&format.second)),
    ];
    let words = [("weekday", has(&format.weekday)), ("month", month_is_word)];
    let mut numbers = numbers.iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| *kind);
    let mut words = words.iter().filter(|(_, is_there)| *is_there).map(|(kind, _)| *kind);
    let mut found: Vec<Part> = Vec::new();
    for run in runs(text) {
        let kind = match run {
            "AM" | "PM" => Some("dayPeriod"),
            run if run.starts_with(|c: char| c.is_ascii_digit()) => numbers.next(),
            run if run.starts_with(char::is_alphabetic) => words.next(),
            _ => None,
        };
        match (kind, found.last_mut()) {
            (Some(kind), _) => found.push(Part::new(kind, run)),
            (None, Some(last)) if last.kind == "literal" => last.text.push_str(run),
            (None, _) => found.push(Part::new("literal", run)),
        }
    }
    found
}

/// The options of plural rules.
#[derive(Trace, Finalize, JsData)]
struct PluralRules {
    ordinal: bool,
}

const PLURAL_RULES: bind::Interface = bind::Interface {
    name: "PluralRules",
    constructor: Some(|new_target, args, context| {
        let kind = word(args.get_or_undefined(1), "type", context)?;
        let rules = PluralRules { ordinal: kind.is_some_and(|kind| kind == "ordinal") };
        bind::construct(new_target, "PluralRules", rules, context)
    }),
    methods: &[
        ("select", 1, |this, args, context| {
            let ordinal = bind::this::<PluralRules>(this)?.borrow().data().ordinal;
            Ok(bind::js(category(args.get_or_undefined(0).to_number(context)?, ordinal)))
        }),
        ("resolvedOptions", 0, |this, args, context| {
            let ordinal = bind::this::<PluralRules>(this)?.borrow().data().ordinal;
            let options = resolved(this, args, context)?;
            let kinds: &[&str] = if ordinal { &["few", "one", "two", "other"] } else { &["one", "other"] };
            let kinds = bind::array(kinds.iter().map(|kind| bind::js(kind)), context);
            if let Some(object) = options.as_object() {
                let kind = if ordinal { "ordinal" } else { "cardinal" };
                object.create_data_property_or_throw(js_string!("type"), js_string!(kind), context)?;
                object.create_data_property_or_throw(js_string!("pluralCategories"), kinds, context)?;
            }
            Ok(options)
        }),
    ],
    statics: super::SUPPORTED,
    ..bind::Interface::EMPTY
};

/// CLDR's plural rules of English.
fn category(number: f64, ordinal: bool) -> &'static str {
    let number = number.abs();
    if !ordinal {
        return if number == 1.0 { "one" } else { "other" };
    }
    let (ten, hundred) = (number % 10.0, number % 100.0);
    match (ten, hundred) {
        _ if number.fract() != 0.0 => "other",
        (1.0, hundred) if hundred != 11.0 => "one",
        (2.0, hundred) if hundred != 12.0 => "two",
        (3.0, hundred) if hundred != 13.0 => "few",
        _ => "other",
    }
}

/// The separators of a list: between two items, before the last of two, and before the last of many.
#[derive(Clone, Trace, Finalize, JsData)]
struct ListFormat {
    #[unsafe_ignore_trace]
    between: &'static str,
    #[unsafe_ignore_trace]
    pair: &'static str,
    #[unsafe_ignore_trace]
    last: &'static str,
}

const LIST_FORMAT: bind::Interface = bind::Interface {
    name: "ListFormat",
    constructor: Some(|new_target, args, context| {
        let options = args.get_or_undefined(1);
        let kind = word(options, "type", context)?.unwrap_or_default();
        let style = word(options, "style", context)?.unwrap_or_default();
        let (between, pair, last) = match (kind.as_str(), style.as_str()) {
            ("disjunction", _) => (", ", " or ", ", or "),
            ("unit", "narrow") => (" ", " ", " "),
            ("unit", _) | (_, "narrow") => (", ", ", ", ", "),
            (_, "short") => (", ", " & ", ", & "),
            _ => (", ", " and ", ", and "),
        };
        bind::construct(new_target, "ListFormat", ListFormat { between, pair, last }, context)
    }),
    methods: &[
        ("format", 1, |this, args, context| Ok(joined(&listed(this, args, context)?))),
        ("formatToParts", 1, |this, args, context| parts(listed(this, args, context)?, context)),
        ("resolvedOptions", 0, resolved),
    ],
    statics: super::SUPPORTED,
    ..bind::Interface::EMPTY
};

fn listed(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<Vec<Part>> {
    let format = bind::this::<ListFormat>(this)?.borrow().data().clone();
    let words = match args.get_or_undefined(0).as_object() {
        Some(list) => bind::values(&list, limits::PAIRS_MAX, context)?,
        None => Vec::new(),
    };
    let count = words.len();
    let mut found = Vec::with_capacity(2 * count);
    for (place, one) in words.iter().enumerate() {
        let Some(text) = one.as_string() else { return Err(bind::type_error("Iterable yielded a non-String value")) };
        let before = match (place, count) {
            (0, _) => None,
            (1, 2) => Some(format.pair),
            (place, count) if place + 1 == count => Some(format.last),
            _ => Some(format.between),
        };
        found.extend(before.map(|before| Part::new("literal", before)));
        found.push(Part::new("element", &text.to_std_string_lossy()));
    }
    Ok(found)
}

/// The options of a relative time format.
#[derive(Clone, Trace, Finalize, JsData)]
struct RelativeTimeFormat {
    auto: bool,
    #[unsafe_ignore_trace]
    style: String,
}

const RELATIVE_TIME_FORMAT: bind::Interface = bind::Interface {
    name: "RelativeTimeFormat",
    constructor: Some(|new_target, args, context| {
        let options = args.get_or_undefined(1);
        let auto = word(options, "numeric", context)?.is_some_and(|word| word == "auto");
        let style = word(options, "style", context)?.unwrap_or_else(|| "long".to_owned());
        bind::construct(new_target, "RelativeTimeFormat", RelativeTimeFormat { auto, style }, context)
    }),
    methods: &[
        ("format", 2, |this, args, context| Ok(joined(&relative(this, args, context)?))),
        ("formatToParts", 2, |this, args, context| parts(relative(this, args, context)?, context)),
        ("resolvedOptions", 0, resolved),
    ],
    statics: super::SUPPORTED,
    ..bind::Interface::EMPTY
};

/// A unit of time: its name, its short form with the plural ending, its narrow form, and the words for -1, 0 and 1.
struct Unit {
    name: &'static str,
    short: (&'static str, &'static str),
    narrow: &'static str,
    words: [Option<&'static str>; 3],
}

/// CLDR's units of English.
const UNITS: &[Unit] = &[
    Unit { name: "second", short: ("sec.", "sec."), narrow: "s", words: [None, Some("now"), None] },
    Unit { name: "minute", short: ("min.", "min."), narrow: "min", words: [None, Some("this minute"), None] },
    Unit { name: "hour", short: ("hr.", "hr."), narrow: "h", words: [None, Some("this hour"), None] },
    Unit {
        name: "day",
        short: ("day", "days"),
        narrow: "d",
        words: [Some("yesterday"), Some("today"), Some("tomorrow")],
    },
    Unit {
        name: "week",
        short: ("wk.", "wk."),
        narrow: "w",
        words: [Some("last week"), Some("this week"), Some("next week")],
    },
    Unit {
        name: "month",
        short: ("mo.", "mo."),
        narrow: "mo",
        words: [Some("last month"), Some("this month"), Some("next month")],
    },
    Unit {
        name: "quarter",
        short: ("qtr.", "qtrs."),
        narrow: "q",
        words: [Some("last quarter"), Some("this quarter"), Some("next quarter")],
    },
    Unit {
        name: "year",
        short: ("yr.", "yr."),
        narrow: "y",
        words: [Some("last year"), Some("this year"), Some("next year")],
    },
];

fn relative(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<Vec<Part>> {
    let format = bind::this::<RelativeTimeFormat>(this)?.borrow().data().clone();
    let number = args.get_or_undefined(0).to_number(context)?;
    let name = bind::text(args, 1, context)?;
    let known = UNITS.iter().find(|unit| unit.name == name.strip_suffix('s').unwrap_or(&name));
    let range = |message: String| JsNativeError::range().with_message(message);
    let unit = known.ok_or_else(|| range(format!("Invalid unit argument for format() '{name}'")))?;
    if !number.is_finite() {
        return Err(range("Value need to be finite number".to_owned()).into());
    }
    let word = [-1.0, 0.0, 1.0].iter().position(|one| *one == number).and_then(|place| unit.words[place]);
    if let (true, Some(word)) = (format.auto, word) {
        return Ok(vec![Part::new("literal", word)]);
    }
    let is_one = number.abs() == 1.0;
    let named = match (format.style.as_str(), is_one) {
        ("short", true) => format!(" {}", unit.short.0),
        ("short", false) => format!(" {}", unit.short.1),
        ("narrow", _) => unit.narrow.to_owned(),
        (_, true) => format!(" {}", unit.name),
        (_, false) => format!(" {}s", unit.name),
    };
    let plain = NumberFormat { least: 0, most: 3, grouping: true, percent: false, currency: None, bound: None };
    let mut found = Vec::new();
    let is_past = number.is_sign_negative();
    if !is_past {
        found.push(Part::new("literal", "in "));
    }
    for part in parts_of_number(&plain.put(number.abs())) {
        found.push(Part { unit: Some(unit.name), ..part });
    }
    found.push(Part::new("literal", &format!("{named}{}", if is_past { " ago" } else { "" })));
    Ok(found)
}
