//! Forums whose threads contain torrents as attachments.

use super::family::Denied::{NoFiles, Open, Says};
use super::family::Sent::{Empty, Mark, Maybe, Md5, Password, SaltedSha1, Sid, Text, Time, Token, User};
use super::family::{Addresses, After, Family, Say};

const UTF_8: &str = "text/html; charset=UTF-8";

pub(super) const FORUMS: &[Family] = &[PHPBB, DISCUZ, DISCUZ_GBK, MYBB, VBULLETIN, SMF, XENFORO];

const PHPBB: Family = Family {
    name: "phpbb",
    rules: "phpbb",
    user: "anna",
    content_type: UTF_8,
    at: Addresses {
        front: "/index.php",
        list: "/viewforum.php?f=2&start={offset}",
        list_first: "/viewforum.php?f=2",
        detail: "/viewtopic.php?f=2&t={id}",
        file: "/download/file.php?id={attach}",
        account: "/ucp.php?i=ucp_main&mode=front",
        login_page: "/ucp.php?mode=login",
        login_action: "/ucp.php?mode=login",
        logout: "/ucp.php?mode=logout&sid={sid}",
    },
    lists_files: false,
    categories: None,
    member_bar: "<a href=\"{logout}\" title=\"Logout [ {user} ]\" accesskey=\"x\"><i></i><span>Logout [ {user} ]</span></a>",
    guest_bar: "<a href=\"./ucp.php?mode=register\">Register</a> <a href=\"./ucp.php?mode=login\" accesskey=\"x\">Login</a>",
    form: "<form action=\"./ucp.php?mode=login\" method=\"post\" id=\"login\"><h2 class=\"login-title\">Login</h2>\
        <div class=\"error\">{message}</div><dl><dt><label for=\"username\">Username:</label></dt><dd><input type=\"text\" tabindex=\"1\" \
        name=\"username\" id=\"username\" size=\"25\" value=\"\" class=\"inputbox autowidth\"></dd></dl><dl><dt><label for=\"password\">\
        Password:</label></dt><dd><input type=\"password\" tabindex=\"2\" id=\"password\" name=\"password\" size=\"25\" \
        class=\"inputbox autowidth\" autocomplete=\"off\"></dd><dd><a href=\"./ucp.php?mode=sendpassword\">I forgot my password</a></dd></dl>\
        <dd><label for=\"autologin\"><input type=\"checkbox\" name=\"autologin\" id=\"autologin\" tabindex=\"4\"> Remember me</label></dd>\
        <dd><label for=\"viewonline\"><input type=\"checkbox\" name=\"viewonline\" id=\"viewonline\" tabindex=\"5\"> Hide my online status \
        this session</label></dd><input type=\"hidden\" name=\"redirect\" value=\"./ucp.php?mode=login\">\
        <input type=\"hidden\" name=\"creation_time\" value=\"{time}\"><input type=\"hidden\" name=\"form_token\" value=\"{token}\">\
        <input type=\"hidden\" name=\"sid\" value=\"{sid}\"><input type=\"submit\" name=\"login\" tabindex=\"6\" value=\"Login\" class=\"button1\"></form>",
    sends: &[&[
        ("username", User),
        ("password", Password),
        ("autologin", Maybe("on")),
        ("redirect", Text("./ucp.php?mode=login")),
        ("creation_time", Time),
        ("form_token", Token),
        ("sid", Sid),
        ("login", Text("Login")),
    ]],
    sid_in_links: Some("sid"),
    noise: &[],
    guest_cookies: &[
        "phpbb3_demo_u=1; path=/; HttpOnly",
        "phpbb3_demo_k=; path=/; HttpOnly",
        "phpbb3_demo_sid={sid}; path=/; HttpOnly",
    ],
    member_cookies: &[
        (0, "phpbb3_demo_u=2; expires=Sun, 21-Nov-2027 07:10:11 GMT; path=/; HttpOnly"),
        (0, "phpbb3_demo_k={mark}; expires=Sun, 21-Nov-2027 07:10:11 GMT; path=/; HttpOnly"),
        (0, "phpbb3_demo_sid={sid}; expires=Sun, 21-Nov-2027 07:10:11 GMT; path=/; HttpOnly"),
    ],
    after: After::Redirects(&["/index.php?sid={sid}"]),
    wrong: Say::With(
        200,
        "You have specified an incorrect password. Please check your password and try again. If you continue to have \
        problems please contact the Board Administrator.",
    ),
    locked: Say::With(
        200,
        "You exceeded the maximum allowed number of login attempts. In addition to your username and password you now \
        also have to solve the CAPTCHA below.",
    ),
    malformed: "The submitted form was invalid. Try submitting again.",
    denied_front: Open,
    denied_list: Says(200, "<p>The board requires you to be registered and logged in to view this forum.</p>{form}"),
    denied_detail: Says(200, "<p>The board requires you to be registered and logged in to view this forum.</p>{form}"),
    denied_file: Says(403, "<h2>Information</h2><p>You are not authorised to download this attachment.</p>"),
    notice: None,
};

/// Its setting `pwdsafety` is on: the form's script sends the password's MD5.
const DISCUZ: Family = Family {
    name: "discuz",
    rules: "discuz",
    user: "anna",
    content_type: "text/html; charset=utf-8",
    at: Addresses {
        front: "/forum.php",
        list: "/forum.php?mod=forumdisplay&fid=2&page={page}",
        list_first: "/forum.php?mod=forumdisplay&fid=2",
        detail: "/forum.php?mod=viewthread&tid={id}&extra=page%3D1",
        file: "/forum.php?mod=attachment&aid={aid}",
        account: "/home.php?mod=spacecp",
        login_page: "/member.php?mod=logging&action=login",
        login_action: "/member.php?mod=logging&action=login&loginsubmit=yes&loginhash=Lt33E",
        logout: "/member.php?mod=logging&action=logout&formhash={mark}",
    },
    lists_files: false,
    categories: None,
    member_bar: "<p><strong class=\"vwmy\"><a href=\"home.php?mod=space&amp;uid=2\">{user}</a></strong> <a href=\"home.php?mod=spacecp\">设置</a> \
        <a href=\"{logout}\">退出</a></p>",
    guest_bar: "<form method=\"post\" autocomplete=\"off\" id=\"scbar_form\" action=\"search.php?searchsubmit=yes\"><input type=\"hidden\" \
        name=\"mod\" value=\"search\" /><input type=\"text\" name=\"srchtxt\" value=\"请输入搜索内容\" /></form>\
        <a href=\"member.php?mod=register\">立即注册</a> <a href=\"member.php?mod=logging&amp;action=login\">登录</a>",
    form: "<div id=\"returnmessage_Lt33E\">{message}</div><form method=\"post\" autocomplete=\"off\" name=\"login\" id=\"loginform_Lt33E\" \
        class=\"cl\" onsubmit=\"pwmd5('password3_Lt33E');pwdclear = 1;ajaxpost('loginform_Lt33E', 'returnmessage_Lt33E', \
        'returnmessage_Lt33E', 'onerror');return false;\" action=\"member.php?mod=logging&amp;action=login&amp;loginsubmit=yes&amp;loginhash=Lt33E\">\
        <input type=\"hidden\" name=\"formhash\" value=\"{token}\" /><input type=\"hidden\" name=\"referer\" value=\"forum.php\" />\
        <select name=\"loginfield\" id=\"loginfield_Lt33E\"><option value=\"username\">用户名</option><option value=\"email\">Email</option></select>\
        <input type=\"text\" name=\"username\" id=\"username_Lt33E\" autocomplete=\"off\" size=\"30\" class=\"px p_fre\" value=\"\" />\
        <label for=\"password3_Lt33E\">密码:</label><input type=\"password\" id=\"password3_Lt33E\" name=\"password\" onfocus=\"clearpwd()\" \
        size=\"30\" class=\"px p_fre\" /><select id=\"loginquestionid_Lt33E\" width=\"213\" name=\"questionid\"><option value=\"0\">安全提问(未设置请忽略)\
        </option><option value=\"1\">母亲的名字</option></select><input type=\"text\" name=\"answer\" id=\"loginanswer_Lt33E\" autocomplete=\"off\" \
        size=\"30\" class=\"px p_fre\" /><label for=\"cookietime_Lt33E\"><input type=\"checkbox\" class=\"pc\" name=\"cookietime\" \
        id=\"cookietime_Lt33E\" value=\"2592000\"  />自动登录</label><button class=\"pn pnc\" type=\"submit\" name=\"loginsubmit\" value=\"true\">\
        <strong>登录</strong></button></form><form method=\"post\" autocomplete=\"off\" id=\"lostpwform_Lt33E\" \
        action=\"member.php?mod=lostpasswd&amp;lostpwsubmit=yes&amp;infloat=yes\"><input type=\"hidden\" name=\"formhash\" value=\"{token}\" />\
        <input type=\"text\" name=\"email\" id=\"lostpw_email\" value=\"\" /><input type=\"text\" name=\"username\" value=\"\" /></form>",
    sends: &[&[
        ("formhash", Token),
        ("referer", Text("forum.php")),
        ("loginfield", Text("username")),
        ("username", User),
        ("password", Md5),
        ("questionid", Text("0")),
        ("answer", Empty),
        ("cookietime", Maybe("2592000")),
        ("loginsubmit", Text("true")),
    ]],
    sid_in_links: None,
    noise: &[],
    guest_cookies: &[
        "Fh1a_2132_saltkey={mark}; expires=Mon, 21 Dec 2037 07:10:11 GMT; Max-Age=2592000; path=/; HttpOnly",
        "Fh1a_2132_lastvisit=1795241411; path=/",
        "Fh1a_2132_sid={sid}; Max-Age=86400; path=/",
    ],
    member_cookies: &[
        (0, "Fh1a_2132_sid={sid}; Max-Age=86400; path=/"),
        (0, "Fh1a_2132_auth={mark}; Max-Age=2592000; path=/; HttpOnly"),
    ],
    after: After::Page("<p>欢迎您回来，注册会员 {user}，现在将转入登录前页面</p>"),
    wrong: Say::With(200, "登录失败，您还可以尝试 2 次"),
    locked: Say::With(200, "密码错误次数过多，请 15 分钟后重新登录"),
    malformed: "您的请求来路不正确，无法提交。如果您安装了某种默认屏蔽来路信息的个人防火墙软件，请设置其不要禁止来路信息后再试。",
    denied_front: Open,
    denied_list: Open,
    denied_detail: NoFiles,
    denied_file: Says(
        200,
        "<p>抱歉，您所在的用户组(游客)无法下载或查看附件</p><p>您需要登录才可以下载或查看附件。没有账号？<a \
        href=\"member.php?mod=logging&amp;action=login\">请先登录</a></p>",
    ),
    notice: None,
};

/// Pages in GBK, an account with a Chinese name, a plain password.
const DISCUZ_GBK: Family = Family {
    name: "discuz-gbk",
    user: "安娜",
    content_type: "text/html; charset=gbk",
    form: "<div id=\"returnmessage_Lt33E\">{message}</div><form method=\"post\" autocomplete=\"off\" name=\"login\" id=\"loginform_Lt33E\" \
        class=\"cl\" onsubmit=\"pwdclear = 1;ajaxpost('loginform_Lt33E', 'returnmessage_Lt33E', 'returnmessage_Lt33E', 'onerror');return false;\" \
        action=\"member.php?mod=logging&amp;action=login&amp;loginsubmit=yes&amp;loginhash=Lt33E\"><input type=\"hidden\" name=\"formhash\" \
        value=\"{token}\" /><input type=\"hidden\" name=\"referer\" value=\"forum.php\" /><label>用户名</label><input type=\"text\" \
        name=\"username\" id=\"username_Lt33E\" size=\"30\" value=\"\" /><label for=\"password3_Lt33E\">密码:</label><input type=\"password\" \
        id=\"password3_Lt33E\" name=\"password\" onfocus=\"clearpwd()\" size=\"30\" /><select name=\"questionid\"><option value=\"0\">安全提问\
        </option><option value=\"1\">母亲的名字</option></select><input type=\"text\" name=\"answer\" size=\"30\" /><label><input type=\"checkbox\" \
        name=\"cookietime\" value=\"2592000\" />自动登录</label><button type=\"submit\" name=\"loginsubmit\" value=\"true\"><strong>登录</strong></button></form>",
    sends: &[&[
        ("formhash", Token),
        ("referer", Text("forum.php")),
        ("username", User),
        ("password", Password),
        ("questionid", Text("0")),
        ("answer", Empty),
        ("cookietime", Maybe("2592000")),
        ("loginsubmit", Text("true")),
    ]],
    ..DISCUZ
};

const MYBB: Family = Family {
    name: "mybb",
    rules: "mybb",
    user: "anna",
    content_type: UTF_8,
    at: Addresses {
        front: "/index.php",
        list: "/forumdisplay.php?fid=2&page={page}",
        list_first: "/forumdisplay.php?fid=2",
        detail: "/showthread.php?tid={id}",
        file: "/attachment.php?aid={attach}",
        account: "/usercp.php",
        login_page: "/member.php?action=login",
        login_action: "/member.php",
        logout: "/member.php?action=logout&logoutkey={mark}",
    },
    lists_files: false,
    categories: None,
    member_bar: "<span class=\"welcome\">Welcome back, <strong><a href=\"/member.php?action=profile&amp;uid=2\" class=\"usercp\">{user}</a></strong>. \
        You last visited: Today</span> <a href=\"{logout}\" class=\"logout\">Log Out</a>",
    guest_bar: "<span class=\"welcome\">Hello There, Guest! <a href=\"/member.php?action=login\" onclick=\"$('#quick_login').modal(); return \
        false;\" class=\"login\">Login</a> <a href=\"/member.php?action=register\" class=\"register\">Register</a></span><div class=\"modal\" \
        id=\"quick_login\" style=\"display: none;\"><form method=\"post\" action=\"/member.php\"><input name=\"action\" type=\"hidden\" \
        value=\"do_login\" /><input name=\"url\" type=\"hidden\" value=\"\" /><input name=\"quick_login\" type=\"hidden\" value=\"1\" />\
        <input name=\"my_post_key\" type=\"hidden\" value=\"{token}\" /><table><tr><td>Username:</td><td><input name=\"quick_username\" \
        id=\"quick_login_username\" type=\"text\" value=\"\" class=\"textbox initial_focus\" /></td></tr><tr><td>Password:</td><td><input \
        name=\"quick_password\" id=\"quick_login_password\" type=\"password\" value=\"\" class=\"textbox\" /></td></tr><tr><td><input \
        name=\"quick_remember\" id=\"quick_login_remember\" type=\"checkbox\" value=\"yes\" class=\"checkbox\" checked=\"checked\" /> Remember me</td>\
        </tr></table><input name=\"submit\" type=\"submit\" class=\"button\" value=\"Login\" /></form></div>",
    form: "<div class=\"error\">{message}</div><form action=\"member.php\" method=\"post\"><table class=\"tborder\"><tr><td class=\"thead\"><strong>\
        Login</strong></td></tr><tr><td><strong>Username:</strong></td><td><input type=\"text\" class=\"textbox\" name=\"username\" size=\"25\" \
        style=\"width: 200px;\" value=\"\" /></td></tr><tr><td><strong>Password:</strong></td><td><input type=\"password\" class=\"textbox\" \
        name=\"password\" size=\"25\" style=\"width: 200px;\" value=\"\" /></td></tr><tr><td><label><input type=\"checkbox\" class=\"checkbox\" \
        name=\"remember\" checked=\"checked\" value=\"yes\" /> Remember?</label></td></tr></table><input type=\"submit\" class=\"button\" \
        name=\"submit\" value=\"Login\" /><input type=\"hidden\" name=\"action\" value=\"do_login\" /><input type=\"hidden\" name=\"url\" \
        value=\"\" /><input name=\"my_post_key\" type=\"hidden\" value=\"{token}\" /></form>",
    sends: &[
        &[
            ("username", User),
            ("password", Password),
            ("remember", Maybe("yes")),
            ("submit", Text("Login")),
            ("action", Text("do_login")),
            ("url", Empty),
            ("my_post_key", Token),
        ],
        &[
            ("action", Text("do_login")),
            ("url", Empty),
            ("quick_login", Text("1")),
            ("my_post_key", Token),
            ("quick_username", User),
            ("quick_password", Password),
            ("quick_remember", Maybe("yes")),
            ("submit", Text("Login")),
        ],
    ],
    sid_in_links: None,
    noise: &[],
    guest_cookies: &[
        "mybb[lastvisit]=1795246283; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/",
        "sid={sid}; path=/; HttpOnly",
    ],
    member_cookies: &[
        (0, "mybbuser=2_{mark}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/; HttpOnly"),
        (0, "sid={sid}; path=/; HttpOnly"),
    ],
    after: After::Redirects(&["/index.php"]),
    wrong: Say::With(
        200,
        "<p>Please correct the following errors before continuing:</p><ul><li>You have entered an invalid username/password \
        combination. You have 2 more login attempts.</li></ul>",
    ),
    locked: Say::With(
        200,
        "<ul><li>You have exceeded the maximum number of login attempts allowed. You may try again in 15 minutes.</li></ul>",
    ),
    malformed: "Authorization code mismatch. Are you accessing this function correctly? Please go back and try again.",
    denied_front: Open,
    denied_list: Open,
    denied_detail: Open,
    denied_file: Says(
        200,
        "<p>You are either not logged in or do not have permission to view this page. This could be because one of the \
        following reasons:</p><ol><li>You are not logged in or registered. Please use the form at the bottom of this page to login.</li></ol>{form}",
    ),
    notice: None,
};

const VBULLETIN: Family = Family {
    name: "vbulletin",
    rules: "vbulletin",
    user: "anna",
    content_type: "text/html; charset=ISO-8859-1",
    at: Addresses {
        front: "/index.php",
        list: "/forumdisplay.php?f=2&page={page}",
        list_first: "/forumdisplay.php?f=2",
        detail: "/showthread.php?t={id}",
        file: "/attachment.php?attachmentid={attach}&d=1795245157",
        account: "/usercp.php",
        login_page: "/login.php?do=login",
        login_action: "/login.php?do=login",
        logout: "/login.php?do=logout&logouthash=1795245157-{mark}",
    },
    lists_files: false,
    categories: None,
    member_bar: "<ul class=\"nouser\"><li class=\"welcomelink\">Welcome, <a href=\"member.php?u=2\">{user}</a></li><li><a href=\"{logout}\" \
        onclick=\"return log_out('Are you sure you want to log out?')\">Log Out</a></li></ul>",
    guest_bar: "<ul class=\"nouser\"><li><a href=\"register.php\" rel=\"nofollow\">Register</a></li><li><a rel=\"help\" href=\"faq.php\">Help</a></li></ul>\
        <a href=\"login.php?do=login\">Log in</a>",
    form: "<div class=\"blockrow error\">{message}</div><form class=\"block vbform\" action=\"login.php?do=login\" method=\"post\" \
        onsubmit=\"md5hash(vb_login_password, vb_login_md5password, vb_login_md5password_utf, 0)\"><label for=\"vb_login_username\">User Name:</label>\
        <input type=\"text\" class=\"primary textbox\" name=\"vb_login_username\" id=\"vb_login_username\" value=\"\" /><label \
        for=\"vb_login_password\">Password:</label><input type=\"password\" class=\"primary textbox\" name=\"vb_login_password\" \
        id=\"vb_login_password\" /><label for=\"cb_cookieuser\"><input type=\"checkbox\" name=\"cookieuser\" id=\"cb_cookieuser\" value=\"1\" /> \
        Remember Me?</label><input type=\"submit\" class=\"button\" value=\"Log in\" accesskey=\"s\" /><input type=\"hidden\" name=\"s\" \
        value=\"{sid}\" /><input type=\"hidden\" name=\"securitytoken\" value=\"guest\" /><input type=\"hidden\" name=\"do\" value=\"login\" />\
        <input type=\"hidden\" name=\"vb_login_md5password\" /><input type=\"hidden\" name=\"vb_login_md5password_utf\" /></form>",
    sends: &[&[
        ("vb_login_username", User),
        ("vb_login_password", Empty),
        ("cookieuser", Maybe("1")),
        ("s", Sid),
        ("securitytoken", Text("guest")),
        ("do", Text("login")),
        ("vb_login_md5password", Md5),
        ("vb_login_md5password_utf", Md5),
    ]],
    sid_in_links: Some("s"),
    noise: &[],
    guest_cookies: &[
        "bblastvisit=1795245157; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/",
        "bbsessionhash={sid}; path=/; HttpOnly",
    ],
    member_cookies: &[
        (0, "bbuserid=2; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/; HttpOnly"),
        (0, "bbpassword={mark}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/; HttpOnly"),
        (0, "bbsessionhash={sid}; path=/; HttpOnly"),
    ],
    after: After::Page(
        "<h2 class=\"blockhead\">Redirecting...</h2><p>Thank you for logging in, {user}.</p><p><a href=\"index.php\">Click here if your \
        browser does not automatically redirect you.</a></p>",
    ),
    wrong: Say::With(
        200,
        "You have entered an invalid username or password. Please enter the correct details and try again. Don't forget that the \
        password is case sensitive. You have used 1 out of 5 login attempts. After all 5 have been used, you will be unable to login for 15 minutes.",
    ),
    locked: Say::With(
        200,
        "Wrong username or password. You have used up your failed login quota! Please wait 15 minutes before trying again. Don't \
        forget that the password is case sensitive.",
    ),
    malformed: "Your submission could not be processed because a security token was missing or mismatched.",
    denied_front: Open,
    denied_list: Says(
        200,
        "<p>You are not logged in or you do not have permission to access this page. This could be due to one of several reasons:</p>{form}",
    ),
    denied_detail: Says(
        200,
        "<p>You are not logged in or you do not have permission to access this page. This could be due to one of several reasons:</p>{form}",
    ),
    denied_file: Says(
        403,
        "<p>You are not logged in or you do not have permission to access this page. This could be due to one of several reasons:</p>{form}",
    ),
    notice: None,
};

const SMF: Family = Family {
    name: "smf",
    rules: "smf",
    user: "anna",
    content_type: UTF_8,
    at: Addresses {
        front: "/index.php",
        list: "/index.php?board=2.{offset}",
        list_first: "/index.php?board=2.0",
        detail: "/index.php?topic={id}.0",
        file: "/index.php?action=dlattach;topic={id}.0;attach={attach}",
        account: "/index.php?action=profile",
        login_page: "/index.php?action=login",
        login_action: "/index.php?action=login2",
        logout: "/index.php?action=logout;f{mark}={token}",
    },
    lists_files: false,
    categories: None,
    member_bar: "<ul class=\"reset\"><li class=\"greeting\">Hello <span>{user}</span></li></ul><ul><li id=\"button_logout\"><a class=\"firstlevel\" \
        href=\"{logout}\"><span class=\"last firstlevel\">Logout</span></a></li></ul>",
    guest_bar: "<div class=\"info\">Welcome, <strong>Guest</strong>. Please <a href=\"index.php?action=login\">login</a> or \
        <a href=\"index.php?action=register\">register</a>.</div>",
    form: "<p class=\"error\">{message}</p><form action=\"index.php?action=login2\" name=\"frmLogin\" id=\"frmLogin\" method=\"post\" \
        accept-charset=\"UTF-8\" onsubmit=\"hashLoginPassword(this, '{token}');\"><h3 class=\"catbg\">Login</h3><dl><dt>Username:</dt><dd><input \
        type=\"text\" name=\"user\" size=\"20\" value=\"\" class=\"input_text\" /></dd><dt>Password:</dt><dd><input type=\"password\" name=\"passwrd\" \
        value=\"\" size=\"20\" class=\"input_password\" /></dd></dl><dl><dt>Minutes to stay logged in:</dt><dd><input type=\"text\" \
        name=\"cookielength\" size=\"4\" maxlength=\"4\" value=\"60\" class=\"input_text\" /></dd><dt>Always stay logged in:</dt><dd><input \
        type=\"checkbox\" name=\"cookieneverexp\" class=\"input_check\" /></dd></dl><p><input type=\"submit\" value=\"Login\" class=\"button_submit\" /></p>\
        <p class=\"smalltext\"><a href=\"index.php?action=reminder\">Forgot your password?</a></p><input type=\"hidden\" name=\"hash_passwrd\" value=\"\" />\
        <input type=\"hidden\" name=\"f{mark}\" value=\"{token}\" /></form>",
    sends: &[&[
        ("user", User),
        ("passwrd", Empty),
        ("cookielength", Text("60")),
        ("cookieneverexp", Maybe("on")),
        ("hash_passwrd", SaltedSha1),
        ("f{mark}", Mark),
    ]],
    sid_in_links: Some("PHPSESSID"),
    noise: &[],
    guest_cookies: &["PHPSESSID={sid}; path=/"],
    member_cookies: &[
        (0, "SMFCookie11={sid}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/"),
        (1, "PHPSESSID={mark}; path=/"),
    ],
    after: After::Redirects(&["/index.php?action=login2;sa=check;member=2", "/index.php"]),
    wrong: Say::With(200, "Password incorrect"),
    locked: Say::With(200, "Sorry, you are out of login chances. Please come back and try again later."),
    malformed: "Session verification failed. Please try logging out and back in again, and then try again.",
    denied_front: Open,
    denied_list: Says(
        200,
        "<h3>Warning!</h3><p>The topic or board you are looking for appears to be either missing or off limits to you. Please \
        login below or register an account with the forum.</p>{form}",
    ),
    denied_detail: Says(
        200,
        "<h3>Warning!</h3><p>The topic or board you are looking for appears to be either missing or off limits to you. Please \
        login below or register an account with the forum.</p>{form}",
    ),
    denied_file: Says(403, "<p>You are not allowed to access this section</p>{form}"),
    notice: None,
};

const XENFORO: Family = Family {
    name: "xenforo",
    rules: "xenforo",
    user: "anna",
    content_type: "text/html; charset=utf-8",
    at: Addresses {
        front: "/",
        list: "/forums/torrents.2/page-{page}",
        list_first: "/forums/torrents.2/",
        detail: "/threads/{slug}.{id}/",
        file: "/attachments/{slug}-torrent.{attach}/",
        account: "/account/",
        login_page: "/login/",
        login_action: "/login/login",
        logout: "/logout/?t=1795245157%2C{mark}",
    },
    lists_files: false,
    categories: None,
    member_bar: "<a href=\"/account/\" class=\"p-navgroup-link p-navgroup-link--user\"><span class=\"p-navgroup-linkText\">{user}</span></a> \
        <a href=\"{logout}\" class=\"menu-linkRow\">Log out</a>",
    guest_bar: "<a href=\"/login/\" class=\"p-navgroup-link\" data-xf-click=\"overlay\"><span class=\"p-navgroup-linkText\">Log in</span></a> \
        <a href=\"/register/\" class=\"p-navgroup-link\"><span>Register</span></a><form action=\"/search/search\" method=\"post\"><input type=\"text\" \
        name=\"keywords\" placeholder=\"Search…\" /><input type=\"text\" name=\"c[users]\" placeholder=\"Member\" /><button type=\"submit\">Search</button>\
        <input type=\"hidden\" name=\"_xfToken\" value=\"1795245157,{token}\" /></form>",
    form: "<div class=\"blockMessage blockMessage--error\">{message}</div><form action=\"/login/login\" method=\"post\" class=\"block\"><dl \
        class=\"formRow\"><dt><label for=\"_xfUid-1\">Your name or email address</label></dt><dd><input type=\"text\" class=\"input\" name=\"login\" \
        autocomplete=\"username\" id=\"_xfUid-1\" /></dd></dl><dl class=\"formRow\"><dt><label for=\"_xfUid-2\">Password</label></dt><dd><input \
        type=\"password\" class=\"input\" name=\"password\" autocomplete=\"current-password\" id=\"_xfUid-2\" /><a href=\"/lost-password/\">Forgot your \
        password?</a></dd></dl><label class=\"iconic\"><input type=\"checkbox\" name=\"remember\" value=\"1\" checked=\"checked\" /><span>Stay logged in\
        </span></label><button type=\"submit\" class=\"button button--primary\"><span class=\"button-text\">Log in</span></button><input type=\"hidden\" \
        name=\"_xfRedirect\" value=\"/\" /><input type=\"hidden\" name=\"_xfToken\" value=\"{token}\" /></form>",
    sends: &[&[
        ("login", User),
        ("password", Password),
        ("remember", Maybe("1")),
        ("_xfRedirect", Text("/")),
        ("_xfToken", Token),
    ]],
    sid_in_links: None,
    noise: &[],
    guest_cookies: &["xf_csrf={sid}; path=/"],
    member_cookies: &[
        (0, "xf_session={sid}; path=/; HttpOnly"),
        (0, "xf_user=2%2C{mark}; expires=Mon, 21-Dec-2037 07:31:23 GMT; Max-Age=2592000; path=/; HttpOnly"),
    ],
    after: After::Redirects(&["/"]),
    wrong: Say::With(200, "Incorrect password. Please try again."),
    locked: Say::With(200, "Your account has temporarily been locked due to failed login attempts."),
    malformed: "Cookies are required to use this site. You must accept them to continue using the site.",
    denied_front: Open,
    denied_list: Says(403, "<p>You must be logged-in to do that.</p>{form}"),
    denied_detail: Says(403, "<p>You must be logged-in to do that.</p>{form}"),
    denied_file: Says(403, "<p>You must be logged-in to do that.</p>{form}"),
    notice: None,
};
