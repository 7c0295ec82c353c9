//! Real-world pages, and the forms that a browser makes of them.

use super::*;

fn one(page: &str) -> Form {
    let mut forms = forms(page).unwrap();
    assert_eq!(forms.len(), 1, "{forms:#?}");
    forms.remove(0)
}

fn names(form: &Form) -> Vec<&str> {
    form.controls.iter().map(|control| &*control.name).collect()
}

#[test]
fn controls_belong_to_the_form_that_a_browser_gives_them_to() {
    // The form closes within the table, its controls are outside of it.
    let table = one("<table><form action=login.php method=POST><tr><td><input name=u></td></tr>\
                     <tr><td><input name=p type=password><input type=submit></td></tr></form></table>");
    assert_eq!((names(&table), table.method, &*table.action), (vec!["u", "p", ""], Method::Post, "login.php"));
    // By id, from anywhere; an id without a form means no owner.
    let by_id = one(
        "<input name=before form=f><form id=f><input name=in></form><input name=after form=f><input name=x form=g>",
    );
    assert_eq!(names(&by_id), ["before", "in", "after"]);
    // A nested form is ignored; a form that was closed crosswise does not prevent the next one.
    assert_eq!(names(&one("<form><input name=a><form action=x><input name=b></form>")), ["a", "b"]);
    let crosswise = forms("<form><div><input name=a></form><input name=b><form action=x><input name=c></div>").unwrap();
    let controls: Vec<Vec<&str>> = crosswise.iter().map(names).collect();
    assert_eq!(controls, [vec!["a", "b"], vec!["c"]]);
}

#[test]
fn labels_and_the_text_around_a_control_are_known() {
    let form = one("<form><label for=u>User <b>name</b></label><input id=u name=u>\
                    <label>Password <input name=p type=password></label>\
                    <table><tr><td>Stay:</td><td><input type=checkbox name=r> remember me</td></tr></table>\
                    <input name=q aria-label=' Code '><button>Log <i>in</i></button></form>");
    let of = |index: usize| &form.controls[index];
    assert_eq!(&*of(0).label, "User name");
    assert_eq!(&*of(1).label, "Password");
    assert_eq!((&*of(2).before, &*of(2).after, &*of(2).value), ("Stay:", "remember me", "on"));
    assert_eq!(&*of(3).label, "Code");
    assert_eq!((&*of(4).label, of(4).kind), ("Log in", Kind::Submit));
    assert_eq!(&*form.text, "User name Password Stay: remember me Log in");
}

#[test]
fn values_are_those_a_browser_shows() {
    let form = one("<form><select name=a><option disabled>x<option value=2>two<option>three</select>\
                    <select name=b><option>x<option selected value=y>z</select>\
                    <textarea name=c>\nline</textarea><input type=radio name=d value=1><input type=radio name=d value=2 checked>\
                    <input type=text name=e value=' v '><input type=nonsense name=f></form>");
    let values: Vec<&str> = form.controls.iter().map(|control| &*control.value).collect();
    assert_eq!(values, ["2", "y", "line", "1", "2", " v ", ""]);
    assert_eq!(form.controls[6].kind, Kind::Text);
    assert!(form.controls[4].is_checked && !form.controls[3].is_checked);
}

#[test]
fn what_is_disabled_or_not_shown_is_known() {
    let form = one("<form><fieldset disabled><legend><input name=a></legend><input name=b></fieldset>\
                    <div style='Display : none'><input name=c></div><input name=d hidden><input name=e disabled></form>");
    let disabled: Vec<bool> = form.controls.iter().map(|control| control.is_disabled).collect();
    assert_eq!(disabled, [false, true, false, false, true]);
    let concealed: Vec<bool> = form.controls.iter().map(|control| control.is_concealed).collect();
    assert_eq!(concealed, [false, false, true, true, false]);
    let popup = one("<div style='display:none'><form><input name=a></form></div>");
    assert!(popup.is_hidden && !popup.controls[0].is_concealed);
}

#[test]
fn password_fields_without_a_form_come_with_what_stands_around_them() {
    let form =
        one("<body><input name=q type=search><div><div><input id=user></div><div><input type=password id=pass></div>\
                    <button type=button onclick='go()'>Sign in</button></div>");
    assert!(!form.is_element);
    let kinds: Vec<Kind> = form.controls.iter().map(|control| control.kind).collect();
    assert_eq!(kinds, [Kind::Text, Kind::Password, Kind::Button]);
    assert_eq!(&*form.text, "Sign in");
}

#[test]
fn a_page_of_forms_without_end_is_bounded() {
    let page = format!("{}<form>{}", "<form></form>".repeat(2_000), "<input type=password>".repeat(5_000));
    let forms = forms(&page).unwrap();
    assert!(
        forms.len() <= 2 * FORMS_PER_PAGE_MAX && forms.iter().all(|form| form.controls.len() <= CONTROLS_PER_FORM_MAX)
    );
    assert!(super::forms(&"<form><div>".repeat(100_000)).is_err());
}
