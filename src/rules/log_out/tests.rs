//! Unit tests of `log_out`.

use super::*;

#[test]
fn the_log_out_links_of_all_software_are_refused() {
    for reference in [
        // phpBB 3 and 2
        "./ucp.php?mode=logout&sid=0a1b2c3d4e5f",
        "login.php?logout=true&sid=0a1b2c",
        // MyBB
        "member.php?action=logout&logoutkey=0a1b2c",
        "member.php?action=logout&amp;logoutkey=0a1b2c",
        // SMF
        "https://h.example/index.php?action=logout;f00ba4=0a1b2c",
        "index.php?action=logout;sesc=0a1b2c",
        // vBulletin 3, 4, 5
        "login.php?do=logout&logouthash=1795000000-0a1b",
        "login.php?s=0a1b2c&do=logout&u=7",
        "/auth/logout?logouthash=1795000000-0a1b",
        "login.php?logouthash=1795000000-0a1b",
        // Discuz! X, 7, and as a static page
        "member.php?mod=logging&action=logout&formhash=0a1b2c3d",
        "logging.php?action=logout&formhash=0a1b2c3d",
        "logging-logout.php?action=logout",
        // XenForo 1, 2, without friendly URLs
        "/logout/?_xfToken=7%2C1795000000%2C0a1b",
        "/logout/?t=1795000000%2C0a1b",
        "index.php?logout/&t=1795000000%2C0a1b",
        "index.php?logout/&_xfToken=7,1795000000",
        // NexusPHP, Gazelle, UNIT3D, TorrentPier, XBTIT
        "logout.php",
        "logout.php?key=0a1b2c",
        "/logout.php?auth=0a1b2c3d",
        "https://h.example/logout",
        "/login.php?logout=1",
        "./login.php?logout=1&sid=",
        "logout.php?xbt",
        "index.php?page=logout",
        // Others: Invision, Drupal, Yii, Joomla, MediaWiki, WordPress, Rails, Java, Vanilla
        "index.php?app=core&module=global&section=login&do=logout&k=0a1b",
        "index.php?/logout/&csrfKey=0a1b",
        "/?q=user/logout",
        "index.php?r=site%2Flogout",
        "index.php?option=com_users&task=user.logout&0a1b=1",
        "/wiki/Special:UserLogout",
        "wp-login.php?action=logout&_wpnonce=0a1b",
        "/users/sign_out",
        "/user/sign-out/17",
        "/logout;jsessionid=0A1B",
        "/entry/signout/0a1b2c3d4e",
        "/%6Cogout",
        "//h.example/Account/LogOff",
        "/LOGOUT.ASPX#top",
        "javascript:logout()",
        "?logout",
    ] {
        assert!(ends_session(reference), "{reference}");
    }
}

#[test]
fn what_only_speaks_of_it_is_followed() {
    for reference in [
        "/viewtopic.php?t=logout",
        "/viewforum.php?f=2&title=logout",
        "/login?redirect=/logout",
        "/login.php?returnto=logout.php",
        "ucp.php?mode=login&redirect=.%2Fucp.php%3Fmode%3Dlogout",
        "/search?q=logout",
        "search.php?keywords=logout&mode=search",
        "/torrents?name=signout",
        "/blogout",
        "/login",
        "/signout-design",
        "/t/how-to-logout-of-windows",
        "/threads/logout.123/",
        "index.php?threads/logout.123/",
        "/logout/problems",
        "/logout-2/page-3",
        "/download/logout.torrent",
        "download.php?id=7&name=Logout.2012.torrent",
        "/style/logout.css",
        "/about#logout",
        "https://logout.example/",
        "https://logout.example",
        "//logout.example/list",
        "login.php?logout=0",
        "?action=logouts",
        "member.php?mod=logging&action=login",
        "",
        "?",
        "/",
    ] {
        assert!(!ends_session(reference), "{reference}");
    }
}
