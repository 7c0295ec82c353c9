//! What somebody does who looks for all that a page has: the acts that were asked for, then turning pages, "load more", scrolling, tabs and
//! rows that react to clicks, until nothing new comes or the tries are used up.
//!
//! New is a link or a navigation that no state before had. An act that brings some costs no try: a list is read to its end, as long as
//! the page's other bounds hold. A kind of control that brought nothing is not tried again. Nothing here sends
//! forms, and controls whose words are about ending, deleting or posting are left alone.

use std::collections::{HashMap, HashSet};

use html5ever::local_name;

use super::interact::Link;
use super::load::Window;
use super::{own_document, read};
use crate::limits;
use crate::render::dom::{NodeId, Tree};
use crate::render::engine::jobs::{End, Reach};
use crate::render::engine::trace::{self, What};
use crate::render::protocol::{Act, State};

/// What came of the acts.
#[derive(Default)]
pub struct Told {
    pub states: Vec<State>,
    /// Acts whose selectors fit nothing.
    pub undone: Vec<Act>,
}

/// Words of controls that show more of a list, in lower case.
const MORE: &[&str] = &[
    "next",
    "more",
    "older",
    "forward",
    "load",
    "show all",
    "view all",
    "»",
    "›",
    "→",
    "下一页",
    "下一頁",
    "下页",
    "下頁",
    "加载更多",
    "載入更多",
    "更多",
    "次へ",
    "次のページ",
    "もっと",
    "다음",
    "더보기",
    "след",
    "далее",
    "ещё",
    "еще",
    "weiter",
    "nächste",
    "mehr",
    "suivant",
    "plus",
    "siguiente",
    "más",
    "próxim",
    "mais",
    "successiv",
    "altri",
    "następn",
    "więcej",
    "volgende",
    "meer",
    "sonraki",
    "daha",
];

/// Words of controls that a reader who only looks never touches, in lower case.
const NEVER: &[&str] = &[
    "logout",
    "log out",
    "log off",
    "logoff",
    "sign out",
    "signout",
    "delete",
    "remove",
    "report",
    "reply",
    "post",
    "submit",
    "send",
    "vote",
    "like",
    "thank",
    "subscribe",
    "unsubscribe",
    "buy",
    "donate",
    "upload",
    "edit",
    "ban",
    "block",
    "follow",
    "rate",
    "bookmark",
    "favorite",
    "favourite",
    "share",
    "print",
    "注销",
    "退出",
    "登出",
    "删除",
    "刪除",
    "回复",
    "回覆",
    "举报",
    "ログアウト",
    "削除",
    "返信",
    "로그아웃",
    "삭제",
    "выход",
    "выйти",
    "удалить",
    "ответить",
    "abmelden",
    "löschen",
    "antworten",
    "melden",
    "déconnexion",
    "supprimer",
    "répondre",
    "cerrar sesión",
    "eliminar",
    "responder",
    "sair",
    "excluir",
    "esci",
    "elimina",
    "rispondi",
    "wyloguj",
    "usuń",
    "odpowiedz",
    "uitloggen",
    "verwijder",
    "çıkış",
    "sil",
    "cevapla",
];

/// Something that reacts to clicks.
struct Control {
    id: NodeId,
    /// What controls of its kind share: element, classes, role.
    kind: String,
    /// As a person names it.
    words: String,
    /// Lower is tried first.
    rank: u8,
}

/// Reads the page as it is, then acts.
pub fn read_page(window: &mut Window, acts: &[Act], tries: u32, reach: Reach) -> Told {
    let mut book = Book::default();
    book.enter("load", window);
    let mut told = Told::default();
    for act in acts {
        let (done, by) = perform(window, act);
        if !done {
            told.undone.push(act.clone());
        }
        let end = window.engine.run(reach);
        book.enter_whole(&by, window);
        if end == End::Spent {
            break;
        }
    }
    explore(window, tries, reach, &mut book);
    told.states = book.states;
    told
}

fn perform(window: &mut Window, act: &Act) -> (bool, String) {
    note(window, &act.to_string());
    let done = match act {
        Act::Click(selectors) => window.click(selectors),
        Act::Scroll(_) => {
            window.scroll_to_bottom();
            true
        }
        Act::Goto(address) => {
            window.go_to(address);
            true
        }
        Act::Back => {
            window.back();
            true
        }
    };
    (done, act.to_string())
}

fn note(window: &Window, act: &str) {
    window.engine.page().borrow_mut().note(|| What::Act { act: trace::told(act) });
}

/// The links of all states.
#[derive(Default)]
struct Book {
    known: HashSet<String>,
    navigations: usize,
    /// Links of states that are told whole.
    whole: usize,
    states: Vec<State>,
}

impl Book {
    /// Writes down the state that the page is in; true when it has something new.
    fn enter(&mut self, by: &str, window: &mut Window) -> bool {
        let links = window.links();
        let count = links.len();
        let navigations = window.navigations().len();
        let is_first = self.states.is_empty();
        let mut room = limits::RENDER_LINKS_MAX.saturating_sub(self.known.len());
        let mut new: Vec<Link> = Vec::new();
        for link in links {
            if room > 0 && self.known.insert(link.url.clone()) {
                room -= 1;
                new.push(link);
            }
        }
        let has_new = !new.is_empty() || navigations > self.navigations;
        self.navigations = navigations;
        if is_first || has_new {
            self.states.push(State { by: by.to_owned(), links: new, count });
        }
        has_new
    }
}

impl Book {
    /// Writes down the state that an act led to which was asked for, with all that it shows, be it new or not.
    fn enter_whole(&mut self, by: &str, window: &mut Window) {
        let mut links = window.links();
        let count = links.len();
        self.navigations = window.navigations().len();
        let room = limits::RENDER_LINKS_MAX.saturating_sub(self.whole);
        links.truncate(room);
        self.whole += links.len();
        self.known.extend(links.iter().map(|link| link.url.clone()));
        self.states.push(State { by: by.to_owned(), links, count });
    }
}

/// Tries what the page offers, the likeliest first.
fn explore(window: &mut Window, mut tries: u32, reach: Reach, book: &mut Book) {
    let mut fruitless: HashMap<String, u32> = HashMap::new();
    let mut clicked: HashSet<NodeId> = HashSet::new();
    let (mut scroll_brings, mut vain_scrolls) = (true, 0);
    for _ in 0..limits::RENDER_ACTS_MAX {
        if tries == 0 || window.engine.spent().is_some() {
            return;
        }
        if scroll_brings {
            note(window, "scroll");
            window.look_away();
            window.scroll_to_bottom();
            window.engine.run(reach);
            scroll_brings = book.enter("scroll", window);
            vain_scrolls = if scroll_brings { 0 } else { vain_scrolls + 1 };
            tries -= u32::from(!scroll_brings);
            continue;
        }
        let patience = |control: &Control| if control.rank == 0 { 1 } else { 2 };
        let next = controls(window).into_iter().filter(|control| {
            let is_spent = fruitless.get(&control.kind).is_some_and(|failed| *failed >= patience(control));
            // A "next" that stays where it is is pressed again and again; anything else once.
            !is_spent && (control.rank == 0 || !clicked.contains(&control.id))
        });
        let Some(control) = next.min_by_key(|control| control.rank) else { return };
        clicked.insert(control.id);
        note(window, &format!("click {}", control.words));
        window.click_node(control.id);
        window.engine.run(reach);
        if book.enter(&format!("click {}", control.words), window) {
            fruitless.remove(&control.kind);
            // A longer page may be scrolled again; one that has not grown by it twice does not.
            scroll_brings = control.rank == 0 && vain_scrolls < 2;
        } else {
            tries -= 1;
            *fruitless.entry(control.kind).or_default() += 1;
        }
    }
}

/// The controls of the page as it is, in the order of the document.
fn controls(window: &mut Window) -> Vec<Control> {
    let found = window.engine.with(|context| {
        let document = own_document(context);
        let candidates: Vec<NodeId> = read(context, |tree| {
            tree.descendants(document).filter(|id| tree.is_element(*id) && !is_shut(tree, *id)).collect()
        });
        let mut controls = Vec::new();
        for id in candidates {
            let listens = super::listens_to_clicks(id, context);
            controls.extend(read(context, |tree| control(tree, id, listens)));
            if controls.len() == limits::RENDER_CONTROLS_MAX {
                break;
            }
        }
        controls
    });
    found.unwrap_or_default()
}

/// Whether an element is out of use: disabled, hidden, or part of a form that is sent.
fn is_shut(tree: &Tree, id: NodeId) -> bool {
    let Some(element) = tree.element(id) else { return true };
    let says = |name: &str, value: &str| element.attribute(&name.into()).is_some_and(|given| given == value);
    tree.is_disabled(id) || element.attribute(&local_name!("hidden")).is_some() || says("aria-disabled", "true")
}

fn control(tree: &Tree, id: NodeId, listens: bool) -> Option<Control> {
    let element = tree.element(id)?;
    let attribute = |name: &str| element.attribute(&name.into()).unwrap_or_default();
    let local = &*element.name().local;
    let has_href = element.attribute(&local_name!("href")).is_some();
    let goes_nowhere = attribute("href").starts_with('#') || attribute("href").starts_with("javascript:");
    let reacts = listens || element.attribute(&local_name!("onclick")).is_some();
    let in_form = tree.ancestors(id).any(|above| {
        tree.element(above).is_some_and(|form| {
            form.is_html(&local_name!("form"))
                && form.attribute(&local_name!("method")).is_some_and(|method| method.eq_ignore_ascii_case("post"))
        })
    });
    let role = attribute("role");
    let is_control = match local {
        // An address of its own is a link like any other, whatever else a click does.
        "a" if has_href && !goes_nowhere => false,
        "a" => goes_nowhere || reacts,
        "button" => !in_form && (reacts || !matches!(attribute("type"), "submit" | "reset")),
        "input" => attribute("type") == "button" && !in_form,
        "summary" => true,
        "tr" | "td" | "li" | "div" | "span" | "article" | "section" | "h2" | "h3" | "h4" | "p" | "img" | "label" => {
            reacts || matches!(role, "button" | "tab" | "link")
        }
        _ => reacts && element.name().ns == html5ever::ns!(html) && !matches!(local, "html" | "body" | "form"),
    };
    if !is_control {
        return None;
    }
    let text = tree.text_content(id).unwrap_or_default();
    let mut words = String::new();
    for part in [attribute("aria-label"), attribute("title"), attribute("value"), &text] {
        words.extend([part, " "]);
        if words.len() > 200 {
            break;
        }
    }
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let low = words.to_lowercase();
    let class = attribute("class").to_lowercase();
    let named = |list: &[&str], text: &str| list.iter().any(|word| text.contains(word));
    // Long texts are content: a row is not "next" because a title says so.
    let is_short = low.chars().count() <= 40;
    if is_short && named(NEVER, &low) {
        return None;
    }
    let is_number = !low.is_empty() && low.chars().count() <= 5 && low.chars().all(|c| c.is_ascii_digit());
    let rank = if is_short && (named(MORE, &low) || ["next", "more", "load"].iter().any(|word| class.contains(word))) {
        0
    } else if is_number || class.contains("pag") {
        1
    } else if role == "tab" || class.contains("tab") || local == "summary" {
        2
    } else {
        3
    };
    let kind = format!("{local} {class} {role} {rank}");
    let words = words.chars().take(60).collect();
    Some(Control { id, kind, words, rank })
}

#[cfg(test)]
mod tests;
