//! Unit tests of `acting`.

use super::*;

/// The links of forum and tracker software that act, and by what they are known.
#[test]
fn what_acts_in_an_accounts_name_is_refused() {
    use ActSign::{Action, Parameter, Path, Token};
    let found = [
        // Words of several kinds
        ("/notifications/mark-all-as-read", Path),
        ("/forums/mark-all-read", Path),
        ("/t/5/remove-from-favorites", Path),
        ("/index.php?action=mark_all_as_read", Action),
        ("/watch/12345", Path),
        ("/thread/5/close", Path),
        ("/thread/5/pin", Path),
        ("/thread/5/move-to-trash", Path),
        ("/thread/5/toggle-watch", Path),
        ("/post/5/soft-delete", Path),
        ("/account/deactivate", Path),
        ("/reset-passkey", Path),
        ("/store/buy/5", Path),
        ("/leave-group/5", Path),
        ("/clear-notifications", Path),
        ("/forums/mark-as-read", Path),
        ("/ajax.php?action=reseed&id=5", Action),
        // phpBB
        ("/viewtopic.php?uid=2&f=3&t=17&watch=topic&start=0&hash=0a1b2c3d", Parameter),
        ("/viewtopic.php?uid=2&f=3&t=17&unwatch=topic&start=0&hash=0a1b2c3d", Parameter),
        ("/viewtopic.php?t=17&bookmark=1&hash=0a1b2c3d", Parameter),
        ("/viewforum.php?hash=0a1b2c3d&f=2&mark=topics&mark_time=1795000000", Parameter),
        ("/index.php?hash=0a1b2c3d&mark=forums&mark_time=1795000000", Parameter),
        ("/index.php?mark_notification=5&hash=0a1b2c3d", Parameter),
        ("/index.php?close_notice=7&hash=0a1b2c3d", Token),
        ("/app.php/post/5/report", Path),
        ("/app.php/user/delete_cookies", Path),
        ("/posting.php?mode=quote&p=5", Path),
        ("/ucp.php?i=pm&mode=compose&action=quotepost&p=5", Action),
        ("/ucp.php?i=zebra&add=anna", Parameter),
        // MyBB
        ("/usercp.php?action=addsubscription&tid=5&my_post_key=0a1b2c3d4e5f", Action),
        ("/usercp2.php?action=do_addsubscription&tid=5", Action),
        ("/ratethread.php?tid=5&rating=4&my_post_key=0a1b2c3d4e5f", Path),
        ("/misc.php?action=markread&fid=2", Action),
        ("/misc.php?action=clearcookies&my_post_key=0a1b2c3d4e5f", Action),
        ("/member.php?action=emailuser&uid=3", Action),
        ("/private.php?action=send&uid=3", Action),
        ("/reputation.php?action=add&uid=3", Action),
        ("/newreply.php?tid=5", Path),
        ("/newthread.php?fid=2", Path),
        ("/editpost.php?pid=8", Path),
        ("/report.php?type=post&pid=8", Path),
        ("/showthread.php?tid=5&my_post_key=0a1b2c3d4e5f", Token),
        // SMF: `;` separates, and tokens have random names
        ("/index.php?action=notifytopic;topic=17;mode=3;b5effd7a0=94689e", Action),
        ("/index.php?action=notify;sa=on;topic=17.0", Action),
        ("/index.php?action=markasread;sa=all;b5effd7a0=94689e", Action),
        ("/index.php?action=post;topic=17.0", Action),
        ("/index.php?action=post2;start=0", Action),
        ("/index.php?action=quotefast;quote=5;sesc=0a1b2c3d4e5f", Action),
        ("/index.php?action=reporttm;topic=17.0;msg=80", Action),
        ("/index.php?action=buddy;u=2;b5effd7a0=94689e", Action),
        ("/index.php?action=pm;sa=send;u=2", Action),
        ("/index.php?action=theme;sa=pick;u=2;theme=1;b5effd7a0=94689e", Action),
        ("/index.php?action=likes;ltype=msg;sa=like;like=80", Action),
        ("/index.php?action=profile;area=deleteaccount;u=2", Action),
        ("/index.php?action=collapse;c=1;sesc=0a1b2c3d4e5f", Token),
        // TorrentPier
        ("/viewtopic.php?t=17&watch=topic&start=0&sid=bLNWZIGLIrcnNpkBBNdu", Parameter),
        ("/viewforum.php?f=2&mark=topics", Parameter),
        ("/privmsg.php?mode=post&u=3", Action),
        // NexusPHP
        ("/comment.php?action=add&pid=17&type=torrent", Path),
        ("/report.php?torrent=17", Path),
        ("/thanks.php?id=17", Path),
        ("/bookmark.php?torrentid=17", Path),
        ("/friends.php?action=add&type=friend&targetid=3", Action),
        ("/forums.php?catchup=1", Parameter),
        ("/offers.php?id=3&vote=yeah", Parameter),
        ("/takeflush.php?id=3", Path),
        ("/attendance.php", Path),
        ("/fastdelete.php?id=17", Path),
        ("/messages.php?action=deletemessage&id=7", Action),
        ("/mybonus.php?action=exchange", Action),
        // XBTIT
        ("/index.php?page=comment&id=6924995bf38d9b9378a202a1336e4c0968e45106&usern=anna", Action),
        ("/index.php?page=forum&action=deletepost&postid=3", Action),
        ("/index.php?page=reports&id=3", Action),
        // Discuz!
        ("/forum.php?mod=post&action=newthread&fid=2", Action),
        ("/forum.php?mod=misc&action=rate&tid=10&pid=20", Action),
        ("/misc.php?mod=report&rtype=post&rid=20", Action),
        ("/home.php?mod=spacecp&ac=favorite&type=thread&id=10&formhash=0a1b2c3d", Action),
        ("/home.php?mod=spacecp&ac=friend&op=add&uid=3", Action),
        ("/home.php?mod=spacecp&ac=poke&op=send&uid=3", Action),
        ("/forum.php?mod=misc&action=recommend&do=add&tid=10&hash=0a1b2c3d", Action),
        ("/member.php?mod=clearcookies&formhash=0a1b2c3d", Action),
        ("/forum.php?mod=viewthread&tid=10&formhash=0a1b2c3d", Token),
        // vBulletin
        ("/subscription.php?do=addsubscription&t=5", Path),
        ("/forumdisplay.php?do=markread&markreadhash=0a1b2c3d", Action),
        ("/post_thanks.php?do=post_thanks_add&p=80&securitytoken=0a1b2c", Path),
        ("/profile.php?do=addlist&userlist=buddy&u=3", Action),
        ("/private.php?do=newpm&u=3", Action),
        // XenForo
        ("/threads/some-title.17/watch", Path),
        ("/forums/torrents.2/mark-read?date=1795000000", Path),
        ("/forums/torrents.2/post-thread", Path),
        ("/posts/80/react?reaction_id=1", Path),
        ("/posts/80/bookmark", Path),
        ("/members/anna.3/follow", Path),
        ("/index.php?threads/some-title.17/watch", Parameter),
        ("/misc/style?style_id=3&_xfToken=7%2C1795000000%2C0a1b", Token),
        // Gazelle
        ("/bookmarks.php?action=add&type=torrent&auth=00ff00ff&id=17", Path),
        ("/userhistory.php?action=thread_subscribe&topicid=5&auth=00ff00ff", Action),
        ("/torrents.php?action=download&id=18&authkey=00ff&torrent_pass=11ee&usetoken=1", Parameter),
        ("/torrents.php?action=delete&torrentid=18", Action),
        ("/forums.php?action=catchup&forumid=all&auth=00ff00ff", Action),
        // UNIT3D, Joomla, routes, encodings, spellings
        ("/torrents/17/thank", Path),
        ("/torrents/17/comment_thanks/25", Path),
        ("/report/post/5", Path),
        ("/vote/up/17", Path),
        ("/index.php?option=com_users&task=item.delete&id=3", Action),
        ("/?q=node/5/delete", Action),
        ("/index.php?r=torrent%2Fdelete&id=3", Action),
        ("/index.php?%61ction=%64elete&id=3", Action),
        ("/index.php?action%3Ddelete", Action),
        ("/index.php?act=markAllRead", Action),
        ("/index.php?id=3&delete", Parameter),
        ("/poll.php?vote_id[]=3", Parameter),
    ];
    let wrong: Vec<_> = found
        .iter()
        .map(|(url, sign)| (url, acts(url, None), sign))
        .filter(|(_, is, due)| *is != Some(**due))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_read_is_followed() {
    let read = [
        "/",
        "/index.php",
        "/viewforum.php?f=2&start=50",
        "/viewtopic.php?f=2&t=17&start=20",
        "/viewtopic.php?p=99",
        "/viewtopic.php?t=17&view=print",
        "/download/file.php?id=9",
        "/app.php/feed/topic/17",
        "/app.php/help/faq",
        "/memberlist.php?mode=viewprofile&u=2",
        "/search.php?st=0&sk=t&sd=d&sr=topics&search_id=newposts&start=25",
        "/showthread.php?tid=5&page=2",
        "/forumdisplay.php?fid=2&page=2&datecut=9999&prefix=0&sortby=lastpost&order=desc",
        "/showthread.php?tid=5&action=lastpost",
        "/showthread.php?tid=5&action=newpost",
        "/forum.php?mod=rss&fid=2&auth=0a1b2c3d4e5f",
        "/home.php?mod=space&do=thread&view=me&type=reply",
        "/misc.php?action=whoposted&tid=5&sort=username",
        "/attachment.php?aid=21",
        "/index.php?board=2.0;sort=last_post;desc",
        "/index.php?topic=17.msg80",
        "/index.php?action=dlattach;topic=17.0;attach=9",
        "/index.php?action=dlattach;attach=9",
        "/index.php?action=unreadreplies",
        "/index.php?action=profile;area=showposts;sa=topics;u=2",
        "/tracker.php?search_id=FDNnYNhIuoPN&start=50",
        "/viewtopic.php?t=17&dl=names&spmode=full",
        "/torrents.php?inclbookmarked=0&incldead=1&spstate=0&page=2&sort=4&type=desc",
        "/torrents.php?inclbookmarked=1",
        "/details.php?id=17&hit=1&uploaded=1",
        "/download.php?id=17&letdown=1",
        "/downloadnotice.php?torrentid=17&type=firsttime",
        "/viewsnatches.php?id=17",
        "/forums.php?action=viewtopic&forumid=3&topicid=7",
        "/index.php?page=torrents&active=0&order=3&by=2&pages=2",
        "/index.php?page=torrent-details&id=6924995bf38d9b9378a202a1336e4c0968e45106",
        "/details.php?hash=6924995bf38d9b9378a202a1336e4c0968e45106",
        "/download.php?id=6924995bf38d9b9378a202a1336e4c0968e45106&f=delete%20me.torrent",
        "/forum.php?mod=viewthread&tid=10&extra=page%3D1",
        "/forum.php?mod=attachment&aid=MTF8ZjA2YzZhYnwxNzk1MjQ1MTU3fDJ8MTA%3D",
        "/thread-10-1-1.html",
        "/showthread.php?5-Report-on-something",
        "/threads/how-to-delete-files.17/",
        "/threads/vote.17/page-2",
        "/attachments/report.9/",
        "/torrents.php?action=download&id=18&authkey=00ff00ff&torrent_pass=11ee11ee",
        "/torrents/download/17.0a1b2c3d4e5f",
        "/rss.php?passkey=0a1b2c3d4e5f6a7b",
        "/index.php?action=movies&section=editions&type=banners",
        "/index.php?page=address&view=market",
        "/index.php?p=how-to-vote-for-a-torrent-here",
        "/tag/delete-this-film-now",
        "/files/thanks.torrent",
        "/torrents/2026-report-on-everything",
        "/browse?q=delete&search=vote",
        "/browse?order=rate&by=asc",
        "/browse?delete=0&vote=no&mark=",
        "/post.php?id=17",
        "/post/17",
        "/posts/17",
        "/browse?page=post&id=17",
        "/login?redirect=/posts/80/report",
    ];
    let wrong: Vec<_> = read.iter().map(|url| (url, acts(url, None))).filter(|(_, is)| is.is_some()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_token_of_a_download_is_the_accounts_own_and_its_action_is_still_judged() {
    for (url, is_download, sign) in [
        ("/get/17?token=0a1b2c3d4e5f", true, None),
        ("/get/17?token=0a1b2c3d4e5f", false, Some(ActSign::Token)),
        ("/download.php?id=17&csrf=0a1b2c3d4e5f", false, None),
        ("/forum.php?mod=attachment&aid=7&formhash=0a1b2c3d", false, None),
        ("/get/17?token=0a1b2c3d4e5f&action=delete", true, Some(ActSign::Action)),
        ("/download/17/report", true, Some(ActSign::Path)),
        ("/get/17?token=0", false, None),
    ] {
        assert_eq!(acts(url, is_download.then_some(Class::Download)), sign, "{url}");
    }
}

#[test]
fn rules_refuse_actions_where_the_site_has_an_account_and_the_operator_has_not_allowed_them() {
    let verdict = |more: &str, url: &str| {
        let text = format!("start = ['http://site.example/']\nclasses.page = ['.']\n{more}\n");
        let rules = crate::from_text("site", &text).unwrap();
        let url = gleaner_base::url::CrawlUrl::parse(&format!("http://site.example{url}"), &rules.canonical).unwrap();
        let forbidden = rules.forbids(&url).map(crate::Refusal::name);
        match rules.judge(&url) {
            crate::Verdict::Take { .. } => {
                assert_eq!(forbidden, None);
                "taken"
            }
            crate::Verdict::Refuse { reason } => {
                assert_eq!(forbidden, Some(reason.name()));
                reason.name()
            }
        }
    };
    const LOGIN: &str = "login = { user = 'anna', probe = 'profile.php?mode=editprofile', page = 'login.php' }";
    let allows = |urls: &str| format!("allow_actions = {{ urls = [{urls}], reason = 'a list' }}\n{LOGIN}");
    assert_eq!(verdict(LOGIN, "/t/17/thank"), "acts_for_account");
    assert_eq!(verdict("", "/t/17/thank"), "taken", "a guest");
    assert_eq!(verdict(&allows("'/thank$'"), "/t/17/thank"), "taken");
    assert_eq!(verdict(&allows("'/thank$'"), "/t/17/vote"), "acts_for_account");
    assert_eq!(verdict(LOGIN, "/profile.php?mode=editprofile"), "taken", "the probe");
    assert_eq!(verdict(LOGIN, "/profile.php?mode=editsignature"), "acts_for_account");
    assert_eq!(verdict(&format!("deny = ['/thank']\n{LOGIN}"), "/t/17/thank"), "denied");
    assert_eq!(verdict(LOGIN, "/logout"), "ends_session");
}

#[test]
fn actions_are_allowed_with_a_reason_alone() {
    let faults = |allowed: &str| {
        let text = format!("start = ['http://site.example/']\nclasses.page = ['.']\nallow_actions = {allowed}\n");
        let faults = crate::from_text("site", &text).err().unwrap_or_default();
        faults.into_iter().map(|fault| format!("{}: {}", fault.key, fault.message)).collect::<Vec<_>>()
    };
    assert!(faults("{ urls = ['/new-reports'], reason = 'a list' }").is_empty());
    let [lacks] = &faults("{ urls = ['/new-reports'] }")[..] else { panic!("one fault") };
    assert!(lacks.starts_with("allow_actions.reason: "), "{lacks}");
    let [bad] = &faults("{ urls = ['('], reason = 'a list' }")[..] else { panic!("one fault") };
    assert!(bad.starts_with("allow_actions.urls[0]: bad regular expression"), "{bad}");
}

#[test]
fn what_differs_in_what_it_does_is_another_action() {
    assert_eq!(action_of("/index.php?action=buddy;u=2"), action_of("/index.php?action=buddy;u=3"));
    assert_ne!(action_of("/index.php?action=buddy;u=2"), action_of("/index.php?action=logout;u=2"));
    assert_ne!(action_of("/a.php?t=2"), action_of("/b.php?t=2"));
}

#[test]
fn a_word_behind_which_a_thing_is_named_is_its_page_where_a_rule_says_so() {
    for page in ["/watch/12345", "/save/17"] {
        assert_eq!(acts(page, Some(Class::Detail)), None, "{page}");
        assert_eq!(acts(page, Some(Class::Page)), Some(ActSign::Path), "{page}");
    }
    assert_eq!(acts("/report/17", Some(Class::Detail)), Some(ActSign::Path));
    assert_eq!(acts("/torrent/5/close", Some(Class::Detail)), None, "a title");
    // Titles.
    for title in [
        "/t/vote-for-the-best-of-us",
        "/t/mark-of-the-ninja",
        "/t/how-to-delete-what-you-read-online-and-more",
        "/archive",
        "/t/5/move-over-darling",
        "/t/5/close-encounters",
    ] {
        assert_eq!(acts(title, Some(Class::Page)), None, "{title}");
    }
}
