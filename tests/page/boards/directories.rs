//! Directory listings as servers generate them, and pages that are not boards.

use std::fmt::Write as _;

use gleaner_page::boards::Times;

use super::read;

/// Files of a directory.
const FILES: usize = 60;

const AT: &str = "http://files.example/pub/linux/";

/// A list of files; `line` writes the row of a number.
fn listed(head: &str, line: impl Fn(usize) -> String, foot: &str) -> String {
    let mut text = format!("<html><head><title>Index of /pub/linux/</title></head><body>{head}");
    for number in 0..FILES {
        let _ = writeln!(text, "{}", line(number));
    }
    text + foot + "</body></html>"
}

fn name(number: usize) -> String {
    format!("distribution-{number:03}-amd64.iso.torrent")
}

fn nginx() -> String {
    let line = |number| {
        let name = name(number);
        format!(
            "<a href=\"{name}\">{name}</a>   {:02}-Nov-2026 10:{:02}   {}",
            1 + number % 20,
            number,
            20_000 + number
        )
    };
    listed("<h1>Index of /pub/linux/</h1><hr><pre><a href=\"../\">../</a>\n", line, "</pre><hr>")
}

fn apache() -> String {
    let line = |number| {
        let name = name(number);
        format!(
            "<tr><td valign=\"top\">&nbsp;</td><td><a href=\"{name}\">{name}</a></td><td align=\"right\">2026-11-{:02} 10:{number:02}  </td>\
             <td align=\"right\"> {}K</td><td>&nbsp;</td></tr>",
            1 + number % 20,
            20 + number,
        )
    };
    let head = "<h1>Index of /pub/linux</h1><table><tr><th>&nbsp;</th><th><a href=\"?C=N;O=D\">Name</a></th>\
                <th><a href=\"?C=M;O=A\">Last modified</a></th><th><a href=\"?C=S;O=A\">Size</a></th><th>Description</th></tr>\
                <tr><td>&nbsp;</td><td><a href=\"/pub/\">Parent Directory</a></td><td>&nbsp;</td><td align=\"right\">  - </td><td>&nbsp;</td></tr>";
    listed(head, line, "</table>")
}

fn lighttpd() -> String {
    let line = |number| {
        let name = name(number);
        format!(
            "<tr><td class=\"n\"><a href=\"{name}\">{name}</a></td><td class=\"m\">2026-Nov-{:02} 10:{number:02}:00</td>\
             <td class=\"s\">{}.1K</td><td class=\"t\">application/x-bittorrent</td></tr>",
            1 + number % 20,
            20 + number,
        )
    };
    let head = "<h2>Index of /pub/linux/</h2><div class=\"list\"><table><thead><tr><th>Name</th><th>Last Modified</th><th>Size</th>\
                <th>Type</th></tr></thead><tbody><tr class=\"d\"><td class=\"n\"><a href=\"../\">..</a>/</td><td class=\"m\">&nbsp;</td>\
                <td class=\"s\">- &nbsp;</td><td class=\"t\">Directory</td></tr>";
    listed(head, line, "</tbody></table></div>")
}

fn python() -> String {
    let line = |number| format!("<li><a href=\"{0}\">{0}</a></li>", name(number));
    listed("<h1>Directory listing for /pub/linux/</h1><hr><ul>", line, "</ul><hr>")
}

#[test]
fn directories_are_lists_of_files() {
    for (server, page, timed) in [
        ("nginx", nginx(), true),
        ("apache", apache(), true),
        ("lighttpd", lighttpd(), true),
        ("python", python(), false),
    ] {
        let page = read(&page, AT);
        assert_eq!((page.rows.len(), page.sub_boards.len()), (FILES, 0), "{server}");
        assert_eq!(page.rows.iter().all(|row| row.last.is_some()), timed, "{server}");
        assert_eq!(page.times == Times::None, !timed, "{server}");
    }
}

#[test]
fn pages_that_are_no_board_give_no_rows() {
    let menu = "<ul id=menu><li><a href=\"/\">Home</a></li><li><a href=\"/search.php\">Search</a></li><li><a href=\"/help.php\">Help</a></li></ul>";
    let login = "<form method=post action=\"/login.php\"><table><tr><td>User<td><input name=user></tr><tr><td>Password<td>\
                 <input type=password name=pass></tr></table><a href=\"/lost.php\">Lost it?</a></form>";
    let register = "<form method=post><dl><dt>Name<dd><input name=n><dt>Mail<dd><input name=m><dt>Password<dd><input type=password name=p>\
                    <dt>Again<dd><input type=password name=q></dl><p><a href=\"/rules.php\">The rules</a></p></form>";
    let words = "<h2>Welcome</h2><p>You must <a href=\"/login.php\">log in</a> or <a href=\"/register.php\">register</a> first.</p>";
    for body in [login, register, words] {
        let page = read(&format!("<html><body>{menu}{body}</body></html>"), "http://board.example/login.php");
        let titles: Vec<&str> = page.rows.iter().map(|row| row.title.as_str()).collect();
        assert!(page.rows.is_empty(), "{titles:?}");
    }
}
