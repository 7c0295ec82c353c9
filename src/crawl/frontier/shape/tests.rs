//! Table of shapes: paths as real software writes them.

use proptest::prelude::*;

use super::*;

const TABLE: &[(&str, &str)] = &[
    // torrent sites
    ("/", "/"),
    ("", ""),
    ("/torrent/12345", "/torrent/{n}"),
    ("/torrent/2001", "/torrent/{n}"),
    ("/torrent/12345/Ubuntu-24.04-desktop-amd64", "/torrent/{n}/{s}"),
    ("/torrent/12345/debian/", "/torrent/{n}/{s}/"),
    ("/torrent/12345/some-very-long-title.html", "/torrent/{n}/{s}.html"),
    ("/torrent-12345-debian-12-netinst.html", "/{s}.html"),
    ("/details.php?id=77", "/details.php?id={n}"),
    ("/details.php?id=77&hit=1", "/details.php?hit={n}&id={n}"),
    ("/download.php?id=77&f=Some.Name.torrent", "/download.php?f={w}&id={n}"),
    ("/download/12345.torrent", "/download/{n}.torrent"),
    ("/download/12345/Some_Name-x264.torrent", "/download/{n}/{s}.torrent"),
    ("/view/1234567", "/view/{n}"),
    ("/?page=2", "/?page={n}"),
    ("/?f=0&c=1_2&q=linux&p=3", "/?c={w}&f={n}&p={n}&q={w}"),
    ("/index.php?page=torrents&active=1&order=3", "/index.php?active={n}&order={n}&page=torrents"),
    (
        "/index.php?page=torrent-details&id=0123456789abcdef0123456789abcdef01234567",
        "/index.php?id={h}&page=torrent-details",
    ),
    ("/torrents.php?id=5&torrentid=99", "/torrents.php?id={n}&torrentid={n}"),
    ("/torrents.php?filter_cat[1]=1&filter_cat[2]=1", "/torrents.php?filter_cat[{n}]={n}&filter_cat[{n}]={n}"),
    ("/0123456789ABCDEF0123456789ABCDEF01234567.torrent", "/{h}.torrent"),
    ("/hash/MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43U", "/hash/{x}"),
    ("/item/dQw4w9WgXcQ", "/item/{x}"),
    ("/t/123e4567-e89b-12d3-a456-426614174000", "/t/{x}"),
    ("/search/linux/0/99/200", "/search/linux/{n}/{n}/{n}"),
    ("/browse/200/3/7/0", "/browse/{n}/{n}/{n}/{n}"),
    ("/category/movies-hd/2/", "/category/movies-hd/{n}/"),
    ("/s/?q=%D6%D0%CE%C4&page=2", "/s/?page={n}&q={w}"),
    ("/tag/%E4%B8%AD%E6%96%87", "/tag/{s}"),
    ("/user/Some_One", "/user/Some_One"),
    // phpBB, vBulletin, SMF, MyBB, XenForo, IPB
    ("/viewforum.php?f=2&start=50", "/viewforum.php?f={n}&start={n}"),
    ("/viewtopic.php?f=2&t=99&p=1234", "/viewtopic.php?f={n}&p={n}&t={n}"),
    ("/viewtopic.php?t=99&sid=0123456789abcdef0123456789abcdef", "/viewtopic.php?sid={h}&t={n}"),
    ("/linux-t1234.html", "/linux-t{n}.html"),
    ("/forumdisplay.php?fid=3&page=4", "/forumdisplay.php?fid={n}&page={n}"),
    ("/showthread.php?t=1234&page=2", "/showthread.php?page={n}&t={n}"),
    ("/showthread.php/1234-some-title", "/showthread.php/{n}-{s}"),
    ("/threads/1234-linux", "/threads/{n}-{s}"),
    ("/threads/linux.1234/page-2", "/threads/{s}.{n}/page-{n}"),
    ("/forums/iso-images.12/", "/forums/{s}.{n}/"),
    ("/index.php?topic=12.0", "/index.php?topic={w}"),
    ("/index.php?/topic/12-linux/", "/index.php?/topic/{n}-linux/"),
    ("/topic/1234-linux/?do=findComment&comment=9", "/topic/{n}-{s}/?comment={n}&do=findComment"),
    ("/index.php?showtopic=12&st=20", "/index.php?showtopic={n}&st={n}"),
    ("/member.php?action=profile&uid=12", "/member.php?action=profile&uid={n}"),
    // Discuz
    ("/forum-2-1.html", "/forum-{n}-{n}.html"),
    ("/thread-123-1-1.html", "/thread-{n}-{n}-{n}.html"),
    ("/forum.php?mod=forumdisplay&fid=2&page=3", "/forum.php?fid={n}&mod=forumdisplay&page={n}"),
    ("/forum.php?mod=viewthread&tid=123&extra=page%3D1", "/forum.php?extra={w}&mod=viewthread&tid={n}"),
    ("/forum.php?mod=attachment&aid=MTIzfGFiY2RlZjEyfDE3", "/forum.php?aid={x}&mod=attachment"),
    ("/attachment.php?aid=12&k=0a1b2c3d4e5f60718293a4b5c6d7e8f9&t=1700000000", "/attachment.php?aid={n}&k={h}&t={n}"),
    ("/space-uid-12.html", "/space-uid-{n}.html"),
    // directory listings
    ("/pub/linux/", "/pub/linux/"),
    ("/pub/ubuntu-24.04/", "/pub/{s}.{n}/"),
    ("/pub/debian-12.5.0-amd64-netinst.iso.torrent", "/pub/{s}.torrent"),
    ("/pub/?C=M;O=A", "/pub/?C={w}"),
    ("/pub/a%20b/", "/pub/{s}/"),
    // calendars
    ("/2024/05/12/", "/{y}/{m}/{d}/"),
    ("/2024/5/", "/{y}/{m}/"),
    ("/2024/05/some-post-title/", "/{y}/{m}/some-post-title/"),
    ("/archive/2024-05-12", "/archive/{date}"),
    ("/archive/20240512.html", "/archive/{date}.html"),
    ("/calendar?month=2026-11", "/calendar?month={date}"),
    ("/calendar.php?month=5&year=2024", "/calendar.php?month={n}&year={n}"),
    ("/id/20249912", "/id/{n}"),
    // faceted search
    ("/browse?sort=size&cat=7&dead=1", "/browse?cat={n}&dead={n}&sort={w}"),
    ("/browse?tag[]=a&tag[]=b&x", "/browse?tag[]={w}&x"),
    ("/browse?b&a", "/browse?a&b"),
    // session ids
    ("/(S(lit3py55t21z5v55vlm25s55))/orders.aspx", "/(S({x}))/orders.aspx"),
    ("/sid-0123456789abcdef0123456789abcdef/list", "/sid-{h}/list"),
    ("/s/aZ3kQ9xT0pLm/list/", "/s/{x}/{s}/"),
    ("/view;jsessionid=0A1B2C3D4E5F60718293A4B5C6D7E8F9", "/{s}"),
    // not a valid URL
    ("no/slash", "no/slash"),
    ("/a//b///", "/a//b///"),
    ("/?&&&", "/"),
    ("/?=&=1", "/?="),
];

#[test]
fn shapes_of_real_software_are_as_the_table_says() {
    assert!(TABLE.len() >= 60);
    let wrong: Vec<String> = TABLE
        .iter()
        .filter_map(|(path, expected)| {
            let shape = Shape::of(path);
            (shape.as_str() != *expected).then(|| format!("{path}: {shape}, not {expected}"))
        })
        .collect();
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn calendars_are_told_from_posts_and_identifiers() {
    for path in [
        "/2024/05/",
        "/2024/05/12/",
        "/archive/2024-05-12",
        "/calendar?month=2026-11",
        "/calendar.php?month=5&year=2024",
        "/events?date=2024-05-01&view=list",
        "/news/20240512.html",
        "/c?day=3",
    ] {
        assert!(Shape::of(path).is_calendar(), "{path}");
    }
    for path in [
        "/2024/05/some-post-title/",
        "/2024/05/12/1234",
        "/torrent/2001",
        "/browse?year=1999",
        "/torrent/20249912",
        "/thread-2024-1-1.html",
    ] {
        assert!(!Shape::of(path).is_calendar(), "{path}");
    }
}

#[test]
fn templates_leave_the_query_out_and_skeletons_the_words() {
    let shape = Shape::of("/pub/linux/isos/x/y/z?a=1&b=2");
    assert_eq!((shape.template(), shape.parameters()), ("/pub/linux/isos/x/y/z", 2));
    assert_eq!(shape.skeleton(), "/{w}/{w}/{w}/{w}/**");
    assert_eq!(Shape::of("/word/other.html").skeleton(), "/{w}/{w}.html");
    assert_eq!(Shape::of("/thread-1-2-3.html").skeleton(), "/thread-{n}-{n}-{n}.html");
}

#[test]
fn a_shape_is_bounded_whatever_the_url() {
    for path in ["/a".repeat(3_000), format!("/?{}", "a=1&b2=x&".repeat(900)), format!("/?{}", "é".repeat(2_000))] {
        let shape = Shape::of(&path);
        assert!(shape.as_str().len() <= SHAPE_BYTES_MAX + CUT_OFF.len_utf8(), "{shape}");
    }
    let many: String = (0..300).map(|n| format!("p{}=1&", "x".repeat(n % 3 + 1))).collect();
    assert!(Shape::of(&format!("/?{many}")).parameters() > 200);
}

proptest! {
    #[test]
    fn no_text_panics_or_passes_the_cap(text in "\\PC{0,300}") {
        let shape = Shape::of(&text);
        prop_assert!(shape.as_str().len() <= SHAPE_BYTES_MAX + CUT_OFF.len_utf8());
        prop_assert!(shape.as_str().starts_with(shape.template()));
        let _ = shape.skeleton();
    }

    #[test]
    fn numbers_do_not_change_the_shape(a in 0_u32..3_000_000, b in 0_u32..3_000_000) {
        // Eight digits may be a date, which is another shape.
        prop_assert_eq!(Shape::of(&format!("/t/{a}?p={a}")), Shape::of(&format!("/t/{b}?p={b}")));
    }

    #[test]
    fn the_order_of_parameters_does_not_change_the_shape(order in Just(vec!["a=1", "b=x", "c", "d=2024-01-01"]).prop_shuffle()) {
        prop_assert_eq!(Shape::of(&format!("/?{}", order.join("&"))), Shape::of("/?a=1&b=x&c&d=2024-01-01"));
    }
}
