//! Hand-written lists that follow the public conventions of forums, trackers and file servers: the content of each column,
//! which row is pinned, which list is the board's.

use gleaner_page::boards::when::{Conventions, Order};
use gleaner_page::boards::{BoardPage, Pinned, Row, RowSelectors, Sorted, Times};

use super::{NOW, read, read_with};

const HOUR: i64 = 3_600;

fn titles(page: &BoardPage) -> Vec<&str> {
    page.rows.iter().map(|row| row.title.as_str()).collect()
}

fn told(row: &Row) -> i64 {
    row.last.unwrap().told.unwrap()
}

#[test]
fn nyaa_has_sizes_swarms_and_epochs() {
    let row = |id: u32, at: i64, class: &str| {
        format!(
            "<tr class=\"{class}\"><td><a href=\"/?c=1_2\" title=\"Anime - English\"><img src=\"/static/1_2.png\" alt=\"Anime\"></a></td><td colspan=\"2\">\
             <a href=\"/view/{id}#comments\" class=\"comments\" title=\"3 comments\"><i class=\"fa fa-comments-o\"></i>3</a><a href=\"/view/{id}\" title=\"[Group] Show - {id}\">[Group] Show - {id} (1080p)</a></td>\
             <td class=\"text-center\"><a href=\"/download/{id}.torrent\"><i class=\"fa fa-fw fa-download\"></i></a><a href=\"magnet:?xt=urn:btih:aa\"><i></i></a></td>\
             <td class=\"text-center\">1.4 GiB</td><td class=\"text-center\" data-timestamp=\"{at}\">2026-11-22 0{}:30</td><td class=\"text-center\">{}</td><td class=\"text-center\">{}</td><td class=\"text-center\">{}</td></tr>",
            id % 10,
            id % 7 + 40,
            id % 5 + 3,
            id * 3
        )
    };
    let rows: String = (0..30)
        .map(|at| row(1_900_000 - at, NOW - i64::from(at) * 600, if at % 4 == 0 { "success" } else { "default" }))
        .collect();
    let html = format!(
        "<html><body><nav><ul><li><a href=\"/upload\">Upload</a></li><li><a href=\"/info\">Info on things</a></li><li><a href=\"/rss\">RSS feed</a></li></ul></nav><table class=\"torrent-list\"><thead><tr><th>Category</th><th colspan=2>Name</th><th>Link</th>\
         <th><a href=\"/?s=size\"></a>Size</th><th>Date</th><th title=\"Seeders\"><i></i></th><th title=\"Leechers\"><i></i></th><th title=\"Completed downloads\"><i></i></th></tr></thead><tbody>{rows}</tbody></table>\
         <ul class=\"pagination\"><li><a href=\"/?p=2\">2</a></li><li><a href=\"/?p=3\">3</a></li><li class=\"next\"><a rel=\"next\" href=\"/?p=2\">&raquo;</a></li></ul></body></html>"
    );
    let page = read(&html, "http://tracker.example/");
    assert_eq!((page.rows.len(), page.sorted), (30, Sorted::NewestFirst));
    let first = &page.rows[0];
    assert_eq!(first.id, "http://tracker.example/view/1900000");
    assert_eq!(first.title, "[Group] Show - 1900000 (1080p)");
    assert_eq!(
        (first.size_bytes, first.seeders, first.leechers, first.completed),
        (Some(1_503_238_553), Some(1_900_000 % 7 + 40), Some(3), Some(5_700_000))
    );
    assert_eq!(first.last.unwrap().at(), NOW, "the epoch, not the text beside it");
    assert_eq!(page.next.unwrap().as_str(), "http://tracker.example/?p=2");
    assert!(page.rows.iter().all(|row| row.pinned.is_none()));
}

#[test]
fn nexusphp_nests_tables_in_its_rows() {
    let row = |id: u32, hours: u32, sticky: bool| {
        let pin =
            if sticky { "<img class=\"sticky\" src=\"pic/trans.gif\" alt=\"Sticky\" title=\"置顶\" />" } else { "" };
        format!(
            "<tr><td class=\"rowfollow nowrap\"><a href=\"?cat=401\"><img class=\"c_movies\" src=\"pic/cattrans.gif\" alt=\"Movies\" /></a></td><td class=\"rowfollow\"><table class=\"torrentname\" width=\"100%\"><tr><td class=\"embedded\">{pin}\
             <a title=\"Some.Film.{id}\" href=\"details.php?id={id}&amp;hit=1\"><b>Some.Film.{id}.2026.11.21.1080p</b></a><br />一部电影</td><td width=\"20\" class=\"embedded\"><a href=\"download.php?id={id}\"><img class=\"download\" src=\"pic/trans.gif\" alt=\"download\" /></a></td></tr></table></td>\
             <td class=\"rowfollow\"><a href=\"comment.php?action=add&amp;pid={id}&amp;type=torrent\">2</a></td><td class=\"rowfollow nowrap\"><span title=\"2026-11-22 {:02}:15:30\">{}时<br />44分</span></td><td class=\"rowfollow\">8.52<br />GB</td>\
             <td class=\"rowfollow\" align=\"center\"><b><a href=\"details.php?id={id}&amp;hit=1&amp;dllist=1#seeders\">{}</a></b></td><td class=\"rowfollow\"><b><a href=\"details.php?id={id}&amp;dllist=1#leechers\">7</a></b></td><td class=\"rowfollow\"><a href=\"viewsnatches.php?id={id}\"><b>250</b></a></td><td class=\"rowfollow\"><i>匿名</i></td></tr>",
            17 - hours,
            hours,
            90 + hours
        )
    };
    let rows: String = (0..16).map(|at| row(5_000 - at, at, at < 1)).collect();
    let html = format!(
        "<html lang=\"zh\"><body><table class=\"torrents\"><tr><td class=\"colhead\">类型</td><td class=\"colhead\"><a href=\"?sort=1\">标题</a></td><td class=\"colhead\"><img class=\"comments\" alt=\"comments\" title=\"评论数\" /></td>\
         <td class=\"colhead\"><img class=\"time\" alt=\"time\" title=\"存活时间\" /></td><td class=\"colhead\"><img class=\"size\" alt=\"size\" title=\"大小\" /></td><td class=\"colhead\"><img class=\"seeders\" alt=\"seeders\" title=\"种子数\" /></td><td class=\"colhead\"><img class=\"leechers\" alt=\"leechers\" title=\"下载数\" /></td><td class=\"colhead\"><img class=\"snatched\" alt=\"snatched\" title=\"完成数\" /></td><td class=\"colhead\">发布者</td></tr>{rows}</table></body></html>"
    );
    let mut conventions = Conventions::with_offset(Some(8 * 3_600));
    let page = read_with(&html, "http://pt.example/torrents.php", NOW, None, None, &mut conventions);
    assert_eq!(page.rows.len(), 16, "{:#?}", titles(&page));
    let row = &page.rows[3];
    assert_eq!(row.id, "http://pt.example/details.php?id=4997");
    assert_eq!((row.replies, row.seeders, row.leechers, row.completed), (Some(2), Some(93), Some(7), Some(250)));
    assert_eq!(row.last.unwrap().at(), NOW - 3 * HOUR - 44 * 60 - 30, "the exact time of the title");
    assert_eq!(row.size_bytes.map(|bytes| bytes >> 20), Some(8_724));
    assert_eq!(page.rows[0].pinned, Some(Pinned::Said));
    assert_eq!(page.rows.iter().filter(|row| row.pinned.is_some()).count(), 1);
}

#[test]
fn gazelle_groups_are_rows_too() {
    let row = |id: u32| {
        format!(
            "<tr class=\"group\"><td class=\"center\"><div class=\"show_torrents\"></div></td><td class=\"center cats_col\"><div title=\"rock\" class=\"tooltip cats_music\"></div></td><td class=\"big_info\"><div class=\"group_info clear\"><a href=\"artist.php?id=7\">Artist Name</a> - <a href=\"torrents.php?id={id}\">Album number {id}</a> [2026]<div class=\"tags\"><a href=\"torrents.php?taglist=rock\">rock</a></div></div></td>\
             <td class=\"nobr\"><span class=\"time tooltip\" title=\"Nov 2{} 2026, 0{}:15\">{} hours ago</span></td><td class=\"number_column nobr\">382.42 MB (Max)</td><td class=\"number_column\">1{}</td><td class=\"number_column\">9</td><td class=\"number_column\">1</td></tr>",
            id % 2,
            id % 9,
            id % 20 + 1,
            id % 10
        )
    };
    let rows: String = (0..12).map(|at| row(700 - at)).collect();
    let html = format!(
        "<html lang=\"en\"><body><div id=\"content\"><table class=\"torrent_table\" id=\"torrent_table\"><tr class=\"colhead\"><td class=\"small\"></td><td class=\"small cats_col\"></td><td>Name / <a href=\"torrents.php?order_by=year\">Year</a></td><td><a href=\"torrents.php?order_by=time\">Time</a></td><td><a href=\"torrents.php?order_by=size\">Size</a></td><td class=\"sign snatches\"><a href=\"x\"><img alt=\"Snatches\" title=\"Snatches\"></a></td><td class=\"sign seeders\"><img alt=\"Seeders\" title=\"Seeders\"></td><td class=\"sign leechers\"><img alt=\"Leechers\" title=\"Leechers\"></td></tr>{rows}</table></div></body></html>"
    );
    let page = read(&html, "http://music.example/torrents.php");
    assert_eq!(page.rows.len(), 12, "{:#?}", titles(&page));
    assert_eq!(page.rows[0].title, "Album number 700");
    assert_eq!((page.rows[0].seeders, page.rows[0].leechers), (Some(9), Some(1)));
    assert!(page.rows[0].completed.is_some() && page.rows.iter().all(|row| row.last.is_some()));
}

#[test]
fn boards_below_are_told_from_threads() {
    let boards: String = (3..7)
        .map(|id| format!("<li class=\"row\"><dl><dt><a href=\"viewforum.php?f={id}\" class=\"forumtitle\">Forum number {id} here</a><br>What it is about</dt><dd class=\"topics\">12 <dfn>Topics</dfn></dd><dd class=\"posts\">99 <dfn>Posts</dfn></dd><dd class=\"lastpost\"><span><a href=\"viewtopic.php?p=9\" class=\"lastsubject\">Re: a long thread title</a> by <a href=\"memberlist.php?mode=viewprofile&u=2\">Karl</a><br>Fri Nov 20, 2026 2:03 pm</span></dd></dl></li>"))
        .collect();
    let threads: String = (0..9)
        .map(|at| format!("<li class=\"row bg1\"><dl><dt><a href=\"viewtopic.php?f=2&t={}\" class=\"topictitle\">Thread number {at}</a><br>by Karl</dt><dd class=\"posts\">{at} <dfn>Replies</dfn></dd><dd class=\"views\">1{at} <dfn>Views</dfn></dd><dd class=\"lastpost\"><span>by Karl<br>Sat Nov 21, 2026 {}:03 pm</span></dd></dl></li>", 90 + at, 9 - at))
        .collect();
    let html = format!(
        "<html lang=\"en-us\"><body><div class=\"forabg\"><ul class=\"topiclist forums\">{boards}</ul></div><div class=\"forumbg\"><ul class=\"topiclist topics\">{threads}</ul></div></body></html>"
    );
    let page = read(&html, "http://x.example/viewforum.php?f=2");
    assert_eq!((page.rows.len(), page.sub_boards.len()), (9, 4), "{:?}", titles(&page));
    assert_eq!(page.sub_boards[1].id, "http://x.example/viewforum.php?f=4");
    assert_eq!((page.rows[2].replies, page.rows[2].views), (Some(2), Some(12)));
    let index = read(
        &format!("<html><body><ul class=\"topiclist forums\">{boards}</ul></body></html>"),
        "http://x.example/index.php",
    );
    assert_eq!((index.rows.len(), index.sub_boards.len()), (0, 4));
}

#[test]
fn definition_lists_and_rows_of_two_lines_are_records() {
    let list: String = (1..9)
        .map(|at| format!("<dt><a href=\"/topic/{at}-about-it\">A topic about {at}</a></dt><dd>{} replies, last 2026-11-1{at} 10:00</dd>", at * 3))
        .collect();
    let page = read(&format!("<html><body><dl>{list}</dl></body></html>"), "http://x.example/");
    assert_eq!(page.rows.len(), 8);
    assert_eq!((page.rows[4].replies, page.rows[4].title.as_str()), (Some(15), "A topic about 5"));
    assert!(page.rows.iter().all(|row| row.last.is_some()));
    let rows: String = (1..9)
        .map(|at| format!("<tr><td rowspan=2><img src=x></td><td><a href=\"view.php?id={at}\">Release number {at}</a></td></tr><tr><td>by <a href=\"user.php?id=4\">Karl</a> on 1{at}.11.2026 10:00, 1.{at} GB</td></tr>"))
        .collect();
    let page = read(&format!("<html><body><table>{rows}</table></body></html>"), "http://x.example/");
    assert_eq!(page.rows.len(), 8, "{:?}", titles(&page));
    assert_eq!(page.rows[0].author.as_deref(), Some("Karl"));
    assert!(page.rows.iter().all(|row| row.last.is_some()), "{:#?}", page.rows[0]);
}

#[test]
fn soups_of_blocks_have_rows_without_a_table() {
    let rows: String = (0..14)
        .map(|at| {
            let ad = if at % 5 == 2 { "<div class=\"ad\"><a href=\"http://ads.example/click\">Buy a seedbox</a></div>" } else { "" };
            format!(
                "<div class=\"i\"><div class=\"l\"><img src=\"/a{at}.png\"></div><div class=\"m\"><div class=\"t\"><a href=\"/d/the-name-of-thing-{at}-abc{}\">Thing {at} with a name</a></div><div class=\"s\"><span>vor {} Stunden</span> · <span>{} Kommentare</span> · <a href=\"/u/karl\">karl</a></div></div></div>{ad}",
                at * 7,
                at + 1,
                40 - at
            )
        })
        .collect();
    let html = format!("<html lang=\"de\"><body><div class=\"a\"><div class=\"b\">{rows}</div></div></body></html>");
    let page = read(&html, "http://x.example/neu");
    assert_eq!(page.rows.len(), 14, "{:?}", titles(&page));
    assert_eq!((page.sorted, page.rows[3].replies), (Sorted::NewestFirst, Some(37)));
    assert_eq!(page.rows[3].last.unwrap().at() / HOUR, (NOW - 4 * HOUR - 900) / HOUR);
}

#[test]
fn a_long_sidebar_is_not_the_board() {
    let side: String = (0..25).map(|at| format!("<li><a href=\"/threads/other-thread-{at}.{}/\">Another thread of elsewhere {at}</a> <time datetime=\"2026-11-22T09:{:02}:00Z\">now</time></li>", 500 + at, 59 - at)).collect();
    let main: String = (0..4).map(|at| format!("<div class=\"structItem\"><div class=\"title\"><a href=\"/threads/this-thread-{at}.{}/\">This thread {at}</a></div><dl><dt>Replies</dt><dd>{at}</dd></dl><time datetime=\"2026-11-1{at}T09:00:00Z\">x</time></div>", 40 + at)).collect();
    let html = format!(
        "<html><body><div class=\"p-body-main p-body-main--withSidebar\"><div class=\"p-body-content\"><div class=\"list\">{main}</div></div><div class=\"p-body-sidebar\"><ul>{side}</ul></div></div></body></html>"
    );
    let page = read(&html, "http://x.example/forums/board.7/");
    assert_eq!(page.rows.len(), 4, "{:?}", titles(&page));
}

#[test]
fn order_tells_pinned_rows_that_nothing_names() {
    let rows: String = [(1, "2026-01-05 10:00"), (2, "2025-03-01 10:00")]
        .into_iter()
        .chain((3..20).map(|at| {
            (
                at,
                ["2026-11-21 10:00", "2026-11-20 10:00", "2026-11-19 10:00", "2026-11-12 10:00"][(at as usize - 3) / 5],
            )
        }))
        .map(|(at, date)| format!("<tr><td><a href=\"t.php?id={at}\">Thread called {at}</a></td><td>{date}</td></tr>"))
        .collect();
    let page = read(&format!("<html><body><table>{rows}</table></body></html>"), "http://x.example/b.php");
    let pinned: Vec<bool> = page.rows.iter().map(|row| row.pinned == Some(Pinned::ByOrder)).collect();
    assert_eq!(&pinned[..4], [true, true, false, false]);
    assert_eq!((page.sorted, pinned.iter().filter(|pinned| **pinned).count()), (Sorted::NewestFirst, 2));
}

#[test]
fn pinned_everywhere_is_pinned_nowhere() {
    let rows: String = (0..9).map(|at| format!("<tr class=\"sticky\"><td><a href=\"t.php?id={at}\">Thread called {at}</a></td><td>2026-11-1{} 10:00</td></tr>", 9 - at)).collect();
    let page = read(&format!("<html><body><table>{rows}</table></body></html>"), "http://x.example/b.php");
    assert!(page.rows.len() == 9 && page.rows.iter().all(|row| row.pinned.is_none()));
}

#[test]
fn american_dates_are_told_from_their_list() {
    let rows: String =
        ["11/22/2026 1:03 AM", "11/21/2026 2:03 PM", "11/12/2026 2:03 PM", "11/02/2026 2:03 PM", "10/12/2026 2:03 PM"]
            .iter()
            .enumerate()
            .map(|(at, date)| {
                format!("<tr><td><a href=\"t.php?id={at}\">Thread called {at}</a></td><td>{date}</td></tr>")
            })
            .collect();
    let mut conventions = Conventions::default();
    let page = read_with(
        &format!("<html><body><table>{rows}</table></body></html>"),
        "http://x.example/",
        NOW,
        None,
        None,
        &mut conventions,
    );
    assert_eq!((conventions.order, page.sorted), (Some(Order::MonthDayYear), Sorted::NewestFirst));
    assert_eq!(told(&page.rows[0]), 1_795_309_380);
}

#[test]
fn lists_without_times_say_so() {
    let rows: String =
        (0..30).map(|at| format!("<li><a href=\"file-{at}-name.torrent\">file {at} name.torrent</a></li>")).collect();
    let page = read(&format!("<html><body><ul>{rows}</ul></body></html>"), "http://x.example/pub/");
    assert_eq!((page.rows.len(), page.times, page.sorted), (30, Times::None, Sorted::Unknown));
}

#[test]
fn an_operators_selector_overrides_the_miner() {
    let noise: String = (0..30).map(|at| format!("<li><a href=\"/news/{at}\">A piece of news of some length {at}</a> 2026-11-21 10:{at:02} 5 replies</li>")).collect();
    let html = format!(
        "<html><body><ul>{noise}</ul><section><p class=\"r\"><em>x</em> <a href=\"/u/1\">karl</a> <a class=\"go\" href=\"/t/1\">one</a> <b data-time=\"1795246760\">?</b></p></section></body></html>"
    );
    let selectors = RowSelectors::new("section p.r", Some("a.go"), Some("b")).unwrap();
    let page = read_with(&html, "http://x.example/", NOW, None, Some(&selectors), &mut Conventions::default());
    assert_eq!(page.rows.len(), 1);
    assert_eq!((page.rows[0].url.as_str(), page.rows[0].last.unwrap().at()), ("http://x.example/t/1", 1_795_246_760));
    let fault = RowSelectors::new("p[", None, None).unwrap_err();
    assert!(fault.to_string().contains("`p[`"), "{fault}");
    let nothing = RowSelectors::new(".none", None, None).unwrap();
    assert!(
        read_with(&html, "http://x.example/", NOW, None, Some(&nothing), &mut Conventions::default()).rows.is_empty()
    );
}

#[test]
fn a_board_of_one_row_is_found_by_its_layout() {
    let page = |rows: usize| {
        let rows: String = (0..rows).map(|at| format!("<tr><td><a href=\"showthread.php?tid={}\">Thread called {at}</a></td><td>2026-11-1{} 10:00</td></tr>", 70 + at, 9 - at)).collect();
        format!("<html><body><table>{rows}</table></body></html>")
    };
    let full = read(&page(8), "http://x.example/forumdisplay.php?fid=1");
    assert_eq!(full.rows.len(), 8);
    let last = read_with(
        &page(1),
        "http://x.example/forumdisplay.php?fid=1&page=2",
        NOW,
        full.layout.as_ref(),
        None,
        &mut Conventions::default(),
    );
    assert_eq!(titles(&last), ["Thread called 0"]);
}
