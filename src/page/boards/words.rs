//! The words of boards, as data: what columns are called, what marks a pinned row, what is beside the list, and how
//! links tell users, threads and pages. Lower case; words of scripts without spaces match anywhere in a text.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::when::is_unspaced;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    Title,
    Author,
    /// When the last reply came.
    Last,
    /// When the thread or torrent came.
    Created,
    Replies,
    Views,
    Seeders,
    Leechers,
    Completed,
    Size,
    /// Threads or topics of a sub-board.
    Threads,
}

/// Names of columns, labels beside numbers, and class names.
const ROLES: [(Role, &str); 11] = [
    (
        Role::Title,
        "title thread subject topic name torrent filename thema betreff sujet titre tema asunto titolo titulo título temat konu başlık тема название темы 标题 標題 主题 主題 帖子 名称 名稱 タイトル 件名 제목",
    ),
    (
        Role::Author,
        "author starter uploader poster by autor verfasser auteur autore yazar автор 作者 楼主 发布者 發佈者 上传者 投稿者 작성자 username",
    ),
    (
        Role::Last,
        "last lastpost latest activity lastreply lastmessage letzter letzte dernier dernière último última ultimo ultima ostatni laatste son последнее последний последняя обновлено updated bumped 最后 最後 最后发表 最后回复 最新 最終 마지막",
    ),
    (
        Role::Created,
        "added adddate date start started created uploaded posted started startdate start_datetime age datum hinzugefügt ajouté fecha data agregado dodano toegevoegd eklenme tarih добавлен дата создан 添加 发布时间 發佈時間 时间 時間 日期 投稿日 등록일 modified lastmodified",
    ),
    (
        Role::Replies,
        "replies reply posts comments comment com messages antworten kommentare réponses respuestas risposte respostas odpowiedzi odp reacties cevaplar cevap yanıt yanıtlar ответы ответов ответ комментарии 回复 回覆 回帖 评论 返信 답글 댓글",
    ),
    (
        Role::Views,
        "views view hits zugriffe aufrufe vues visitas visite visto visualizações wyświetleń wyświetlenia weergaven bekeken gösterim görüntüleme просмотры просмотров 查看 浏览 瀏覽 人气 人氣 閲覧 조회",
    ),
    (Role::Seeders, "seeders seeder seeds seed s se ul сиды раздают 做种 種子數 种子数 上传数 シーダー"),
    (Role::Leechers, "leechers leecher leeches leech peers l le dl личи качают 下载数 下載數 吸血 リーチャー"),
    (
        Role::Completed,
        "completed complete snatched snatches downloads downloaded grabs grabbed times c скачали скачан 完成 完成数 ダウンロード",
    ),
    (
        Role::Size,
        "size größe groesse taille tamaño tamanho dimensione rozmiar grootte boyut размер 大小 体积 サイズ 크기",
    ),
    (Role::Threads, "threads topics themen sujets temas wątki onderwerpen konular темы тем 主题数 主題數 トピック"),
];

/// Class names and words of rows that stand above the order of time.
const PINNED: &str = "sticky stickied stickies stick stickthread pinned pin announce announcement announcements globalannounce important \
    angepinnt wichtig ankündigung épinglé epinglé annonce importante fijado anuncio importante importanti annuncio fixo fixado \
    przyklejony przyklejone ogłoszenie vastgepind mededeling sabit duyuru важно закреплено прикреплено объявление \
    置顶 置頂 公告 固顶 固定 お知らせ 공지";

/// Class names and ids of what stands beside or around the list.
const BESIDE: &str = "sidebar side aside nav navigation navbar menu breadcrumb breadcrumbs footer header widget portlet block_side \
    latest recent pagination pager pages related tags tagcloud toplinks quicklinks online statistics stats newposts sideblock right \
    rightcolumn leftcolumn";

/// Words of addresses that lead to people.
const PEOPLE: &str = "member members memberlist user users userdetails userid username profile profiles viewprofile space uid u author authors uploader \
    mitglied membre utilisateur account usercp whoposted";

/// Words of addresses that lead beside a thread: its last post, another order of the list, a category.
const ASIDE: &str = "lastpost newpost unread goto sort sortby order orderby cat category categories kategorie filter prefix tag tags genre \
    search login logout register report redirect rss feed ajax reply newreply newthread post download dl latest";

/// Words of addresses that lead to boards, and to threads.
const BOARDS: &str = "forumdisplay viewforum forum forums board boards subforum fid section category";
/// See [`BOARDS`].
const THREADS: &str =
    "viewthread showthread viewtopic thread threads topic topics tid showtopic torrent torrents details view detail";

/// Words of links to the next page.
const NEXT: &str = "next next› weiter nächste suivant suivante siguiente successiva avanti próxima próximo następna dalej volgende sonraki след следующая 下一页 下一頁 下页 次へ 次 다음 › » > >> → ›› older";

/// Words of links to any page of the same list.
const PAGER: &str = "page pages p seite seiten página pagina pág pag strona str sayfa sida side sivu oldal страница страницы стр \
    prev previous back zurück précédent précédente anterior precedente indietro poprzednia wstecz vorige önceki предыдущая пред назад \
    first erste première primera prima primeira pierwsza eerste ilk первая last letzte dernière última ultima ostatnia laatste son последняя \
    of newer more 页 頁 第 上一页 上一頁 上页 首页 末页 尾页 最后一页 ページ 次のページ 前のページ 前へ 最初 最後 페이지 이전 처음 마지막";

/// A list of words, to ask.
struct Words {
    spaced: HashSet<&'static str>,
    /// Words of scripts without spaces, which stand anywhere in a run.
    unspaced: Vec<&'static str>,
}

impl Words {
    fn of(list: &'static str) -> Self {
        let (unspaced, spaced) =
            list.split_ascii_whitespace().partition::<Vec<&str>, _>(|word| word.chars().any(is_unspaced));
        Self { spaced: spaced.into_iter().collect(), unspaced }
    }

    fn has(&self, word: &str) -> bool {
        self.spaced.contains(word)
            || word.chars().any(is_unspaced) && self.unspaced.iter().any(|known| word.contains(known))
    }

    fn are_said_in(&self, text: &str) -> bool {
        split(text).iter().any(|word| self.has(word))
    }
}

macro_rules! asked {
    ($($(#[$doc:meta])* $name:ident: $list:ident;)*) => {$(
        $(#[$doc])*
        pub(super) fn $name(text: &str) -> bool {
            static WORDS: LazyLock<Words> = LazyLock::new(|| Words::of($list));
            WORDS.are_said_in(text)
        }
    )*};
}

asked! {
    /// A word says that a row is pinned.
    says_pinned: PINNED;
    /// A class says that something stands beside the list.
    says_beside: BESIDE;
    /// An address leads to a person.
    says_people: PEOPLE;
    /// An address leads beside a thread.
    says_aside: ASIDE;
    /// An address leads to a board.
    says_board: BOARDS;
    /// An address leads to a thread.
    says_thread: THREADS;
}

static SPACED_ROLES: LazyLock<HashMap<&'static str, Role>> = LazyLock::new(|| {
    let words =
        ROLES.iter().rev().flat_map(|(role, list)| list.split_ascii_whitespace().map(move |word| (word, *role)));
    words.filter(|(word, _)| !word.chars().any(is_unspaced)).collect()
});

static UNSPACED_ROLES: LazyLock<Vec<(&'static str, Role)>> = LazyLock::new(|| {
    let words = ROLES.iter().flat_map(|(role, list)| list.split_ascii_whitespace().map(move |word| (word, *role)));
    words.filter(|(word, _)| word.chars().any(is_unspaced)).collect()
});

static PAGER_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| PAGER.split_ascii_whitespace().chain(NEXT.split_ascii_whitespace()).collect());

static NEXT_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| NEXT.split_ascii_whitespace().collect());

/// The words of a text or of a class attribute: runs of letters, in lower case. `camelCase` and `kebab-case` are parted.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for character in text.chars() {
        let parts = !character.is_alphabetic() || character.is_uppercase() && was_lower;
        if parts && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphabetic() {
            word.extend(character.to_lowercase());
        }
        was_lower = character.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The roles that a header, a label or a class tells, in the order in which they stand there, each once.
pub(super) fn roles(text: &str) -> Vec<Role> {
    let mut found: Vec<Role> = Vec::new();
    for word in split(text) {
        let role = if word.chars().any(is_unspaced) {
            unspaced_roles(&word, &mut found);
            None
        } else {
            SPACED_ROLES.get(word.as_str()).copied()
        };
        if let Some(role) = role
            && !found.contains(&role)
        {
            found.push(role);
        }
    }
    // "Last post", "Last reply": the second word does not name a count.
    if found.first() == Some(&Role::Last) {
        found.truncate(1);
    }
    found
}

/// Roles in a run without spaces: at each place the longest word.
fn unspaced_roles(run: &str, found: &mut Vec<Role>) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let longest =
            UNSPACED_ROLES.iter().filter(|(word, _)| rest.starts_with(word)).max_by_key(|(word, _)| word.len());
        match longest {
            Some((word, role)) => {
                if !found.contains(role) {
                    found.push(*role);
                }
                rest = &rest[word.len()..];
            }
            None => rest = &rest[first.len_utf8()..],
        }
    }
}

/// True for the text of a link that leads to the next page; only short texts do.
pub(super) fn says_next(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    lower.chars().count() <= 20
        && lower.split_whitespace().any(|word| NEXT_WORDS.contains(word))
        && !lower
            .split_whitespace()
            .any(|word| matches!(word, "last" | "letzte" | "dernière" | "thread" | "topic" | "post" | "unread"))
}

/// The name that a link's text gives to where it leads: its letters; none where they only say that it is a page of something.
pub(super) fn name(text: &str) -> String {
    let words = split(text);
    let is_pager = words.iter().all(|word| PAGER_WORDS.contains(word.as_str()));
    if is_pager { String::new() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_named_in_many_languages() {
        for (text, expected) in [
            ("Replies", &[Role::Replies][..]),
            ("Thread / Author", &[Role::Title, Role::Author]),
            ("回复/查看", &[Role::Replies, Role::Views]),
            ("最后发表", &[Role::Last]),
            ("Last Post [asc]", &[Role::Last]),
            ("Letzter Beitrag", &[Role::Last]),
            ("AddDate", &[Role::Created]),
            ("S", &[Role::Seeders]),
            ("structItem-cell--latest", &[Role::Last]),
            ("Antworten", &[Role::Replies]),
            ("", &[]),
            ("12", &[]),
        ] {
            assert_eq!(roles(text), expected, "{text}");
        }
        assert!(says_pinned("row bg1 sticky") && says_pinned("[置顶]") && says_pinned("stickthread_12"));
        assert!(!says_pinned("topic stop pinterest"));
        for pager in ["2", "»", "Page 2 of 9", "Last »", "第2页", "上一页", "Next page"] {
            assert_eq!(name(pager), "", "{pager}");
        }
        assert_eq!([name("Films 2"), name("Next generation"), name("电影")], ["films", "next generation", "电影"]);
        assert!(says_next("Next »") && says_next("下一页") && !says_next("Last »") && !says_next("Nextcloud is out"));
    }
}
