//! Families: where their files lie, what they give to a site, and what goes before them.

use super::*;

#[test]
fn every_family_of_the_folder_is_in_the_binary_and_passes() {
    let files = toml_files("rules/families");
    let names: Vec<_> = files.iter().map(|path| path.file_stem().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, BUILT_IN.map(|(name, _)| name));
    for (path, (name, text)) in files.iter().zip(BUILT_IN) {
        assert_eq!(fs::read_to_string(path).unwrap(), text, "{name}");
        check_file(path).unwrap_or_else(|faults| panic!("{}", render(&faults, false)));
        check_text(path, text, &Families::new(None)).unwrap_or_else(|faults| panic!("{}", render(&faults, false)));
    }
}

#[test]
fn a_family_of_the_folder_goes_before_the_one_in_the_binary() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("families")).unwrap();
    let site = dir.path().join("s.toml");
    fs::write(&site, "extends = 'families/nginx'\nstart = ['http://h/pub/']\n").unwrap();
    let with_built_in = load_file(&site).site.unwrap();
    assert!(with_built_in.rules().iter().any(|rule| rule.file.starts_with("<built in>")));
    let own = dir.path().join("families/nginx.toml");
    fs::write(&own, "parameters.sort = true\nclasses.page = ['.']\n").unwrap();
    let with_own = load_file(&site).site.unwrap();
    assert_eq!(with_own.rules().len(), 1);
    assert!(with_own.canonical.sort && with_own.below.is_empty());
    assert_eq!(&*with_own.rules()[0].file, own);
    for circle in ["extends = 'families/nginx'", "extends = 'families/../../etc/x'", "clases = {}"] {
        fs::write(&own, circle).unwrap();
        let faults = load_file(&site).site.unwrap_err();
        assert_eq!((faults.len(), faults[0].line, faults[0].column), (1, 1, 11), "{faults:?}");
    }
}

#[test]
fn a_family_pins_requests_at_the_pages_own_host_until_the_site_does() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("families")).unwrap();
    let (site, family) = (dir.path().join("s.toml"), dir.path().join("families/x.toml"));
    let pin =
        |class: &str, url: &str| format!("[shortcut.{class}]\nurl = '{url}'\nitems = 'data'\nlink = ['/dl/{{id}}']\n");
    fs::write(&family, format!("classes.index = ['^/$']\n{}{}", pin("index", "/api"), pin("detail", "/api/one")))
        .unwrap();
    let pins = |of_site: &str| {
        fs::write(&site, format!("start = ['http://h/']\nextends = 'families/x'\n{of_site}")).unwrap();
        let site = load_file(&site).site.unwrap();
        [Class::Index, Class::Detail].map(|class| site.shortcuts(class).next().unwrap().clone())
    };
    let of_family = pins("");
    let of_site = pins(&pin("index", "/v2"));
    assert!(of_family[0] != of_site[0] && of_family[1] == of_site[1]);
    fs::write(&family, format!("classes.index = ['^/$']\n{}", pin("index", "https://api.example.org/v1"))).unwrap();
    let faults = check_file(&family).unwrap_err();
    assert!(faults.len() == 1 && faults[0].message.contains("`api.example.org` is not a host"), "{faults:?}");
}

#[test]
fn the_nearer_file_wins_over_its_family() {
    let site = from_text(
        "near",
        "extends = 'families/autoindex'\nstart = ['http://h/pub/']\nclasses.download = ['\\.txt$']\nbelow_start = false",
    )
    .unwrap();
    assert_eq!(judged(&site, "http://h/pub/a.txt"), "download");
    assert_eq!(judged(&site, "http://h/pub/a.iso"), "!denied");
    assert_eq!(judged(&site, "http://h/"), "index");
}

/// The links of listings that real servers sent (apache 2.4, nginx 1.22, lighttpd 1.4, Python 3.11, h5ai 0.30).
#[test]
fn a_reader_turns_members_lists_alone_unless_the_site_or_its_family_says_otherwise() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("families")).unwrap();
    let (site, family) = (dir.path().join("s.toml"), dir.path().join("families/x.toml"));
    let acts = |of_family: &str, of_site: &str| {
        fs::write(&family, format!("classes.index = ['^/$']\n{of_family}")).unwrap();
        fs::write(&site, format!("extends = 'families/x'\nstart = ['https://h.example/']\n{of_site}")).unwrap();
        load_file(&site).site.unwrap_or_else(|faults| panic!("{}", render(&faults, false))).acts()
    };
    let member = "[login]\nuser = 'anna'\n";
    assert_eq!(acts("", ""), RenderActs::All);
    assert_eq!(acts("", member), RenderActs::Turns);
    assert_eq!(acts("render.acts = 'none'\n", member), RenderActs::None);
    assert_eq!(acts("render.acts = 'none'\n", &format!("render.acts = 'all'\n{member}")), RenderActs::All);
}

#[test]
fn families_take_folders_and_torrents_and_leave_the_rest_of_real_listings() {
    let table: [(&str, &[(&str, &str)]); 5] = [
        (
            "apache",
            &[
                ("?C=N;O=D", "!denied"),
                ("?C=M;O=A", "!denied"),
                ("/pub/", "!not_below_start"),
                ("/icons/blank.gif", "!not_below_start"),
                ("0000_torf.torrent", "download"),
                ("sub/", "index"),
            ],
        ),
        ("nginx", &[("../", "!not_below_start"), ("0000_torf.torrent", "download"), ("deep/er/", "index")]),
        ("lighttpd", &[("../", "!not_below_start"), ("0004_mktorrent.torrent", "download"), ("sub/", "index")]),
        ("python-http", &[("0008_libtorrent.TORRENT", "download"), ("sub/", "index"), ("noext", "download")]),
        (
            "h5ai",
            &[
                ("..", "!not_below_start"),
                ("/pub/linux/0000_torf.torrent", "download"),
                ("/pub/linux/sub/", "index"),
                ("/_h5ai/public/css/styles.css", "!not_below_start"),
                ("https://larsjung.de/h5ai/", "!wrong_host"),
            ],
        ),
    ];
    for (family, links) in table {
        let text = format!("extends = 'families/{family}'\nstart = ['http://127.0.0.1:8100/pub/linux/']");
        let site = from_text(family, &text).unwrap_or_else(|faults| panic!("{}", render(&faults, false)));
        let base = site.start[0].to_url().unwrap();
        for (href, expected) in links {
            let url = CrawlUrl::join(&base, href, None, &site.canonical).unwrap();
            assert_eq!(judged(&site, url.as_str()), *expected, "{family}: {href}");
        }
        // From the root as well.
        let text = format!("extends = 'families/{family}'\nstart = ['http://127.0.0.1:8100/']");
        let site = from_text(family, &text).unwrap();
        assert_eq!(judged(&site, "http://127.0.0.1:8100/a/b/c/"), "index");
        assert_eq!(judged(&site, "http://127.0.0.1:8100/a/%E4%B8%AD%20x.torrent.added"), "download");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn no_text_panics_and_every_fault_has_its_place(text in toml_like()) {
        if let Err(faults) = from_text("any", &text) {
            prop_assert!(!faults.is_empty());
            for fault in &faults {
                prop_assert!(fault.line >= 1 && fault.column >= 1 && fault.span.end <= text.len());
                prop_assert!(text.get(fault.span.clone()).is_some());
            }
            prop_assert!(!render(&faults, true).is_empty());
        }
        let _ = check_text(Path::new("rules/families/any.toml"), &text, &Families::new(None));
    }

    #[test]
    fn no_pattern_panics(pattern in "[ -~é]{0,30}") {
        let text = format!("start = ['https://h/']\nclasses.page = ['''{pattern}''', '.']");
        if let Err(faults) = from_text("any", &text) {
            prop_assert!(!render(&faults, false).is_empty());
        }
    }
}

#[test]
fn a_user_is_enough_where_the_family_knows_the_login() {
    let site = |text: &str| from_text("forum", text).unwrap();
    let of = |extends: &str, start: &str, more: &str| {
        site(&format!("start = ['{start}']\nextends = 'families/{extends}'\n[login]\nuser = 'anna'\n{more}"))
            .login
            .clone()
            .unwrap()
    };
    let phpbb = of("phpbb", "https://example.org/forum/viewforum.php?f=2", "");
    assert_eq!(&*phpbb.user, "anna");
    assert_eq!(phpbb.page.unwrap().as_str(), "https://example.org/forum/ucp.php?mode=login");
    assert_eq!(phpbb.probe.unwrap().as_str(), "https://example.org/forum/ucp.php?i=ucp_main&mode=front");
    // The file's own values stay, as a path or as a URL.
    let own = of("phpbb", "https://example.org/forum/", "page = '/in'\nform = 2\nfields = { lang = 'en' }");
    assert_eq!((own.page.unwrap().as_str(), own.form), ("https://example.org/in", Some(1)));
    assert_eq!(own.fields, [("lang".into(), "en".into())]);
    let answer =
        of("discuz", "https://example.org/", "fields = { questionid = '4', answer = 'Rex', secret_answer = 'x' }");
    assert!(answer.fields.iter().any(|field| *field == ("secret_answer".into(), "x".into())), "{:?}", answer.fields);
    let json = of("torrust", "https://example.org/", "").json.unwrap();
    assert_eq!(json.url.as_str(), "https://example.org/v1/user/login");
    assert_eq!([&*json.user, &*json.password, &*json.token], ["login", "password", "/data/token"]);
    let guests = site("start = ['https://example.org/']\nextends = 'families/phpbb'\n");
    assert!(guests.login.is_none(), "a family alone gives nobody an account");
}

/// The target of a link on the start page, in a site's own file and in a family alike.
#[test]
fn paths_of_a_login_are_what_links_of_the_start_page_would_be() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("families")).unwrap();
    let start = "https://example.org/forum/index.php?x=1";
    for (path, expected) in [
        ("/login.php", Some("https://example.org/login.php")),
        ("member.php?mod=logging&action=login", Some("https://example.org/forum/member.php?mod=logging&action=login")),
        ("../in", Some("https://example.org/in")),
        ("?do=login", Some("https://example.org/forum/index.php?do=login")),
        ("index.php/login", Some("https://example.org/forum/index.php/login")),
        ("v1.2/login", Some("https://example.org/forum/v1.2/login")),
        ("./example.org/login", Some("https://example.org/forum/example.org/login")),
        ("users", Some("https://example.org/forum/users")),
        ("example.org/login", None),
        ("127.0.0.1/login", None),
        ("www.example.org", None),
        ("example.org:8080/login", None),
        ("anna@example.org/login", None),
        ("//elsewhere.example/login", None),
        ("javascript:login()", None),
        ("a login", None),
        ("", None),
    ] {
        let login = format!("[login]\npage = '{path}'\n");
        let own = from_text("forum", &format!("start = ['{start}']\nclasses.index = ['.']\n{login}user = 'anna'\n"));
        let own = own.ok().map(|site| site.login.as_ref().unwrap().page.as_ref().unwrap().as_str().to_owned());
        assert_eq!(own.as_deref(), expected, "{path}");

        fs::write(folder.path().join("families/x.toml"), format!("{login}[classes]\nindex = ['.']\n")).unwrap();
        let text = format!("start = ['{start}']\nextends = 'families/x'\n[login]\nuser = 'anna'\n");
        fs::write(folder.path().join("forum.toml"), text).unwrap();
        let site = load_file(&folder.path().join("forum.toml")).site;
        let inherited = site.ok().map(|site| site.login.as_ref().unwrap().page.as_ref().unwrap().as_str().to_owned());
        assert_eq!(inherited.as_deref(), expected, "{path} of a family");
    }
    // A whole URL of the site is only allowed in its own file.
    let own = format!(
        "start = ['{start}']\nclasses.index = ['.']\n[login]\nuser = 'anna'\npage = 'https://example.org/in'\n"
    );
    assert!(from_text("forum", &own).is_ok());
}

#[test]
fn a_family_has_no_account_and_no_host() {
    let text = "[login]\nuser = 'anna'\npage = 'https://example.org/login'\nprobe = '//example.org/'\n\
                [login.json]\nurl = '/api'\ntoken = 'x'\n[login.fields]\nclient_secret = 'x'\n[classes]\nindex = ['.']\n";
    let faults = check_text(Path::new("rules/families/x.toml"), text, &Families::new(None)).unwrap_err();
    let told: Vec<String> = faults.iter().map(|fault| format!("{} {}", fault.line, fault.message)).collect();
    assert_eq!(
        told,
        [
            "2 a family has no account",
            "3 `page` applies to forms, but `json` logs in without one",
            "3 this is not a path: families have no host",
            "4 this is not a path: families have no host",
            "7 this is not a JSON pointer",
            "9 the field `client_secret` looks like a secret: secrets do not belong in rule files",
        ]
    );
    let hint = faults.last().and_then(|fault| fault.hint.clone()).unwrap();
    assert!(hint.contains("each site of the family") && !hint.contains("SITE"), "{hint}");
}
