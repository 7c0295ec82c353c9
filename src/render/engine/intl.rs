//! The parts of `Intl` (ECMA-402) that pages need to format numbers and dates, in one locale: en-US, in UTC.
//!
//! A page that requests another locale gets this one, as in a browser without data for that locale.

mod locale;
mod segments;
mod words;

use boa_engine::object::builtins::JsDate;
use boa_engine::object::{FunctionObjectBuilder, NativeObject};
use boa_engine::{
    Context, Finalize, JsArgs, JsData, JsNativeError, JsObject, JsResult, JsValue, NativeFunction, Trace, js_string,
};

use super::bind;
use crate::limits;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// The options of a number format.
#[derive(Clone, Trace, Finalize, JsData)]
struct NumberFormat {
    #[unsafe_ignore_trace]
    least: usize,
    #[unsafe_ignore_trace]
    most: usize,
    grouping: bool,
    percent: bool,
    #[unsafe_ignore_trace]
    currency: Option<String>,
    bound: Option<JsObject>,
}

/// The options of a date format: a style for each part, empty if it is omitted.
#[derive(Clone, Default, Trace, Finalize, JsData)]
struct DateFormat {
    #[unsafe_ignore_trace]
    weekday: String,
    #[unsafe_ignore_trace]
    year: String,
    #[unsafe_ignore_trace]
    month: String,
    #[unsafe_ignore_trace]
    day: String,
    #[unsafe_ignore_trace]
    hour: String,
    #[unsafe_ignore_trace]
    minute: String,
    #[unsafe_ignore_trace]
    second: String,
    half_days: bool,
    bound: Option<JsObject>,
}

#[derive(Trace, Finalize, JsData)]
struct Collator {
    numeric: bool,
    bare: bool,
    bound: Option<JsObject>,
}

/// A kind with a bound method: its getter returns the same function each time, bound to the object.
trait Bound: NativeObject + Sized {
    fn bound(&mut self) -> &mut Option<JsObject>;
}

macro_rules! bound {
    ($($kind:ty),*) => { $(impl Bound for $kind {
        fn bound(&mut self) -> &mut Option<JsObject> {
            &mut self.bound
        }
    })* };
}

bound!(NumberFormat, DateFormat, Collator);

/// The result of a constructor that may be called without `new` (ECMA-402 §10.1.1, §11.1.1, §15.1.1).
fn construct<T: NativeObject>(
    target: &JsValue,
    name: &'static str,
    data: T,
    context: &mut Context,
) -> JsResult<JsValue> {
    match target.is_undefined() {
        true => bind::object(name, data, context).map(Into::into),
        false => bind::construct(target, name, data, context),
    }
}

/// The body of a bound function.
type Body<T> = fn(&JsObject<T>, &[JsValue], &mut Context) -> JsResult<JsValue>;

/// ECMA-402 §10.3.3, §11.3.3, §15.3.3: the getter of a method that is bound to its object.
fn bound<T: Bound>(this: &JsValue, length: usize, body: Body<T>, context: &mut Context) -> JsResult<JsValue> {
    let this = bind::this::<T>(this)?;
    if let Some(known) = this.borrow_mut().data_mut().bound().clone() {
        return Ok(known.into());
    }
    let function = NativeFunction::from_copy_closure_with_captures(
        move |_, args, this: &JsObject<T>, context| body(this, args, context),
        this.clone(),
    );
    let function: JsObject = FunctionObjectBuilder::new(context.realm(), function).length(length).build().into();
    *this.borrow_mut().data_mut().bound() = Some(function.clone());
    Ok(function.into())
}

const NUMBER_FORMAT: bind::Interface = bind::Interface {
    name: "NumberFormat",
    constructor: Some(|new_target, args, context| {
        let format = number_format(args.get_or_undefined(1), context)?;
        construct(new_target, "NumberFormat", format, context)
    }),
    methods: &[
        ("formatToParts", 1, |this, args, context| {
            let format = bind::this::<NumberFormat>(this)?.borrow().data().clone();
            let text = format.put(args.get_or_undefined(0).to_number(context)?);
            words::parts(words::parts_of_number(&text), context)
        }),
        ("resolvedOptions", 0, resolved),
    ],
    attributes: &[(
        "format",
        |this, _, context| {
            bound::<NumberFormat>(
                this,
                1,
                |this, args, context| {
                    let format = this.borrow().data().clone();
                    Ok(bind::js(&format.put(args.get_or_undefined(0).to_number(context)?)))
                },
                context,
            )
        },
        None,
    )],
    statics: SUPPORTED,
    ..bind::Interface::EMPTY
};

const DATE_FORMAT: bind::Interface = bind::Interface {
    name: "DateTimeFormat",
    constructor: Some(|new_target, args, context| {
        let format = date_format(args.get_or_undefined(1), true, false, context)?;
        construct(new_target, "DateTimeFormat", format, context)
    }),
    methods: &[
        ("formatToParts", 1, |this, args, context| {
            let this = bind::this::<DateFormat>(this)?;
            let (format, time) = (this.borrow().data().clone(), moment(args, context)?);
            words::parts(words::parts_of_date(&format, &format.put(time)?), context)
        }),
        ("resolvedOptions", 0, resolved),
    ],
    attributes: &[(
        "format",
        |this, _, context| {
            bound::<DateFormat>(
                this,
                1,
                |this, args, context| {
                    let (format, time) = (this.borrow().data().clone(), moment(args, context)?);
                    format.put(time).map(|text| bind::js(&text))
                },
                context,
            )
        },
        None,
    )],
    statics: SUPPORTED,
    ..bind::Interface::EMPTY
};

/// The moment to format: now, if none is given.
fn moment(args: &[JsValue], context: &mut Context) -> JsResult<f64> {
    match args.get_or_undefined(0) {
        value if value.is_undefined() => Ok(context.clock().system_time_millis() as f64),
        value => value.to_number(context),
    }
}

const COLLATOR: bind::Interface = bind::Interface {
    name: "Collator",
    constructor: Some(|new_target, args, context| {
        let options = args.get_or_undefined(1);
        let numeric = bind::flag(options, "numeric", context)?;
        let bare =
            word(options, "sensitivity", context)?.is_some_and(|word| matches!(word.as_str(), "base" | "accent"));
        construct(new_target, "Collator", Collator { numeric, bare, bound: None }, context)
    }),
    methods: &[("resolvedOptions", 0, resolved)],
    attributes: &[(
        "compare",
        |this, _, context| {
            bound::<Collator>(
                this,
                2,
                |this, args, context| {
                    let (numeric, bare) = {
                        let this = this.borrow();
                        (this.data().numeric, this.data().bare)
                    };
                    let (a, b) = (bind::text(args, 0, context)?, bind::text(args, 1, context)?);
                    Ok(compare(&a, &b, numeric, bare).into())
                },
                context,
            )
        },
        None,
    )],
    statics: SUPPORTED,
    ..bind::Interface::EMPTY
};

/// The supported ones of the requested locales: those of English.
const SUPPORTED: &[bind::Method] = &[("supportedLocalesOf", 1, |_, args, context| {
    let found = asked_locales(args.get_or_undefined(0), context)?;
    let english = |tag: &String| tag.split('-').next().is_some_and(|language| language.eq_ignore_ascii_case("en"));
    Ok(bind::array(found.iter().filter(|tag| english(tag)).map(|tag| bind::js(tag)), context))
})];

/// The tags of a locale argument: a text, or a list of them.
fn asked_locales(value: &JsValue, context: &mut Context) -> JsResult<Vec<String>> {
    let tags = match value.as_object() {
        None if value.is_undefined() => Vec::new(),
        None => vec![value.clone()],
        Some(list) => bind::values(&list, limits::PAIRS_MAX, context)?,
    };
    tags.into_iter().map(|tag| Ok(tag.to_string(context)?.to_std_string_lossy())).collect()
}

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let intl = JsObject::with_object_proto(context.intrinsics());
    let global = context.global_object();
    let of_intl: bind::Method = ("getCanonicalLocales", 1, |_, args, context| {
        let found = asked_locales(args.get_or_undefined(0), context)?;
        Ok(bind::array(found.iter().map(|tag| bind::js(tag)), context))
    });
    bind::methods(&intl, &[of_intl], context)?;
    words::make(&intl, context)?;
    segments::make(&intl, context)?;
    locale::make(&intl, context)?;
    for interface in [&NUMBER_FORMAT, &DATE_FORMAT, &COLLATOR] {
        define(interface, &intl, context)?;
    }
    bind::hidden(&global, js_string!("Intl"), intl.into(), true, context)?;
    let mut prototype = |name: &str| -> JsResult<JsObject> {
        let constructor = global.get(js_string!(name), context)?.as_object();
        let missing = || bind::type_error("a built-in is missing");
        let prototype = constructor.ok_or_else(missing)?.get(js_string!("prototype"), context)?;
        prototype.as_object().ok_or_else(missing)
    };
    let (number, date) = (prototype("Number")?, prototype("Date")?);
    let own = bind::function("toLocaleString", 0, number_to_locale, context);
    bind::hidden(&number, js_string!("toLocaleString"), own.into(), true, context)?;
    let of_date: [bind::Method; 3] = [
        ("toLocaleString", 0, |this, args, context| date_to_locale(this, args, (true, true), context)),
        ("toLocaleDateString", 0, |this, args, context| date_to_locale(this, args, (true, false), context)),
        ("toLocaleTimeString", 0, |this, args, context| date_to_locale(this, args, (false, true), context)),
    ];
    for (name, length, body) in of_date {
        let own = bind::function(name, length, body, context);
        bind::hidden(&date, js_string!(name), own.into(), true, context)?;
    }
    Ok(())
}

/// Defines an interface on `Intl` instead of the window.
fn define(interface: &bind::Interface, intl: &JsObject, context: &mut Context) -> JsResult<()> {
    let prototype = bind::define(interface, context)?;
    let constructor = prototype.get(js_string!("constructor"), context)?;
    bind::hidden(intl, js_string!(interface.name), constructor, true, context)?;
    context.global_object().delete_property_or_throw(js_string!(interface.name), context).map(drop)
}

fn resolved(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let options = JsObject::with_object_proto(context.intrinsics());
    for (name, value) in
        [("locale", "en-US"), ("timeZone", "UTC"), ("numberingSystem", "latn"), ("calendar", "gregory")]
    {
        options.create_data_property_or_throw(js_string!(name), js_string!(value), context)?;
    }
    Ok(options.into())
}

fn word(options: &JsValue, name: &str, context: &mut Context) -> JsResult<Option<String>> {
    match bind::member(options, name, context)? {
        None => Ok(None),
        Some(value) => Ok(Some(value.to_string(context)?.to_std_string_lossy())),
    }
}

fn number_format(options: &JsValue, context: &mut Context) -> JsResult<NumberFormat> {
    let style = word(options, "style", context)?.unwrap_or_default();
    let currency = if style == "currency" { word(options, "currency", context)? } else { None };
    let mut digits = |name| -> JsResult<Option<usize>> {
        let Some(value) = bind::member(options, name, context)? else { return Ok(None) };
        match value.to_number(context)? {
            digits if (0.0..=100.0).contains(&digits) => Ok(Some(digits as usize)),
            _ => Err(JsNativeError::range().with_message(format!("{name} value is out of range.")).into()),
        }
    };
    let (least, most) = (digits("minimumFractionDigits")?, digits("maximumFractionDigits")?);
    let (usual_least, usual_most) = match style.as_str() {
        "currency" => (2, 2),
        "percent" => (0, 0),
        _ => (0, 3),
    };
    let least = least.unwrap_or_else(|| usual_least.min(most.unwrap_or(usual_least)));
    let most = most.unwrap_or(usual_most).max(least);
    let grouping = bind::member(options, "useGrouping", context)?.is_none_or(|value| value.to_boolean());
    Ok(NumberFormat { least, most, grouping, percent: style == "percent", currency, bound: None })
}

impl NumberFormat {
    fn put(&self, number: f64) -> String {
        if number.is_nan() {
            return "NaN".to_owned();
        }
        let number = if self.percent { number * 100.0 } else { number };
        let magnitude = number.abs();
        let digits = if magnitude.is_infinite() { "∞".to_owned() } else { rounded(magnitude, self.most) };
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        let kept = fraction.trim_end_matches('0').len().max(self.least).min(fraction.len());
        let mut text = String::new();
        if number.is_sign_negative() {
            text.push('-');
        }
        text.push_str(match self.currency.as_deref() {
            None => "",
            Some("USD") => "$",
            Some("EUR") => "€",
            Some("GBP") => "£",
            Some("JPY") => "¥",
            Some(other) => other,
        });
        let length = whole.chars().count();
        for (place, digit) in whole.chars().enumerate() {
            if self.grouping && place > 0 && (length - place).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        if kept > 0 {
            text.push('.');
            text.push_str(&fraction[..kept]);
        }
        if self.percent {
            text.push('%');
        }
        text
    }
}

/// Decimal digits with `places` after the point. Halves are rounded away from zero, by the shortest decimal and not the binary value.
fn rounded(magnitude: f64, places: usize) -> String {
    let shortest = format!("{magnitude}");
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    if fraction.len() <= places {
        return format!("{whole}.{fraction:0<places$}");
    }
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes().take(places)).collect();
    if fraction.as_bytes()[places] >= b'5' {
        let mut place = digits.len();
        loop {
            if place == 0 {
                digits.insert(0, b'1');
                break;
            }
            place -= 1;
            if digits[place] == b'9' {
                digits[place] = b'0';
            } else {
                digits[place] += 1;
                break;
            }
        }
    }
    let digits: String = digits.into_iter().map(char::from).collect();
    let point = digits.len() - places;
    format!("{}.{}", &digits[..point], &digits[point..])
}

fn number_to_locale(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let number = match this.as_object() {
        None => this.as_number(),
        Some(object) => object.downcast_ref::<f64>().map(|number| *number),
    };
    let number =
        number.ok_or_else(|| bind::type_error("Number.prototype.toLocaleString requires that 'this' be a Number"))?;
    Ok(bind::js(&number_format(args.get_or_undefined(1), context)?.put(number)))
}

fn date_to_locale(
    this: &JsValue,
    args: &[JsValue],
    (date, time): (bool, bool),
    context: &mut Context,
) -> JsResult<JsValue> {
    let this = this.as_object().ok_or_else(|| bind::type_error("this is not a Date object."))?;
    let moment = JsDate::from_object(this)?.get_time(context)?.to_number(context)?;
    if moment.is_nan() {
        return Ok(bind::js("Invalid Date"));
    }
    let format = date_format(args.get_or_undefined(1), date, time, context)?;
    format.put(moment).map(|text| bind::js(&text))
}

/// ECMA-402 §11.1.2, with default parts if the options name none.
fn date_format(options: &JsValue, date: bool, time: bool, context: &mut Context) -> JsResult<DateFormat> {
    let mut get = |name| Ok::<_, boa_engine::JsError>(word(options, name, context)?.unwrap_or_default());
    let (date_style, time_style) = (get("dateStyle")?, get("timeStyle")?);
    let mut format = DateFormat {
        weekday: get("weekday")?,
        year: get("year")?,
        month: get("month")?,
        day: get("day")?,
        hour: get("hour")?,
        minute: get("minute")?,
        second: get("second")?,
        half_days: true,
        bound: None,
    };
    let day_cycle = get("hourCycle")?;
    let asked = bind::member(options, "hour12", context)?.map(|value| value.to_boolean());
    format.half_days = asked.unwrap_or(!matches!(day_cycle.as_str(), "h23" | "h24"));
    let fill = |to: &mut String, with: &str| with.clone_into(to);
    if !date_style.is_empty() || !time_style.is_empty() {
        let (month, year) = match date_style.as_str() {
            "" => ("", ""),
            "short" => ("numeric", "2-digit"),
            "medium" => ("short", "numeric"),
            _ => ("long", "numeric"),
        };
        fill(&mut format.month, month);
        fill(&mut format.year, year);
        fill(&mut format.day, if year.is_empty() { "" } else { "numeric" });
        fill(&mut format.weekday, if date_style == "full" { "long" } else { "" });
        if !time_style.is_empty() {
            fill(&mut format.hour, "numeric");
            fill(&mut format.minute, "2-digit");
            fill(&mut format.second, if time_style == "short" { "" } else { "2-digit" });
        }
        return Ok(format);
    }
    let no_date = [&format.weekday, &format.year, &format.month, &format.day].into_iter().all(String::is_empty);
    let no_time = [&format.hour, &format.minute, &format.second].into_iter().all(String::is_empty);
    if date && no_date && (no_time || !time) {
        for part in [&mut format.year, &mut format.month, &mut format.day] {
            fill(part, "numeric");
        }
    }
    if time && no_time && (no_date || !date) {
        fill(&mut format.hour, "numeric");
        fill(&mut format.minute, "2-digit");
        fill(&mut format.second, "2-digit");
    }
    Ok(format)
}

impl DateFormat {
    /// The text of a moment in milliseconds since 1970.
    fn put(&self, moment_ms: f64) -> JsResult<String> {
        let moment = (moment_ms.abs() <= 8.64e15)
            .then(|| time::OffsetDateTime::from_unix_timestamp((moment_ms / 1_000.0).floor() as i64));
        let Some(Ok(moment)) = moment else {
            return Err(JsNativeError::range().with_message("Invalid time value").into());
        };
        let date = self.date(moment);
        let clock = self.clock(moment);
        let between = match (date.is_empty() || clock.is_empty(), self.month.as_str()) {
            (true, _) => "",
            (false, "long") => " at ",
            (false, _) => ", ",
        };
        Ok(format!("{date}{between}{clock}"))
    }

    fn date(&self, moment: time::OffsetDateTime) -> String {
        let number = |value: i64, style: &str| match style {
            "" => String::new(),
            "2-digit" => format!("{:02}", value.rem_euclid(100)),
            _ => value.to_string(),
        };
        let day = number(moment.day().into(), &self.day);
        let year = number(moment.year().into(), &self.year);
        let month_place = usize::from(u8::from(moment.month())) - 1;
        let weekday = DAYS[usize::from(moment.weekday().number_days_from_sunday())];
        let weekday = match self.weekday.as_str() {
            "" => "",
            "long" => weekday,
            _ => &weekday[..3],
        };
        let joined = |parts: &[&str], with: &str| {
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(with)
        };
        match self.month.as_str() {
            "long" | "short" | "narrow" => {
                let month = MONTHS[month_place];
                let month = match self.month.as_str() {
                    "long" => month,
                    "short" => &month[..3],
                    _ => &month[..1],
                };
                let month_day = joined(&[month, &day], " ");
                let with = if day.is_empty() { " " } else { ", " };
                joined(&[weekday, &joined(&[&month_day, &year], with)], ", ")
            }
            style => {
                let month = number(i64::try_from(month_place).unwrap_or(0) + 1, style);
                joined(&[weekday, &joined(&[&month, &day, &year], "/")], ", ")
            }
        }
    }

    fn clock(&self, moment: time::OffsetDateTime) -> String {
        let mut parts = Vec::new();
        if !self.hour.is_empty() {
            let hour = moment.hour();
            let shown = if self.half_days { (hour + 11) % 12 + 1 } else { hour };
            let wide = self.hour == "2-digit" || !self.half_days;
            parts.push(if wide { format!("{shown:02}") } else { shown.to_string() });
        }
        if !self.minute.is_empty() {
            parts.push(format!("{:02}", moment.minute()));
        }
        if !self.second.is_empty() {
            parts.push(format!("{:02}", moment.second()));
        }
        let half = match (self.half_days && !self.hour.is_empty(), moment.hour() < 12) {
            (false, _) => "",
            (true, true) => " AM",
            (true, false) => " PM",
        };
        parts.join(":") + half
    }
}

/// The collation order: letters before case, digits by numeric value if requested.
fn compare(a: &str, b: &str, numeric: bool, bare: bool) -> i32 {
    use std::cmp::Ordering;
    let folded = |text: &str| text.to_lowercase();
    let (low_a, low_b) = (folded(a), folded(b));
    let order = if numeric { natural(&low_a, &low_b) } else { low_a.cmp(&low_b) };
    // Lower case sorts before upper case, unlike the code points.
    let order = if bare { order } else { order.then_with(|| b.cmp(a)) };
    match order {
        Ordering::Less => -1,
        Ordering::Equal => 0,
        Ordering::Greater => 1,
    }
}

fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (in_a, in_b) = (digits(a), digits(b));
        if in_a > 0 && in_b > 0 {
            let (x, y) = (a[..in_a].trim_start_matches('0'), b[..in_b].trim_start_matches('0'));
            let order = x.len().cmp(&y.len()).then_with(|| x.cmp(y));
            if order.is_ne() {
                return order;
            }
            (a, b) = (&a[in_a..], &b[in_b..]);
            continue;
        }
        let (mut chars_a, mut chars_b) = (a.chars(), b.chars());
        match (chars_a.next(), chars_b.next()) {
            (Some(x), Some(y)) if x == y => (a, b) = (chars_a.as_str(), chars_b.as_str()),
            (x, y) => return x.cmp(&y),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_of_decimals_go_up() {
        for (number, places, text) in [
            (1.005, 2, "1.01"),
            (999.9996, 3, "1000.000"),
            (0.5, 0, "1."),
            (1e21, 0, "1000000000000000000000."),
            (5e-324, 3, "0.000"),
        ] {
            assert_eq!(rounded(number, places), text);
        }
    }

    #[test]
    fn numbers_in_names_sort_by_value() {
        assert!(natural("item 9", "item 10").is_lt() && natural("a01", "a1").is_eq() && natural("a", "a1").is_lt());
    }
}
