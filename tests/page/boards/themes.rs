//! The markup of forum programs, as far as their public conventions are known, for the pages of the simulated forum.
//! Each theme has its language, its time format, its site's time zone and its server's clock.

use std::fmt::Write as _;

use super::forum::{DAY, HOUR, Thread};

/// Rows of a page, and posts of a page of a thread.
pub const ROWS: usize = 12;
const POSTS: usize = 10;

/// A program with a site's settings.
pub struct Theme {
    pub name: &'static str,
    /// Offset of the site's times, in seconds east of UTC.
    pub offset_s: i64,
    /// Seconds that the server's clock is ahead.
    pub ahead_s: i64,
    /// When the site's clock switches to summer time, an hour later, and back.
    pub summer: Option<(i64, i64)>,
    pub board: fn(usize, usize) -> String,
    pub render: fn(&View<'_>) -> String,
    /// The list is sorted by creation of the threads.
    pub by_birth: bool,
}

/// A page of a board at a certain time.
pub struct View<'f> {
    pub theme: &'f Theme,
    pub board: usize,
    pub page: usize,
    pub pages: usize,
    pub rows: Vec<&'f Thread>,
    pub now: i64,
}

/// Times in the server's local time, in parts.
struct Told {
    year: i32,
    month: usize,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    weekday: usize,
    /// Days before the site's today.
    back: i64,
    /// Seconds before the server's now.
    ago: i64,
}

impl View<'_> {
    fn told(&self, at: i64) -> Told {
        let summer = self.theme.summer.is_some_and(|(from, until)| (from..until).contains(&self.now));
        let ahead = self.theme.offset_s + self.theme.ahead_s + if summer { HOUR } else { 0 };
        let (local, local_now) = (at + ahead, self.now + ahead);
        let date = time::OffsetDateTime::from_unix_timestamp(local).unwrap();
        Told {
            year: date.year(),
            month: usize::from(u8::from(date.month())),
            day: date.day(),
            hour: date.hour(),
            minute: date.minute(),
            second: date.second(),
            weekday: usize::from(date.weekday().number_days_from_monday()),
            back: local_now.div_euclid(DAY) - local.div_euclid(DAY),
            ago: self.now - at,
        }
    }

    fn last(&self, thread: &Thread) -> i64 {
        thread.last_by(self.now).unwrap()
    }

    fn replies(&self, thread: &Thread) -> usize {
        thread.posts_at(self.now).count() - 1
    }

    /// Pages of a thread.
    fn thread_pages(&self, thread: &Thread) -> usize {
        thread.posts_at(self.now).count().div_ceil(POSTS)
    }

    fn head(&self, language: &str) -> String {
        format!(
            "<!DOCTYPE html><html lang=\"{language}\"><head><title>Board {}</title></head><body><div id=\"wrap\"><ul class=\"nav\">\
             <li><a href=\"/\">Home</a></li><li><a href=\"/search\">Search the boards</a></li><li><a href=\"/faq\">Questions</a></li>\
             <li><a href=\"/members\">Members</a></li></ul><div class=\"sidebar\"><h3>Latest posts</h3><ul>{}</ul></div>\n",
            self.board,
            (0..8)
                .map(|at| format!(
                    "<li><a href=\"/news/entry-number-{at}\">Something about the site {at}</a> 2026-01-0{}</li>",
                    at + 1
                ))
                .collect::<String>()
        )
    }

    fn numbers(&self) -> String {
        (1..=self.pages)
            .filter(|&page| page != self.page && (page <= 3 || page == self.pages || page.abs_diff(self.page) <= 1))
            .map(|page| format!("<a href=\"{}\">{page}</a> ", (self.theme.board)(self.board, page)))
            .collect()
    }
}

const MONTHS: [&str; 13] = ["", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTHS_FR: [&str; 13] = [
    "",
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

fn half_day(told: &Told) -> (u8, &'static str) {
    (if told.hour.is_multiple_of(12) { 12 } else { told.hour % 12 }, if told.hour < 12 { "am" } else { "pm" })
}

/// From the tenth to the twentieth measured day.
const SUMMER: (i64, i64) = (super::NOW - 30 * DAY, super::NOW - 20 * DAY);

pub fn all() -> Vec<Theme> {
    let theme = |name, offset_s, ahead_s, board, render| Theme {
        name,
        offset_s,
        ahead_s,
        summer: None,
        board,
        render,
        by_birth: false,
    };
    vec![
        theme(
            "phpBB, English",
            -5 * HOUR,
            0,
            |board, page| match page {
                1 => format!("/viewforum.php?f={board}"),
                _ => format!("/viewforum.php?f={board}&start={}", (page - 1) * ROWS),
            },
            phpbb,
        ),
        theme(
            "MyBB, English",
            HOUR,
            -90,
            |board, page| match page {
                1 => format!("/forumdisplay.php?fid={board}"),
                _ => format!("/forumdisplay.php?fid={board}&page={page}"),
            },
            mybb,
        ),
        theme("Discuz!, Chinese", 8 * HOUR, 0, |board, page| format!("/forum-{board}-{page}.html"), discuz),
        theme(
            "XenForo, clock two hours ahead",
            0,
            2 * HOUR,
            |board, page| match page {
                1 => format!("/forums/name-of-board.{board}/"),
                _ => format!("/forums/name-of-board.{board}/page-{page}"),
            },
            xenforo,
        ),
        Theme {
            summer: Some(SUMMER),
            ..theme(
                "vBulletin, German",
                HOUR,
                400,
                |board, page| match page {
                    1 => format!("/forumdisplay.php?f={board}"),
                    _ => format!("/forumdisplay.php?f={board}&page={page}"),
                },
                vbulletin,
            )
        },
        Theme {
            summer: Some(SUMMER),
            ..theme(
                "PunBB, Russian",
                3 * HOUR,
                0,
                |board, page| match page {
                    1 => format!("/viewforum.php?id={board}"),
                    _ => format!("/viewforum.php?id={board}&p={page}"),
                },
                punbb,
            )
        },
        theme("days only, French", 2 * HOUR, 0, |board, page| format!("/forum/{board}?page={page}"), french),
        theme("no times", 0, 0, |board, page| format!("/forum/{board}?page={page}"), timeless),
        Theme {
            by_birth: true,
            ..theme("by birth, English", 0, 0, |board, page| format!("/board/{board}/page/{page}/"), divs)
        },
    ]
}

fn phpbb(view: &View<'_>) -> String {
    let mut out = view.head("en-us");
    let row = |thread: &Thread| {
        let time = |at: i64| {
            let told = view.told(at);
            let (hour, half) = half_day(&told);
            let weekday = WEEKDAYS[told.weekday];
            format!("{weekday} {} {:02}, {} {hour}:{:02} {half}", MONTHS[told.month], told.day, told.year, told.minute)
        };
        let pages: String = (1..view.thread_pages(thread))
            .map(|page| {
                format!(
                    "<li><a class=\"button\" href=\"./viewtopic.php?f=2&amp;t={}&amp;start={}\">{}</a></li>",
                    thread.id,
                    page * POSTS,
                    page + 1
                )
            })
            .collect();
        let class = if thread.pinned {
            "row bg1 sticky"
        } else if thread.id.is_multiple_of(2) {
            "row bg1"
        } else {
            "row bg2"
        };
        format!(
            "<li class=\"{class}\"><dl class=\"row-item topic_read\"><dt title=\"No unread posts\"><div class=\"list-inner\">\
             <a href=\"./viewtopic.php?f=2&amp;t={id}\" class=\"topictitle\">{title}</a><br/>{pagination}\
             <div class=\"topic-poster\">by <a href=\"./memberlist.php?mode=viewprofile&amp;u={u}\" class=\"username\">{author}</a> &raquo; {first}</div></div></dt>\
             <dd class=\"posts\">{replies} <dfn>Replies</dfn></dd><dd class=\"views\">{views} <dfn>Views</dfn></dd>\
             <dd class=\"lastpost\"><span><dfn>Last post </dfn>by <a href=\"./memberlist.php?mode=viewprofile&amp;u=3\" class=\"username\">Karl77</a>\
             <a href=\"./viewtopic.php?f=2&amp;p={p}#p{p}\" title=\"Go to last post\"><i class=\"icon fa-external-link-square\"></i></a><br/>{last}</span></dd></dl></li>\n",
            id = thread.id,
            title = thread.title,
            pagination = if pages.is_empty() {
                String::new()
            } else {
                format!("<div class=\"pagination\"><ul>{pages}</ul></div>")
            },
            u = thread.id % 6,
            author = thread.author,
            first = time(thread.posts[0].0),
            replies = view.replies(thread),
            views = view.replies(thread) * 7 + 30 + (view.now / HOUR % 50) as usize,
            p = thread.posts_at(view.now).count() * 10 + thread.id,
            last = time(view.last(thread)),
        )
    };
    let (pinned, others): (Vec<&Thread>, Vec<&Thread>) = view.rows.iter().partition(|thread| thread.pinned);
    let head = "<ul class=\"topiclist\"><li class=\"header\"><dl class=\"row-item\"><dt><div class=\"list-inner\">Topics</div></dt><dd class=\"posts\">Replies</dd><dd class=\"views\">Views</dd><dd class=\"lastpost\"><span>Last post</span></dd></dl></li></ul>";
    for (class, rows) in [("forumbg announcement", pinned), ("forumbg", others)] {
        let rows: String = rows.into_iter().map(row).collect();
        let _ = write!(
            out,
            "<div class=\"{class}\"><div class=\"inner\">{head}<ul class=\"topiclist topics\">{rows}</ul></div></div>"
        );
    }
    let _ = write!(
        out,
        "<div class=\"pagination\">{}</div><p>All times are <span title=\"UTC-5\">UTC-05:00</span></p></div></body></html>",
        view.numbers()
    );
    out
}

fn mybb(view: &View<'_>) -> String {
    let mut out = view.head("en");
    out.push_str(
        "<table class=\"tborder\"><tr><td class=\"thead\" colspan=\"6\"><strong>My Forum</strong></td></tr><tr><td class=\"tcat\" colspan=\"3\">\
         <a href=\"?sortby=subject\">Thread</a> / <a href=\"?sortby=starter\">Author</a></td><td class=\"tcat\"><a href=\"?sortby=replies\">Replies</a></td>\
         <td class=\"tcat\"><a href=\"?sortby=views\">Views</a></td><td class=\"tcat\"><a href=\"?sortby=lastpost\">Last Post</a> [asc]</td></tr>",
    );
    let time = |at: i64| {
        let told = view.told(at);
        let (hour, half) = half_day(&told);
        let half = half.to_uppercase();
        let date = format!("{:02}-{:02}-{}", told.month, told.day, told.year);
        let clock = format!("{hour:02}:{:02} {half}", told.minute);
        match told.ago {
            0..60 => format!("<span title=\"{date}, {clock}\">Less than 1 minute ago</span>"),
            60..3_600 => format!("<span title=\"{date}, {clock}\">{} minutes ago</span>", told.ago / 60),
            3_600..43_200 if told.back == 0 => {
                format!("<span title=\"{date}, {clock}\">{} hours ago</span>", told.ago / 3_600)
            }
            _ if told.back == 0 => format!("<span title=\"{date}\">Today</span>, {clock}"),
            _ if told.back == 1 => format!("<span title=\"{date}\">Yesterday</span>, {clock}"),
            _ => format!("{date}, {clock}"),
        }
    };
    let mut separated = false;
    for thread in &view.rows {
        let class = if thread.pinned { "trow_sticky forumdisplay_sticky" } else { "trow1 forumdisplay_regular" };
        if !thread.pinned && !separated {
            separated = true;
            out.push_str("<tr><td class=\"trow_sep\" colspan=\"6\">Normal Threads</td></tr>");
        }
        let pages = view.thread_pages(thread);
        let multi: String = (1..=pages)
            .filter(|_| pages > 1)
            .map(|page| format!("<a href=\"showthread.php?tid={}&amp;page={page}\">{page}</a> ", thread.id))
            .collect();
        let multi = if multi.is_empty() { multi } else { format!("<span class=\"smalltext\">(Pages: {multi})</span>") };
        let _ = writeln!(
            out,
            "<tr class=\"inline_row\"><td class=\"{class}\" width=\"2%\"><span class=\"thread_status folder\">&nbsp;</span></td><td class=\"{class}\">&nbsp;</td>\
             <td class=\"{class}\"><div><span><span id=\"tid_{id}\"><a href=\"showthread.php?tid={id}\">{title}</a></span> {multi}</span>\
             <div><span class=\"author smalltext\"><a href=\"member.php?action=profile&amp;uid=1\">{author}</a>, </span><span class=\"thread_start_datetime smalltext\">{first}</span></div></div></td>\
             <td class=\"{class}\"><a href=\"misc.php?action=whoposted&tid={id}\">{replies}</a></td><td class=\"{class}\">{views}</td>\
             <td class=\"{class}\"><span class=\"lastpost smalltext\">{last}<br /><a href=\"showthread.php?tid={id}&amp;action=lastpost\">Last Post</a>: <a href=\"member.php?action=profile&amp;uid=1\">admin</a></span></td></tr>",
            id = thread.id,
            title = thread.title,
            author = thread.author,
            first = time(thread.posts[0].0),
            replies = view.replies(thread),
            views = view.replies(thread) * 9 + 100,
            last = time(view.last(thread)),
        );
        if thread.id.is_multiple_of(19) {
            out.push_str(
                "<tr><td colspan=6 class=\"ad\"><a href=\"/click?ad=7\">Fast seedboxes, first month free</a></td></tr>",
            );
        }
    }
    let _ = write!(out, "</table><div class=\"pagination\">{}</div></div></body></html>", view.numbers());
    out
}

fn discuz(view: &View<'_>) -> String {
    let mut out = view.head("zh-CN");
    out.push_str("<div id=\"threadlist\"><div class=\"th\"><table><tr><th colspan=\"2\"><a href=\"forum.php?mod=forumdisplay&fid=2&filter=lastpost\">最新</a></th><td class=\"by\">作者</td><td class=\"num\">回复/查看</td><td class=\"by\">最后发表</td></tr></table></div><table id=\"threadlisttableid\">");
    let time = |at: i64| {
        let told = view.told(at);
        let full = format!("{}-{}-{} {:02}:{:02}", told.year, told.month, told.day, told.hour, told.minute);
        let text = match told.ago {
            0..60 => format!("{}&nbsp;秒前", told.ago.max(1)),
            60..1_800 => format!("{}&nbsp;分钟前", told.ago / 60),
            1_800..3_600 => "半小时前".to_owned(),
            3_600..86_400 if told.back == 0 => format!("{}&nbsp;小时前", told.ago / 3_600),
            _ if told.back == 1 => format!("昨天&nbsp;{:02}:{:02}", told.hour, told.minute),
            _ if told.back == 2 => format!("前天&nbsp;{:02}:{:02}", told.hour, told.minute),
            _ if told.back < 7 => format!("{}&nbsp;天前", told.back),
            _ => return full,
        };
        format!("<span title=\"{full}\">{text}</span>")
    };
    for thread in &view.rows {
        let pages = view.thread_pages(thread);
        let multi: String =
            (2..=pages).map(|page| format!("<a href=\"thread-{}-{page}-1.html\">{page}</a>", thread.id)).collect();
        let (kind, mark) = if thread.pinned { ("stickthread", "<em>[置顶]</em>") } else { ("normalthread", "") };
        let _ = writeln!(
            out,
            "<tbody id=\"{kind}_{id}\"><tr><td class=\"icn\"><a href=\"thread-{id}-1-{page}.html\"><i class=\"fico-thread\"></i></a></td><th class=\"new\">\
             <a href=\"javascript:;\" id=\"content_{id}\" class=\"showcontent y\"></a>{mark} <a href=\"thread-{id}-1-{page}.html\" class=\"s xst\">{title}</a> {multi}</th>\
             <td class=\"by\"><cite><a href=\"home.php?mod=space&amp;uid=1\" c=\"1\">{author}</a></cite><em><span>{first}</span></em></td>\
             <td class=\"num\"><a href=\"thread-{id}-1-{page}.html\" class=\"xi2\">{replies}</a><em>{views}</em></td>\
             <td class=\"by\"><cite><a href=\"home.php?mod=space&username=admin\" c=\"1\">admin</a></cite><em><a href=\"forum.php?mod=redirect&tid={id}&goto=lastpost#lastpost\">{last}</a></em></td></tr></tbody>",
            id = thread.id,
            page = view.page,
            title = thread.title,
            author = thread.author,
            first = time(thread.posts[0].0),
            replies = view.replies(thread),
            views = view.replies(thread) * 9 + 100,
            last = time(view.last(thread)),
        );
    }
    let told = view.told(view.now);
    let _ = write!(
        out,
        "</table></div><div class=\"pg\">{}</div><p>GMT+8, {}-{}-{} {:02}:{:02} , Processed in 0.021 second(s)</p></div></body></html>",
        view.numbers(),
        told.year,
        told.month,
        told.day,
        told.hour,
        told.minute
    );
    out
}

fn xenforo(view: &View<'_>) -> String {
    let mut out = view.head("en-GB");
    let time = |at: i64| {
        let (told, stamp) = (view.told(at), at + view.theme.ahead_s);
        let text = match told.back {
            0 => format!("Today at {:02}:{:02}", told.hour, told.minute),
            1 => format!("Yesterday at {:02}:{:02}", told.hour, told.minute),
            _ => format!("{} {} {}", told.day, MONTHS[told.month], told.year),
        };
        format!(
            "<time class=\"u-dt\" datetime=\"{}-{:02}-{:02}T{:02}:{:02}:{:02}+0000\" data-time=\"{stamp}\" title=\"x\">{text}</time>",
            told.year, told.month, told.day, told.hour, told.minute, told.second
        )
    };
    let item = |thread: &Thread| {
        let pages = view.thread_pages(thread);
        let jump: String = (2..=pages)
            .map(|page| format!("<a href=\"/threads/the-title.{}/page-{page}\">{page}</a>", thread.id))
            .collect();
        let jump = if jump.is_empty() { jump } else { format!("<span class=\"structItem-pageJump\">{jump}</span>") };
        let sticky = if thread.pinned {
            "<li><i class=\"structItem-status structItem-status--sticky\" title=\"Sticky\"></i><span class=\"u-srOnly\">Sticky</span></li>"
        } else {
            ""
        };
        format!(
            "<div class=\"structItem structItem--thread js-threadListItem-{id}\" data-author=\"{author}\"><div class=\"structItem-cell structItem-cell--icon\"><a href=\"/members/name.{u}/\" class=\"avatar\"><img src=\"/a.png\" alt=\"{author}\"></a></div>\
             <div class=\"structItem-cell structItem-cell--main\"><ul class=\"structItem-statuses\">{sticky}</ul><div class=\"structItem-title\"><a href=\"/threads/the-title.{id}/\">{title}</a></div>\
             <div class=\"structItem-minor\"><ul class=\"structItem-parts\"><li><a href=\"/members/name.{u}/\" class=\"username\">{author}</a></li><li class=\"structItem-startDate\"><a href=\"/threads/the-title.{id}/\">{first}</a></li></ul>{jump}</div></div>\
             <div class=\"structItem-cell structItem-cell--meta\"><dl class=\"pairs pairs--justified\"><dt>Replies</dt><dd>{replies}</dd></dl><dl class=\"pairs pairs--justified structItem-minor\"><dt>Views</dt><dd>{views}</dd></dl></div>\
             <div class=\"structItem-cell structItem-cell--latest\"><a href=\"/threads/the-title.{id}/latest\">{last}</a><div class=\"structItem-minor\"><a href=\"/members/karl.3/\" class=\"username\">Karl77</a></div></div></div>\n",
            id = thread.id,
            u = thread.id % 6 + 1,
            author = thread.author,
            title = thread.title,
            first = time(thread.posts[0].0),
            replies = view.replies(thread),
            views =
                if thread.id.is_multiple_of(3) { "1.2K".to_owned() } else { (view.replies(thread) + 60).to_string() },
            last = time(view.last(thread)),
        )
    };
    let (pinned, others): (Vec<&Thread>, Vec<&Thread>) = view.rows.iter().partition(|thread| thread.pinned);
    let _ = write!(
        out,
        "<div class=\"p-body-main p-body-main--withSidebar\"><div class=\"p-body-content\"><div class=\"structItemContainer\"><div class=\"structItemContainer-group structItemContainer-group--sticky\">{}</div><div class=\"structItemContainer-group js-threadList\">{}</div></div>",
        pinned.into_iter().map(item).collect::<String>(),
        others.into_iter().map(item).collect::<String>()
    );
    if view.page < view.pages {
        let _ = write!(
            out,
            "<nav><a href=\"{}\" class=\"pageNav-jump pageNav-jump--next\">Next</a></nav>",
            (view.theme.board)(view.board, view.page + 1)
        );
    }
    out.push_str("</div></div></div></body></html>");
    out
}

fn vbulletin(view: &View<'_>) -> String {
    let mut out = view.head("de");
    out.push_str("<ol class=\"threads\">");
    let time = |at: i64| {
        let told = view.told(at);
        let clock = format!("<em class=\"time\">{:02}:{:02}</em>", told.hour, told.minute);
        match told.back {
            0 => format!("Heute, {clock} Uhr"),
            1 => format!("Gestern, {clock} Uhr"),
            _ => format!("{:02}.{:02}.{}, {clock} Uhr", told.day, told.month, told.year),
        }
    };
    for thread in &view.rows {
        let pages = view.thread_pages(thread);
        let multi: String = (2..=pages)
            .map(|page| format!("<dd><a href=\"showthread.php?t={}&amp;page={page}\">{page}</a></dd>", thread.id))
            .collect();
        let multi = if multi.is_empty() { multi } else { format!("<dl class=\"pagination\">{multi}</dl>") };
        let _ = writeln!(
            out,
            "<li class=\"threadbit {}\" id=\"thread_{id}\"><div class=\"rating0 nonsticky\"><div class=\"threadinfo\"><div class=\"inner\"><h3 class=\"threadtitle\">{prefix}<a class=\"title\" href=\"showthread.php?t={id}\" id=\"thread_title_{id}\">{title}</a></h3>\
             <div class=\"threadmeta\"><div class=\"author\"><span class=\"label\">Erstellt von <a href=\"member.php?u=2\" class=\"username\">{author}</a>, {first}</span>{multi}</div></div></div></div>\
             <ul class=\"threadstats td alt\"><li>Antworten: <a href=\"misc.php?do=whoposted&amp;t={id}\">{replies}</a></li><li>Hits: {views}</li></ul>\
             <dl class=\"threadlastpost td\"><dt class=\"lastpostby hidden\">Letzter Beitrag von</dt><dd><strong><a href=\"member.php?u=3\">Karl77</a></strong></dd><dd>{last} <a href=\"showthread.php?p=9{id}#post9{id}\" class=\"lastpostdate\">»</a></dd></dl></div></li>",
            if thread.pinned { "sticky" } else { "hot" },
            id = thread.id,
            prefix = if thread.pinned { "<span class=\"prefix\">Wichtig: </span>" } else { "" },
            title = thread.title,
            author = thread.author,
            first = time(thread.posts[0].0),
            replies = view.replies(thread),
            views = view.replies(thread) * 9 + 100,
            last = time(view.last(thread)),
        );
    }
    let _ = write!(out, "</ol><div class=\"pagination\">{}</div></div></body></html>", view.numbers());
    out
}

fn punbb(view: &View<'_>) -> String {
    let mut out = view.head("ru");
    out.push_str("<table><thead><tr><th class=\"tcl\">Тема</th><th class=\"tc2\">Ответов</th><th class=\"tc3\">Просмотров</th><th class=\"tcr\">Последнее сообщение</th></tr></thead><tbody>");
    let time = |at: i64| {
        let told = view.told(at);
        let clock = format!("{:02}:{:02}:{:02}", told.hour, told.minute, told.second);
        match told.back {
            0 => format!("Сегодня {clock}"),
            1 => format!("Вчера {clock}"),
            _ => format!("{}-{:02}-{:02} {clock}", told.year, told.month, told.day),
        }
    };
    for thread in &view.rows {
        let pages = view.thread_pages(thread);
        let multi: String = (1..=pages)
            .filter(|_| pages > 1)
            .map(|page| format!("<a href=\"viewtopic.php?id={}&amp;p={page}\">{page}</a>", thread.id))
            .collect();
        let _ = writeln!(
            out,
            "<tr class=\"{}\"><td class=\"tcl\"><div class=\"icon\"></div><div class=\"tclcon\"><div>{sticky}<a href=\"viewtopic.php?id={id}\">{title}</a> <span class=\"byuser\">от {author}</span> <span class=\"pagestext\">[ {multi} ]</span></div></div></td>\
             <td class=\"tc2\">{replies}</td><td class=\"tc3\">{views}</td><td class=\"tcr\"><a href=\"viewtopic.php?pid={p}#p{p}\">{last}</a> <span class=\"byuser\">от Karl77</span></td></tr>",
            if thread.pinned { "rowodd isticky" } else { "roweven" },
            sticky = if thread.pinned { "<span class=\"stickytext\">Закреплено: </span>" } else { "" },
            id = thread.id,
            title = thread.title,
            author = thread.author,
            replies = view.replies(thread),
            views = view.replies(thread) * 9 + 100,
            p = thread.posts_at(view.now).count() + thread.id * 10,
            last = time(view.last(thread)),
        );
    }
    let _ = write!(out, "</tbody></table><p class=\"pagelink\">{}</p></div></body></html>", view.numbers());
    out
}

fn french(view: &View<'_>) -> String {
    let mut out = view.head("fr");
    out.push_str("<div class=\"list\">");
    for thread in &view.rows {
        let told = view.told(view.last(thread));
        let date = match told.back {
            0 => "Aujourd’hui".to_owned(),
            1 => "Hier".to_owned(),
            _ => format!("{} {} {}", told.day, MONTHS_FR[told.month], told.year),
        };
        let _ = writeln!(
            out,
            "<div class=\"item{}\"><h4><a href=\"/sujet/{}-un-titre\">{}</a></h4><p>par <a href=\"/membre/7\">{}</a></p><p class=\"stats\">{} réponses</p><p class=\"dernier\">{date}</p></div>",
            if thread.pinned { " epingle important" } else { "" },
            thread.id,
            thread.title,
            thread.author,
            view.replies(thread)
        );
    }
    let _ = write!(out, "</div><p>{}</p></div></body></html>", view.numbers());
    out
}

fn timeless(view: &View<'_>) -> String {
    let mut out = view.head("en");
    out.push_str("<table><tr><th>Topic</th><th>Replies</th></tr>");
    for thread in &view.rows {
        let pin = if thread.pinned { "<img src=\"/i/pin.gif\" alt=\"Pinned\">" } else { "" };
        let _ = writeln!(
            out,
            "<tr><td>{pin}<a href=\"/topic/{}\">{}</a></td><td>{}</td></tr>",
            thread.id,
            thread.title,
            view.replies(thread)
        );
    }
    let _ = write!(out, "</table><p>{}</p></div></body></html>", view.numbers());
    out
}

fn divs(view: &View<'_>) -> String {
    let mut out = view.head("en");
    out.push_str("<div class=\"stream\">");
    for thread in &view.rows {
        let told = view.told(view.last(thread));
        let _ = writeln!(
            out,
            "<div class=\"card\"><div><b><a href=\"/t/a-slug/{}\">{}</a></b></div><div class=\"meta\"><span>last activity {}/{}/{} {:02}:{:02}</span> · <span>{} replies</span></div></div>",
            thread.id,
            thread.title,
            told.month,
            told.day,
            told.year,
            told.hour,
            told.minute,
            view.replies(thread)
        );
    }
    let _ = write!(out, "</div><p>{}</p></div></body></html>", view.numbers());
    out
}
