//! Lists whose rows are not all clicked, since responses to the page's scripts show where each of them leads.

use super::*;
use crate::wire::{Answer, Request, RequestId, Response};

/// A site whose interface answers with pages of a list, and with a record's details.
#[derive(Default)]
struct Interface(Vec<(RequestId, String)>);

impl Net for Interface {
    fn start(&mut self, id: RequestId, request: Request) {
        self.0.push((id, request.url));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let (id, url) = self.0.remove(0);
        let last = url.rsplit(['/', '=']).next().and_then(|text| text.parse::<usize>().ok()).unwrap_or_default();
        let category =
            |id: usize| if id == 33 { "elsewhere" } else { ["a", "b", "c", "d", "e", "f", "g", "h"][id % 8] };
        let told = |id: usize| {
            let mut record = serde_json::json!({ "id": id, "title": format!("Title {id}"), "size": 1_000 + id });
            if url.contains("kinds") || !url.contains("page=") {
                record["category"] = category(id).into();
            }
            record
        };
        let body = match url.contains("page=") {
            true => {
                serde_json::json!({ "items": (last * 20 + 1..=last * 20 + 20).map(told).collect::<Vec<_>>(), "total": 60 })
            }
            false => told(last),
        };
        let response = Response {
            url,
            status: 200,
            status_text: "OK".into(),
            body: body.to_string().into_bytes(),
            ..Response::default()
        };
        (id, Ok(response))
    }
}

/// A list of 60 rows on three pages, whose buttons open a dialog that fetches the details and shows where the file is.
fn list(address: &str, class: &str, back: &str) -> String {
    format!(
        "<table><tbody id=rows></tbody></table>{back}<button id=next>Next</button><div id=dialog hidden></div><script>
        let page = 0, clicks = 0;
        const load = async () => {{
            const {{ items }} = await (await fetch('/api/list?page=' + page)).json();
            rows.innerHTML = items.map(x => `<tr class='${{{class}}}'><td>${{x.title}}</td><td>${{x.size}}</td><td><button data-id=${{x.id}}>Details</button></td></tr>`).join('');
            next.disabled = page == 2;
        }};
        next.onclick = () => {{ page++; load() }};
        rows.onclick = async event => {{
            const id = Number(event.target.dataset.id);
            if (!id) return;
            clicks++;
            const x = await (await fetch('/api/list/' + id)).json();
            dialog.hidden = false;
            dialog.innerHTML = `<h4>${{x.title}}</h4><a href='{address}'>file</a><button onclick='dialog.hidden = true'>Close</button>`;
        }};
        load()</script>"
    )
}

fn read_list(address: &str) -> (Vec<String>, usize, Vec<String>) {
    let (files, clicks, inferred, cut) = read_of(&list(address, "''", ""));
    assert_eq!(cut, None);
    (files, clicks, inferred)
}

fn read_of(html: &str) -> (Vec<String>, usize, Vec<String>, Option<Cut>) {
    let net = || Box::new(Interface::default()) as Box<dyn Net>;
    let read = read_on(net, html, &[], Seeks::ALL, "clicks", Viewport::default());
    let mut files: Vec<String> = read.urls().into_iter().map(str::to_owned).collect();
    files.sort();
    files.dedup();
    let inferred = read.acts().into_iter().filter(|by| by.starts_with("inferred")).map(str::to_owned).collect();
    (files, read.value.parse().unwrap(), inferred, read.told.cut)
}

fn files(of: impl Fn(usize) -> String) -> Vec<String> {
    let mut files: Vec<String> = (1..=60).map(|id| format!("http://site.test/{}", of(id))).collect();
    files.sort();
    files
}

#[test]
fn a_list_whose_answers_say_where_its_rows_lead_is_turned_and_few_of_its_rows_are_clicked() {
    let (found, clicks, inferred) = read_list("/dl/${id}.torrent");
    assert_eq!(found, files(|id| format!("dl/{id}.torrent")));
    assert!((6..=15).contains(&clicks), "{clicks} clicks");
    assert_eq!(inferred, ["inferred from GET /api/list: /dl/{id}.torrent"]);
}

#[test]
fn a_row_that_leads_elsewhere_has_all_rows_clicked_that_stand() {
    let (found, clicks, inferred) = read_list("${id == 9 ? \"/other/9\" : `/dl/${id}.torrent`}");
    let wanted = files(|id| if id == 9 { "other/9".into() } else { format!("dl/{id}.torrent") });
    assert!(wanted.iter().all(|file| found.contains(file)), "{found:?}");
    assert!(clicks >= 58 && inferred.is_empty(), "{clicks} clicks, {inferred:?}");
}

#[test]
fn links_that_no_answer_of_the_list_tells_are_clicked_for() {
    for address in ["/dl/${id}.torrent?s=${(id * 7919 + 13).toString(16)}", "/dl/${id * 3 + 500}.torrent"] {
        let (found, clicks, inferred) = read_list(address);
        assert_eq!((found.len(), clicks), (60, 60), "{address}");
        assert!(inferred.is_empty());
    }
}

#[test]
fn rows_that_a_member_or_their_look_tells_from_others_are_clicked_and_where_they_lead_is_inferred_for_no_other() {
    for (what, wrong, class) in [
        ("one of many categories", "x.category == 'elsewhere'", "''"),
        ("a class of its row", "id == 33 || id == 34", "x.id == 33 || x.id == 34 ? 'outer' : ''"),
    ] {
        let (found, clicks, inferred, cut) = read_of(
            &list(&format!("${{{wrong} ? '/other/' + id : `/dl/${{id}}.torrent`}}"), class, "")
                .replace("?page", "?kinds=1&page"),
        );
        let is_wrong = |id: usize| id == 33 || id == 34 && class != "''";
        assert_eq!(
            found,
            files(|id| if is_wrong(id) { format!("other/{id}") } else { format!("dl/{id}.torrent") }),
            "{what}"
        );
        assert!(clicks < 30 && inferred.len() == 1 && cut.is_none(), "{what}: {clicks} clicks, {inferred:?}, {cut:?}");
    }
}

#[test]
fn rows_that_were_passed_when_nothing_is_inferred_any_more_are_gone_back_to_or_told() {
    // The eighth is on the first page and not verified; the one on the last page is.
    let address = "${[8, 43].includes(id) ? '/other/' + id : `/dl/${id}.torrent`}";
    let back = "<button onclick='if (page) { page--; load() }'>Previous</button>";
    let (found, clicks, inferred, cut) = read_of(&list(address, "''", back));
    let wanted = files(|id| if [8, 43].contains(&id) { format!("other/{id}") } else { format!("dl/{id}.torrent") });
    assert_eq!((found, cut), (wanted, None), "{clicks} clicks, {inferred:?}");
    let (found, clicks, inferred, cut) = read_of(&list(address, "''", ""));
    assert!(cut.is_some_and(|cut| cut.bound == Bound::Unopened && cut.left > 20), "{clicks} clicks, {inferred:?}");
    assert!(found.iter().any(|file| file.ends_with("/other/43")), "{found:?}");
}

#[test]
fn rows_that_were_passed_on_the_first_of_numbered_pages_are_gone_back_to() {
    let address = "${[8, 43].includes(id) ? '/other/' + id : `/dl/${id}.torrent`}";
    let wanted = files(|id| if [8, 43].contains(&id) { format!("other/{id}") } else { format!("dl/{id}.torrent") });
    for (chosen, other) in [
        ("<b>${n}</b>", "<button onclick='page = ${n} - 1; load()'>${n}</button>"),
        ("<a class=active>${n}</a>", "<a href=# onclick='page = ${n} - 1; load(); return false'>${n}</a>"),
    ] {
        for ends in [
            ["", ""],
            ["<button onclick='page--; load()'>Prev</button>", "<button onclick='page++; load()'>Next</button>"],
        ] {
            let [back, on] = ends;
            let pages = format!(
                "next.innerHTML = (page ? \"{back}\" : '') + [1, 2, 3].map(n => n == page + 1 ? `{chosen}` : `{other}`).join('') + (page < 2 ? \"{on}\" : '');"
            );
            let html = list(address, "''", "");
            let html = html
                .replace("<button id=next>Next</button>", "<nav id=next></nav>")
                .replace("next.disabled = page == 2;", &pages)
                .replace("next.onclick = () => { page++; load() };", "");
            let (mut found, clicks, inferred, cut) = read_of(&html);
            found.retain(|file| !file.ends_with('#'));
            assert_eq!((&found, cut), (&wanted, None), "{other}{back}: {clicks} clicks, {inferred:?}");
        }
    }
}
