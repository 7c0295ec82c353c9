//! Unit tests of `reader::explore::turns`.

use super::*;

#[test]
fn a_turn_says_so_and_nothing_else() {
    for text in [
        "Next",
        "next page »",
        "Load 20 more",
        "Show more results",
        "Older posts",
        "Nächste Seite",
        "Mehr laden",
        "Page suivante",
        "Cargar más",
        "Следующая",
        "Показать ещё 50",
        "下一页",
        "加载更多",
        "次のページ",
        "더 보기",
        "التالي",
        "Daha fazla göster",
        "❯",
    ] {
        assert!(says_turn(text, false), "{text}");
    }
    for text in [
        "Exchange →",
        "Claim daily bonus »",
        "Spin the wheel ›",
        "签到 →",
        "兑换更多魔力",
        "Следить за темой",
        "Weiterempfehlen",
        "Weiter",
        "Forward to a friend",
        "Plus 1",
        "+1",
        "Get more invites",
        "Одобрить ещё",
        "Redeem",
        "Hit and run pardon",
        "Jackass Forward 2022",
        "→",
        "",
    ] {
        assert!(!says_turn(text, false), "{text}");
    }
    assert!(says_turn("›", true) && says_turn("Weiter", true) && !says_turn("Donate more", true));
}

#[test]
fn names_have_parts() {
    assert_eq!(parts_of("MuiPagination-ul v-pager__x"), ["mui", "pagination", "ul", "v", "pager", "", "x"]);
    for (name, expected) in [
        ("MuiPagination-ul", true),
        ("dataTables_paginate", true),
        ("page-item", true),
        ("page-numbers", true),
        ("wp-pagenavi", true),
        ("pages", true),
        ("pageRating", false),
        ("homepage-item", false),
        ("my-pages-vote", false),
        ("user-pages", false),
        ("pageRoot", false),
    ] {
        assert_eq!(names_pager(&parts_of(name)), expected, "{name}");
    }
}
