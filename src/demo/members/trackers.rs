//! Trackers: lists, pages of torrents, files.

use super::family::Denied::{Open, Poses, Says, ToLogin};
use super::family::Sent::{Empty, Maybe, Password, Text, Token, User};
use super::family::{Addresses, After, Categories, Family, Notice, Say};

const UTF_8: &str = "text/html; charset=utf-8";

pub(super) const TRACKERS: &[Family] = &[NEXUSPHP, GAZELLE, UNIT3D, TORRENTPIER, XBTIT, NYAA, TORRUST];

const NEXUSPHP: Family = Family {
    name: "nexusphp",
    rules: "nexusphp",
    user: "anna",
    // Exactly as the real software sends it.
    content_type: "text/html; charset=utf-8; Cache-control:private",
    at: Addresses {
        front: "/torrents.php",
        list: "/torrents.php?inclbookmarked=0&incldead=1&spstate=0&page={page0}",
        list_first: "/torrents.php",
        detail: "/details.php?id={id}",
        file: "/download.php?id={id}",
        account: "/usercp.php",
        login_page: "/login.php",
        login_action: "/takelogin.php",
        logout: "/logout.php",
    },
    lists_files: true,
    categories: Some(Categories { link: "/torrents.php?cat={label}", labels: &["401", "404", "409"] }),
    member_bar: "<span class=\"medium\">欢迎回来, <span class=\"nowrap\"><a href=\"userdetails.php?id=2\" class='User_Name'><b>{user}</b></a></span> \
        [<a href=\"{logout}\">退出</a>] [<a href=\"usercp.php\">控制面板</a>]</span>",
    guest_bar: "<a href=\"login.php\"><font class=\"big\"><b>登录</b></font></a> / <a href=\"signup.php\"><b>注册</b></a>",
    form: "<form method=\"get\" action=\"/login.php\"><div align=\"right\">选择语言: <select name=\"sitelanguage\" onchange='submit()'><option value=\"25\" \
        selected=\"selected\">简体中文</option><option value=\"6\">English</option></select></div></form><h1>{message}</h1>\
        <form method=\"post\" action=\"takelogin.php\"><p>你需要启用cookies才能登录或切换语言<br /> [<b>3</b>] 次连续登录失败将导致你的IP地址被禁用!</p>\
        <p>你还有 <b>[<font color=\"green\" size=\"4\">3</font>]</b> 次尝试机会</p><table border=\"0\" cellpadding=\"5\"><tr><td class=\"rowhead\">用户名：</td><td \
        class=\"rowfollow\" align=\"left\"><input type=\"text\" name=\"username\" style=\"width: 180px; border: 1px solid gray\" /></td></tr><tr><td \
        class=\"rowhead\">密码：</td><td class=\"rowfollow\" align=\"left\"><input type=\"password\" name=\"password\" style=\"width: 180px; border: 1px solid \
        gray\"/></td></tr><tr><td class=\"toolbox\" colspan=\"2\" align=\"left\">高级选项：</td></tr><tr><td class=\"rowhead\">自动登出：</td><td><input \
        class=\"checkbox\" type=\"checkbox\" name=\"logout\" value=\"yes\" />15分钟后自动登出</td></tr><tr><td class=\"rowhead\">限制IP：</td><td><input \
        class=\"checkbox\" type=\"checkbox\" name=\"securelogin\" value=\"yes\" />限制登录IP</td></tr><tr><td class=\"rowhead\">SSL：</td><td><input \
        class=\"checkbox\" type=\"checkbox\" name=\"ssl\" value=\"yes\" disabled=\"disabled\" />使用SSL<br /><input class=\"checkbox\" type=\"checkbox\" \
        name=\"trackerssl\" value=\"yes\" disabled=\"disabled\" />Tracker使用SSL</td></tr><tr><td class=\"toolbox\" colspan=\"2\" align=\"right\"><input \
        type=\"submit\" value=\"登录\" class=\"btn\" /> <input type=\"reset\" value=\"重置\" class=\"btn\" /></td></tr></table><input type=\"hidden\" \
        name=\"returnto\" value=\"torrents.php\" /></form><p>没有帐号？<a href=\"signup.php\"><b>注册</b></a></p><form action='shoutbox.php' id='helpbox' \
        method='get' target='sbox' name='shbox'>信息: <input type='text' id=\"hbtext\" name='shbox_text' autocomplete='off' ><input type='submit' \
        name='shout' value=\"我要求助\" /><input type='hidden' name='sent' value='yes'></form>",
    sends: &[&[("username", User), ("password", Password), ("returnto", Text("torrents.php"))]],
    sid_in_links: None,
    noise: &["hit=1", "letdown=1"],
    guest_cookies: &[],
    member_cookies: &[
        (0, "c_secure_uid=Mg%3D%3D; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/"),
        (0, "c_secure_pass={sid}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/"),
        (0, "c_secure_ssl=bm9wZQ%3D%3D; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/"),
        (0, "c_secure_tracker_ssl=bm9wZQ%3D%3D; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/"),
        (0, "c_secure_login=bm9wZQ%3D%3D; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/"),
    ],
    after: After::Redirects(&["/torrents.php"]),
    wrong: Say::With(
        200,
        "<h2>登录失败！</h2><p>用户名或密码不正确！或者你还没有通过验证！<br />如果你忘记了密码，<a href='recover.php'><b>点此</b></a>找回。</p>",
    ),
    locked: Say::With(200, "<h2>登录锁定！</h2><p>登录失败次数过多，你的IP地址已被禁用。</p>"),
    malformed: "你的请求无效。",
    denied_front: ToLogin,
    denied_list: ToLogin,
    denied_detail: ToLogin,
    denied_file: ToLogin,
    notice: Some(Notice {
        path: "/downloadnotice.php?torrentid={id}&type=firsttime",
        text: "<h2>首次下载提示</h2><p>你好，这是你第一次在本站下载种子。请阅读以下内容。</p><h3>这是非公开BitTorrent站点</h3><form action=\"?\" method=\"post\"><input \
         type=\"hidden\" name=\"type\" value=\"firsttime\" /><input type=\"checkbox\" name=\"hidenotice\" id=\"hidenotice\" value=\"1\" checked=\"checked\" />\
         <label for=\"hidenotice\">下次不再显示此提示</label><input type=\"submit\" name=\"submit\" id=\"continuedownload\" value=\"下载种子文件\" /></form>\
         <a href=\"{file}&amp;letdown=1\">下载种子文件</a>",
        passes: "letdown=1",
    }),
};

const GAZELLE: Family = Family {
    name: "gazelle",
    rules: "gazelle",
    user: "anna",
    content_type: UTF_8,
    at: Addresses {
        front: "/torrents.php",
        list: "/torrents.php?page={page}",
        list_first: "/torrents.php",
        detail: "/torrents.php?id={id}",
        file: "/torrents.php?action=download&id={attach}&authkey=4f1d2c3b4a59687716253443526170ff&torrent_pass=ff706152433425167768594a3b2c1d4f",
        account: "/index.php",
        login_page: "/login.php",
        login_action: "/login.php",
        logout: "/logout.php?auth={mark}",
    },
    lists_files: true,
    categories: Some(Categories { link: "/torrents.php?filter_cat[{label}]=1", labels: &["1", "2", "3"] }),
    member_bar: "<div id=\"userinfo\"><ul id=\"userinfo_username\"><li id=\"nav_userinfo\"><a href=\"user.php?id=2\" class=\"username\">{user}</a></li>\
        <li id=\"nav_logout\" class=\"brackets\"><a href=\"{logout}\">Logout</a></li></ul></div>",
    guest_bar: "<a href=\"login.php\">Log in</a>",
    form: "<div class=\"warning-login\">{message}</div><form class=\"auth_form\" name=\"login\" id=\"loginform\" method=\"post\" action=\"login.php\" \
        autocomplete=\"off\"><div><label for=\"username\">Username</label><input type=\"text\" name=\"username\" id=\"username\" class=\"inputtext\" \
        required=\"required\" maxlength=\"20\" pattern=\"[A-Za-z0-9_?\\.]{1,20}\" autofocus=\"autofocus\" placeholder=\"Username\" /></div><div><label \
        for=\"password\">Password</label><input type=\"password\" name=\"password\" id=\"password\" class=\"inputtext\" required=\"required\" \
        pattern=\".{6,}\" placeholder=\"Password\" /></div><div><label title=\"2FA key (or recovery key), if configured\" for=\"keeplogged\">2FA Key</label>\
        <input type=\"text\" name=\"twofa\" id=\"twofa\" class=\"inputtext\" placeholder=\"2FA key (or recovery code) if required\" /></div><div><label \
        title=\"Keep me logged in for 90 days\" for=\"keeplogged\">Remember me</label><input title=\"Keep me logged in for 90 days\" type=\"checkbox\" \
        id=\"keeplogged\" name=\"keeplogged\" value=\"1\" /></div><div><input type=\"submit\" name=\"login\" value=\"Log in\" class=\"submit\" /></div>\
        <a href=\"login.php?action=recover\" class=\"tooltip\">Password recovery</a></form>",
    sends: &[&[
        ("username", User),
        ("password", Password),
        ("twofa", Empty),
        ("keeplogged", Maybe("1")),
        ("login", Text("Log in")),
    ]],
    sid_in_links: None,
    noise: &[],
    guest_cookies: &[],
    member_cookies: &[(0, "session={sid}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/; HttpOnly")],
    after: After::Redirects(&["/index.php"]),
    wrong: Say::With(
        200,
        "Your login credentials were not recognized.<br />Please double check your username and password.<br />If previously \
        enabled, you must supply a valid two-factor authentication code.<br />",
    ),
    locked: Say::With(
        200,
        "As a security measure, you are temporarily prevented<br />from logging in for another 5 hours. \
        <br /><strong>WARNING:</strong> Incorrect login credentials will increase<br />the duration you are prevented from logging in.",
    ),
    malformed: "Invalid request.",
    denied_front: ToLogin,
    denied_list: ToLogin,
    denied_detail: ToLogin,
    denied_file: ToLogin,
    notice: None,
};

const UNIT3D: Family = Family {
    name: "unit3d",
    rules: "unit3d",
    user: "anna",
    content_type: UTF_8,
    at: Addresses {
        front: "/torrents",
        list: "/torrents?page={page}",
        list_first: "/torrents",
        detail: "/torrents/{id}",
        file: "/torrents/download/{id}",
        account: "/users/anna",
        login_page: "/login",
        login_action: "/login",
        logout: "/logout",
    },
    lists_files: true,
    categories: Some(Categories { link: "/torrents?categoryIds[0]={label}", labels: &["1", "2", "7"] }),
    // Only a POST: no link of the site logs out.
    member_bar: "<a class=\"top-nav__username\" href=\"/users/anna\"><span class=\"text-bold\">{user}</span></a><form role=\"form\" method=\"POST\" \
        action=\"{logout}\" class=\"form-inline\"><input type=\"hidden\" name=\"_token\" value=\"{token}\" autocomplete=\"off\"><button>Logout</button></form>",
    guest_bar: "<a href=\"/login\"><h2 class=\"active\">Login</h2></a> <a href=\"/register/null\"><h2 class=\"inactive underlineHover\">Sign up</h2></a>",
    form: "<ul class=\"auth-form__important-infos\"><li class=\"auth-form__important-info\">{message}</li></ul><form role=\"form\" method=\"POST\" \
        action=\"/login\"><input type=\"hidden\" name=\"_token\" value=\"{token}\" autocomplete=\"off\"><div><label for=\"username\" class=\"col-md-4 \
        control-label\">Username</label><input id=\"username\" type=\"text\" class=\"form-control\" name=\"username\" value=\"\" required autofocus></div>\
        <div><label for=\"password\" class=\"col-md-4 control-label\">Password</label><input id=\"password\" type=\"password\" class=\"form-control\" \
        name=\"password\" required></div><div class=\"checkbox\"><label><input type=\"checkbox\" name=\"remember\"> Remember me</label></div><button \
        type=\"submit\" class=\"fadeIn fourth\" id=\"login-button\">Login</button></form><div id=\"formFooter\"><a href=\"/password/reset\"><h2>Lost \
        password</h2></a></div>",
    sends: &[&[("_token", Token), ("username", User), ("password", Password), ("remember", Maybe("on"))]],
    sid_in_links: None,
    noise: &[],
    guest_cookies: &[
        "XSRF-TOKEN={mark}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/",
        "laravel_session={sid}; path=/; httponly; samesite=lax",
    ],
    member_cookies: &[
        (
            0,
            "remember_web_59ba36addc2b2f9401580f014c7f58ea4e30989d={mark}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/; httponly",
        ),
        (0, "laravel_session={sid}; path=/; httponly; samesite=lax"),
    ],
    after: After::Redirects(&["/torrents"]),
    wrong: Say::Flash("These credentials do not match our records."),
    locked: Say::Flash("Too many login attempts. Please try again in 3587 seconds."),
    malformed: "Page Expired",
    denied_front: ToLogin,
    denied_list: ToLogin,
    denied_detail: ToLogin,
    denied_file: ToLogin,
    notice: None,
};

/// Installed in a folder; its cookie is valid for that folder only.
const TORRENTPIER: Family = Family {
    name: "torrentpier",
    rules: "torrentpier",
    user: "anna",
    content_type: "text/html; charset=UTF-8",
    at: Addresses {
        front: "/forum/index.php",
        list: "/forum/viewforum.php?f=2&start={offset}",
        list_first: "/forum/viewforum.php?f=2",
        detail: "/forum/viewtopic.php?t={id}",
        file: "/forum/dl.php?t={id}",
        account: "/forum/profile.php?mode=editprofile",
        login_page: "/forum/login.php",
        login_action: "/forum/login.php",
        logout: "/forum/login.php?logout=1",
    },
    lists_files: false,
    categories: Some(Categories { link: "/forum/tracker.php?f={label}", labels: &["2", "14", "75"] }),
    member_bar: "<div id=\"logged-in-username\">Вы зашли как: <a class=\"noactive\" href=\"profile.php?mode=viewprofile&amp;u=2\"><b>{user}</b></a> [ \
        <a href=\"{logout}\" onclick=\"return confirm('Вы уверены?');\">Выход</a> ]</div>",
    guest_bar: "<div class=\"topmenu\"><a href=\"profile.php?mode=register\"><b>Регистрация</b></a> &#0183; <form action=\"login.php\" method=\"post\">Имя: \
        <input type=\"text\" name=\"login_username\" size=\"12\" tabindex=\"1\" accesskey=\"l\" /> Пароль: <input type=\"password\" \
        name=\"login_password\" size=\"12\" tabindex=\"2\" /> <input type=\"hidden\" name=\"redirect\" value=\"/forum/index.php\" /><input type=\"submit\" name=\"login\" value=\"Вход\" tabindex=\"3\" /> \
        <label><input type=\"checkbox\" name=\"autologin\" value=\"1\" checked />запомнить</label></form> <a \
        href=\"profile.php?mode=sendpassword\">Забыли пароль?</a></div>",
    form: "<h1 class=\"pagetitle\">Вход</h1><div class=\"warnColor1\">{message}</div><form action=\"login.php\" method=\"post\"><input \
        type=\"hidden\" name=\"redirect\" value=\"/forum/index.php\" /><table class=\"forumline\"><tr><th>Введите ваше имя и пароль для входа в систему</th></tr>\
        <tr><td>Имя: <input type=\"text\" class=\"post\" name=\"login_username\" size=\"25\" maxlength=\"40\" value=\"\" /></td></tr><tr><td>Пароль: <input \
        type=\"password\" class=\"post\" name=\"login_password\" size=\"25\" maxlength=\"32\" /></td></tr><tr><td><label><input type=\"checkbox\" \
        name=\"autologin\" value=\"1\" checked /> Автоматически входить при каждом посещении</label></td></tr><tr><td><input type=\"submit\" \
        class=\"bold long\" name=\"login\" value=\"Вход\" /></td></tr></table></form>",
    sends: &[&[
        ("redirect", Text("/forum/index.php")),
        ("login_username", User),
        ("login_password", Password),
        ("autologin", Maybe("1")),
        ("login", Text("Вход")),
    ]],
    sid_in_links: Some("sid"),
    noise: &[],
    guest_cookies: &["bb_t=1795245157; path=/forum/"],
    member_cookies: &[(0, "bb_session=0-{sid}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/forum/; HttpOnly")],
    after: After::Redirects(&["/forum/index.php"]),
    wrong: Say::With(200, "Вы ввели неверное/неактивное имя пользователя или неверный пароль"),
    locked: Say::With(200, "Слишком много попыток входа. Введите код подтверждения, или повторите попытку позже."),
    malformed: "Сессия устарела",
    denied_front: Open,
    denied_list: Open,
    denied_detail: Open,
    denied_file: Poses(
        "<title>Вход</title><h1>Вход</h1><p>Вы должны войти, чтобы скачать торрент. <a href=\"/forum/login.php\">Вход</a></p>",
    ),
    notice: None,
};

const XBTIT: Family = Family {
    name: "xbtit",
    rules: "xbtit",
    user: "anna",
    content_type: "text/html; charset=UTF-8",
    at: Addresses {
        front: "/index.php",
        list: "/index.php?page=torrents&pages={page}",
        list_first: "/index.php?page=torrents",
        detail: "/index.php?page=torrent-details&id={hash}",
        file: "/download.php?id={hash}&f=t{id}.torrent",
        account: "/index.php?page=usercp",
        login_page: "/index.php?page=login",
        login_action: "/index.php?page=login",
        logout: "/logout.php",
    },
    lists_files: true,
    categories: None,
    member_bar: "<table width=\"100%\"><tr><td class=\"header\">Welcome back <b>{user}</b> <a href=\"{logout}\">(Logout)</a></td><td><a \
        href=\"index.php?page=usercp&amp;uid=2\">User Panel</a></td></tr></table>",
    guest_bar: "<form action=\"index.php?page=login\" name=\"login\" method=\"post\"><table><tr><td class=\"header\">User Name:</td><td><input \
        type=\"text\" size=\"15\" name=\"uid\" value=\"\" maxlength=\"40\" style=\"font-size:10px\" /></td><td class=\"header\">Password:</td><td><input \
        type=\"password\" size=\"15\" name=\"pwd\" maxlength=\"40\" style=\"font-size:10px\" /></td><td><input type=\"submit\" value=\"Login\" \
        style=\"font-size:10px\" /></td></tr></table></form><a href=\"index.php?page=signup\">Create Account</a> <a \
        href=\"index.php?page=recover\">Recover Pwd</a>",
    form: "<div class=\"error\">{message}</div><form method=\"post\" onsubmit=\"return form_control()\" \
        action=\"index.php?page=login&amp;returnto=index.php\"><table class=\"lista\"><tr><td align=\"right\" class=\"header\">User Name:</td><td \
        class=\"lista\"><input type=\"text\" size=\"40\" name=\"uid\" id=\"want_username\" value=\"\" maxlength=\"40\" /></td></tr><tr><td align=\"right\" \
        class=\"header\">Password:</td><td class=\"lista\"><input type=\"password\" size=\"40\" name=\"pwd\" id=\"want_password\" maxlength=\"40\" /></td>\
        </tr><tr><td colspan=\"2\"><input type=\"submit\" class=\"btn\" value=\"Confirm\" /></td></tr><tr><td>NOTE: You need cookies enabled to log in</td>\
        </tr></table></form>",
    sends: &[&[("uid", User), ("pwd", Password)]],
    sid_in_links: None,
    noise: &[],
    guest_cookies: &[
        "PHPSESSID={mark}; path=/",
        "xbtit=deleted; expires=Thu, 01 Jan 1970 00:00:01 GMT; Max-Age=0; path=/",
    ],
    member_cookies: &[
        (0, "uid=2; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/"),
        (0, "pass={sid}; expires=Sun, 21-Nov-2027 07:31:23 GMT; path=/; HttpOnly"),
    ],
    after: After::Redirects(&["/index.php"]),
    wrong: Say::With(200, "<b>Incorrect password!</b>"),
    locked: Say::With(200, "<b>Too many failed logins: your account has been disabled.</b>"),
    malformed: "Bad request",
    denied_front: Open,
    denied_list: Open,
    denied_detail: Open,
    // Only these few words, without a page around them.
    denied_file: Says(200, "You&rsquo;re not authorized to download. Sorry..."),
    notice: None,
};

/// A variant that serves files to members only.
const NYAA: Family = Family {
    name: "nyaa",
    rules: "nyaa",
    user: "anna",
    content_type: UTF_8,
    at: Addresses {
        front: "/",
        list: "/?p={page}",
        list_first: "/",
        detail: "/view/{id}",
        file: "/download/{id}.torrent",
        account: "/profile",
        login_page: "/login",
        login_action: "/login",
        logout: "/logout",
    },
    lists_files: true,
    categories: Some(Categories { link: "/?c={label}", labels: &["1_2", "4_1", "6_1"] }),
    member_bar: "<ul class=\"nav navbar-nav navbar-right\"><li class=\"dropdown\"><a href=\"#\" class=\"dropdown-toggle\"><i class=\"fa fa-user fa-fw\"></i>\
        {user}</a><ul class=\"dropdown-menu\"><li><a href=\"/user/anna\">Torrents</a></li><li><a href=\"{logout}\"><i class=\"fa fa-times fa-fw\"></i>Logout</a>\
        </li></ul></li></ul>",
    guest_bar: "<form class=\"navbar-form\" action=\"/\" method=\"get\"><input type=\"text\" class=\"form-control search-bar\" name=\"q\" \
        placeholder=\"Search...\" value=\"\"></form><ul class=\"nav\"><li><a href=\"/login\"><i class=\"fa fa-sign-in fa-fw\"></i>Login</a></li><li><a \
        href=\"/register\">Register</a></li></ul>",
    form: "<h1>Login</h1><div class=\"alert alert-danger\">{message}</div><form method=\"POST\"><input id=\"csrf_token\" name=\"csrf_token\" \
        type=\"hidden\" value=\"{token}\"><div class=\"form-group\"><label class=\"control-label\" for=\"username\">Username or email address</label><input \
        class=\"form-control\" id=\"username\" name=\"username\" placeholder=\"Username\" type=\"text\" value=\"\"></div><div class=\"form-group\"><label \
        class=\"control-label\" for=\"password\">Password</label><input class=\"form-control\" id=\"password\" name=\"password\" placeholder=\"Password\" \
        type=\"password\" value=\"\"></div><input type=\"submit\" value=\"Login\" class=\"btn btn-primary\"></form>",
    sends: &[&[("csrf_token", Token), ("username", User), ("password", Password)]],
    sid_in_links: None,
    noise: &[],
    guest_cookies: &["session={sid}; HttpOnly; Path=/"],
    member_cookies: &[(1, "session={sid}; HttpOnly; Path=/")],
    // The second hop sets the session, by a ticket in the address.
    after: After::Redirects(&["/login/done?ticket={sid}", "/"]),
    wrong: Say::With(200, "<strong>Login failed!</strong> Incorrect username or password."),
    locked: Say::With(403, "<strong>You are banned.</strong> Login attempts: 3."),
    malformed: "The CSRF token is invalid.",
    denied_front: Open,
    denied_list: Open,
    denied_detail: Open,
    denied_file: ToLogin,
    notice: None,
};

/// Its front is filled by scripts from its API.
const TORRUST: Family = Family {
    name: "torrust",
    rules: "torrust",
    user: "anna",
    content_type: UTF_8,
    at: Addresses {
        front: "/torrents",
        list: "/v1/torrents?page_size=30&sort=UploadedDesc&page={page0}",
        list_first: "/v1/torrents?page_size=30&sort=UploadedDesc&page=0",
        detail: "/torrent/{hash}",
        file: "/v1/torrent/download/{hash}",
        account: "/user",
        login_page: "/signin",
        login_action: "/v1/user/login",
        logout: "/v1/user/logout",
    },
    lists_files: false,
    categories: None,
    member_bar: "<span class=\"username\">{user}</span> <button type=\"button\" onclick=\"logout()\">Sign out</button>",
    guest_bar: "<a href=\"/signin\">Sign in</a> <a href=\"/signup\">Sign up</a>",
    form: "<p>{message}</p><form onsubmit=\"return false\"><label>Username</label><input name=\"login\" type=\"text\" autocomplete=\"username\" /><label>\
        Password</label><input name=\"password\" type=\"password\" /><button type=\"button\" onclick=\"signIn()\">Sign in</button></form>\
        <script>async function signIn() { const f = document.forms[0]; const r = await fetch('/v1/user/login', { method: 'POST', headers: { \
        'Content-Type': 'application/json' }, body: JSON.stringify({ login: f.login.value, password: f.password.value }) }); \
        localStorage.token = (await r.json()).data.token; }</script>",
    sends: &[&[("login", User), ("password", Password)]],
    sid_in_links: None,
    noise: &[],
    guest_cookies: &[],
    member_cookies: &[],
    after: After::Token,
    wrong: Say::With(403, "Invalid username/email or password"),
    locked: Say::With(403, "Your account has been banned: too many failed logins"),
    malformed: "Bad request",
    denied_front: Open,
    denied_list: Says(401, "{\"error\":\"Unauthorized action. Please sign in.\"}"),
    denied_detail: Says(200, "<p>You must be logged in to see torrents. <a href=\"/signin\">Sign in</a></p>"),
    denied_file: Says(401, "{\"error\":\"Unauthorized action. Please sign in.\"}"),
    notice: None,
};
