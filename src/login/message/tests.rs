//! Unit tests of `message`.

use crate::view::View;

const FORM: &str = "<form method=post><label>Name <input name=u></label> Password: <input type=password name=p></form>";

#[test]
fn the_message_of_a_form_is_the_new_text_beside_it_and_a_marked_one_first() {
    for (before, page, expected) in [
        ("", "<p>Sorry, <b>no match</b>.</p>{}", Some("Sorry, no match.")),
        ("", "Sorry, no match.{}", Some("Sorry, no match.")),
        ("", "{}<p>Não deu.</p>", Some("Não deu.")),
        ("", "<div class='box errors'>Nope.</div><p>We are a forum.</p>{}", Some("Nope.")),
        ("", "<h1>Log in</h1><ul id=flash><li>Nope.</ul><hr>{}<p>Since 2003</p>", Some("Nope.")),
        ("<p>We are a forum.</p>{}", "<p>We are a forum.</p>{}", None),
        ("<p>We are a forum.</p>{}", "<p>Hm.</p><p>We are a forum.</p>{}", Some("Hm.")),
        ("", "<h1>Log in</h1><a href=/lost>Lost it?</a><script>var x = 'y'</script>{}", None),
        ("<p>x</p>", "<form><p>Find something</p></form><p>Nope.</p>{}", Some("Nope.")),
    ] {
        let view = |page: &str| View::of(&page.replace("{}", FORM)).unwrap();
        let (earlier, page) = (view(&format!("{before}{FORM}")), view(page));
        let form = page.forms.iter().position(|form| form.controls.len() == 2).unwrap();
        assert_eq!(page.message_at(form, Some(&earlier)), expected);
    }
}

#[test]
fn a_page_of_a_hundred_thousand_texts_beside_its_form_is_read_to_an_end() {
    // Would take minutes if each text searched its block for fields again.
    for (texts, expected) in [("a<hr>", Some("a")), ("<hr>1", None), ("<p></p>1<b>2</b>", None)] {
        let page = View::of(&format!("<div>{}{FORM}</div>", texts.repeat(100_000))).unwrap();
        assert_eq!(page.message_at(0, None), expected, "{texts}");
    }
}

#[test]
fn a_page_of_nothing_but_texts_is_read_to_an_end() {
    let before = View::of(&("<p>x".to_owned() + FORM)).unwrap();
    let page = View::of(&("<p>x".repeat(20_000) + FORM + "<p>Nope.")).unwrap();
    assert_eq!(page.message_at(0, Some(&before)), None, "what stands too far down is not looked at");
    let page = View::of(&format!("<p>{}</p>{FORM}", "many words ".repeat(2_000))).unwrap();
    assert_eq!(page.message_at(0, Some(&before)), None, "so long a text is no message");
}
