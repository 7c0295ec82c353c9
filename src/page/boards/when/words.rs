//! The words of dates, as data: months, weekdays, days told by their distance, units of time, and the small words
//! around them, in the languages of the sites that are crawled. Lower case; matched as whole words, those of scripts
//! without spaces as the longest that fits.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What a word may say in a date. One word may say several things (`mar`: March, martes); the grammar takes what fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// January is 1.
    Month(u8),
    /// Monday is 0.
    Weekday(u8),
    /// Days before today.
    DaysBack(u8),
    Unit(Unit),
    /// The distance before it, or behind it, lies in the past.
    Ago,
    /// This moment.
    Now,
    Half,
    One,
    /// Some few.
    Few,
    Am,
    Pm,
    /// Seconds east of UTC.
    Zone(i32),
    /// A distance that is not exact: it was rounded, or is "less than".
    About,
    /// Behind a number: what the number is.
    Year,
    MonthMark,
    DayMark,
    HourMark,
    MinuteMark,
    SecondMark,
    /// `st`, `nd`, `rd`, `th`, `er`, `º`.
    Ordinal,
    /// Between a date and its time, or within a date.
    Filler,
}

/// Units of a distance in time, by their seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    pub(super) fn seconds(self) -> i64 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3_600,
            Self::Day => 86_400,
            Self::Week => 7 * 86_400,
            Self::Month => 2_629_746,
            Self::Year => 31_556_952,
        }
    }
}

const MONTHS: [&str; 12] = [
    "january jan januar jänner jän januari janvier janv enero ene gennaio gen janeiro stycznia styczeń sty ocak oca января январь янв",
    "february feb februar februari février févr fév fevrier fev febrero febbraio fevereiro lutego luty lut şubat şub subat февраля февраль фев февр",
    "march mar märz mär maerz mrz maart mrt mars marzo março marco marca marzec mart марта март мар",
    "april apr avril avr abril abr aprile kwietnia kwiecień kwi nisan nis апреля апрель апр",
    "may mai mei mayo maggio mag maio maja maj mayıs mayis мая май",
    "june jun juni juin junio giugno giu junho czerwca czerwiec cze haziran haz июня июнь июн",
    "july jul juli juillet juil julio luglio lug julho lipca lipiec lip temmuz tem июля июль июл",
    "august aug augustus août aout aoû agosto ago sierpnia sierpień sie ağustos ağu agustos августа август авг",
    "september sep sept september septembre septiembre setiembre settembre set setembro września wrzesień wrz eylül eyl eylul сентября сентябрь сен сент",
    "october oct oktober okt octobre octubre ottobre ott outubro out października październik paź ekim eki октября октябрь окт",
    "november nov novembre noviembre novembro listopada listopad lis kasım kas kasim ноября ноябрь ноя нояб",
    "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro grudnia grudzień gru aralık ara aralik декабря декабрь дек",
];

const WEEKDAYS: [&str; 7] = [
    "monday mon montag lundi lun lunes lunedì lunedi segunda segunda-feira poniedziałek poniedzialek pon maandag pazartesi pzt понедельник пн 星期一 周一 週一 礼拜一 月曜日 월요일",
    "tuesday tue tues dienstag mardi mar martes martedì martedi terça terça-feira wtorek dinsdag salı вторник вт 星期二 周二 週二 火曜日 화요일",
    "wednesday wed mittwoch mercredi mer miércoles mié mercoledì mercoledi quarta quarta-feira środa śro woensdag çarşamba среда среду ср 星期三 周三 週三 水曜日 수요일",
    "thursday thu thur thurs donnerstag jeudi jeu jueves jue giovedì gio quinta quinta-feira czwartek czw donderdag perşembe четверг чт 星期四 周四 週四 木曜日 목요일",
    "friday fri freitag vendredi ven viernes vie venerdì sexta sexta-feira piątek ptk vrijdag cuma пятница пятницу пт 星期五 周五 週五 金曜日 금요일",
    "saturday sat samstag sonnabend samedi sam sábado sáb sabado sabato sab sobota sobotę sob zaterdag cumartesi суббота субботу сб 星期六 周六 週六 土曜日 토요일",
    "sunday sun sonntag dimanche dim domingo dom domenica niedziela niedzielę nie zondag pazar воскресенье вс 星期日 星期天 周日 週日 日曜日 일요일",
];

const DAYS_BACK: [&str; 3] = [
    "today heute aujourd'hui hoy oggi hoje dzisiaj dziś dzis vandaag bugün bugun сегодня 今天 今日 きょう 오늘",
    "yesterday gestern hier ayer ieri ontem wczoraj gisteren dün dun вчера 昨天 昨日 きのう 어제",
    "vorgestern avant-hier anteayer antier anteontem przedwczoraj eergisteren позавчера 前天 一昨日 おととい 그제 그저께",
];

const UNITS: [(Unit, &str); 7] = [
    (
        Unit::Second,
        "second seconds sec secs s sekunde sekunden sek seconde secondes segundo segundos seg secondo secondi sekund sekundę sekundy seconden saniye sn секунд секунды секунду сек 秒 秒钟 秒鐘 초",
    ),
    (
        Unit::Minute,
        "minute minutes min mins m minuten minuto minutos minuti minut minutę minuty minuut dakika dk минут минуты минуту мин 分 分钟 分鐘 분",
    ),
    (
        Unit::Hour,
        "hour hours hr hrs h stunde stunden std heure heures hora horas ora ore godzin godzinę godziny godz uur uren saat sa час часа часов ч 小时 小時 时间 時間 시간",
    ),
    (
        Unit::Day,
        "day days d tag tage tagen jour jours j día días dia dias giorno giorni gg dzień dni dag dagen gün gun день дня дней дн 天 日 일",
    ),
    (
        Unit::Week,
        "week weeks wk wks w woche wochen semaine semaines sem semana semanas settimana settimane tydzień tygodnie tygodni weken hafta неделю недели недель нед 周 週 星期 週間 个星期 주",
    ),
    (
        Unit::Month,
        "month months mo mon mons monat monate monaten mois mes meses mese mesi mês miesiąc miesiące miesięcy maand maanden ay месяц месяца месяцев мес 个月 個月 ヶ月 か月 カ月 개월",
    ),
    (
        Unit::Year,
        "year years yr yrs y jahr jahre jahren an ans année année(s) año años anno anni ano anos rok lata lat jaar jaren yıl год года лет 年 년",
    ),
];

const OTHERS: [(Meaning, &str); 20] = [
    (Meaning::Ago, "ago vor il hace fa há ha atrás temu geleden önce once назад 前 之前 以前 전"),
    (
        Meaning::Now,
        "now l'instant eben moment moments momento jetzt soeben gerade maintenant instant ahora adesso ora agora teraz chwilę chwile nu zojuist şimdi az сейчас только 刚刚 剛剛 刚才 たった今 방금",
    ),
    (Meaning::Half, "half halbe halben demi demie media mezza meia pół полчаса 半 반"),
    (Meaning::One, "a an one ein eine einem einer un une una uno um uma jeden jedną een bir один одну 一"),
    (Meaning::Few, "few paar quelques algunos unos pochi alguns kilka enkele birkaç несколько 几 數 数 몇"),
    (Meaning::Am, "am a.m am. 上午 午前 오전 早上 凌晨"),
    (Meaning::Pm, "pm p.m pm. 下午 午後 오후 晚上"),
    (Meaning::Zone(0), "z utc gmt wet"),
    (Meaning::Zone(3_600), "cet mez bst"),
    (Meaning::Zone(2 * 3_600), "cest mesz eet"),
    (Meaning::Zone(3 * 3_600), "msk мск eest"),
    (Meaning::Zone(-5 * 3_600), "est cdt"),
    (Meaning::Zone(-4 * 3_600), "edt"),
    (Meaning::Zone(-8 * 3_600), "pst"),
    (Meaning::Zone(-7 * 3_600), "pdt mst"),
    (Meaning::Zone(9 * 3_600), "jst kst"),
    (
        Meaning::About,
        "less about almost over nearly ca circa etwa ungefähr knapp weniger environ moins cerca menos meno około mniej ongeveer около менее 约 大约 不到 約 약",
    ),
    (Meaning::Ordinal, "st nd rd th er º ª"),
    (
        Meaning::Filler,
        "at on the of um uhr den am à le de del las a las alle ore o godz godzinie om в г г. de da do às as og kl the than 于 於 に",
    ),
    (Meaning::Year, "年 년"),
];

const MARKS: [(Meaning, &str); 5] = [
    (Meaning::MonthMark, "月 월"),
    (Meaning::DayMark, "日 号 號 일"),
    (Meaning::HourMark, "时 時 点 點 시 h"),
    (Meaning::MinuteMark, "分 분"),
    (Meaning::SecondMark, "秒 초"),
];

/// Words behind which a page tells the time that its server has now.
pub(super) const TIME_NOW: [&str; 14] = [
    "it is currently",
    "the time now is",
    "current time",
    "server time",
    "servertime",
    "aktuelle zeit",
    "es ist jetzt",
    "nous sommes le",
    "fecha actual",
    "ora attuale",
    "obecny czas",
    "текущее время",
    "当前时间",
    "現在時刻",
];

/// All meanings of each word.
static WORDS: LazyLock<HashMap<&'static str, Vec<Meaning>>> = LazyLock::new(|| {
    let mut words: HashMap<&'static str, Vec<Meaning>> = HashMap::new();
    let mut add = |list: &'static str, meaning: Meaning| {
        for word in list.split(' ') {
            let known = words.entry(word).or_default();
            if !known.contains(&meaning) {
                known.push(meaning);
            }
        }
    };
    for (list, number) in MONTHS.into_iter().zip(1..) {
        add(list, Meaning::Month(number));
    }
    for (list, number) in WEEKDAYS.into_iter().zip(0..) {
        add(list, Meaning::Weekday(number));
    }
    for (list, back) in DAYS_BACK.into_iter().zip(0..) {
        add(list, Meaning::DaysBack(back));
    }
    for (unit, list) in UNITS {
        add(list, Meaning::Unit(unit));
    }
    for (meaning, list) in OTHERS.into_iter().chain(MARKS) {
        add(list, meaning);
    }
    words
});

/// Characters of the longest word of a script without spaces.
const LONGEST: usize = 4;

/// What a word says; nothing for words that dates do not use.
pub(super) fn meanings(word: &str) -> &'static [Meaning] {
    let bare = word.trim_end_matches('.');
    WORDS.get(word).or_else(|| WORDS.get(bare)).map_or(&[], Vec::as_slice)
}

/// The longest word of a script without spaces at the beginning of `text`, and its bytes.
pub(super) fn unspaced(text: &str) -> Option<(&'static [Meaning], usize)> {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).take(LONGEST).collect();
    if ends.len() < LONGEST {
        ends.push(text.len());
    }
    ends.into_iter().rev().find_map(|end| WORDS.get(&text[..end]).map(|found| (found.as_slice(), end)))
}

/// True for characters of scripts that put no space between words, or none between a number and its unit.
pub(in crate::boards) fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_the_form_in_which_they_are_asked_for() {
        for word in WORDS.keys() {
            assert!(!word.is_empty() && *word == word.to_lowercase(), "{word:?}");
            let unspaced_characters = word.chars().filter(|&character| is_unspaced(character)).count();
            assert!(unspaced_characters <= LONGEST, "{word:?}");
        }
        assert_eq!(unspaced("个月前"), Some((&[Meaning::Unit(Unit::Month)][..], "个月".len())));
        assert_eq!(unspaced("猫"), None);
        assert_eq!(unspaced(""), None);
        assert_eq!(meanings("mar").len(), 2);
        assert_eq!(meanings("févr."), [Meaning::Month(2)]);
    }
}
