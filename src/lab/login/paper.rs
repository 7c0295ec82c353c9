//! The paper's own features of a form, as a baseline for ours.

use gleaner_login::features::{Evidence, Feature};
use gleaner_login::form::{Control, Kind, Method};

/// The paper's 16 features (BT Table 1) as numbers; the set of input types is one column for each type that no other
/// feature covers.
pub const PAPER: &[Feature] = &[
    Feature { name: "bt_method_post", says: "method is POST", of: |e| yes(e.form().method == Method::Post) },
    Feature {
        name: "bt_action_log",
        says: "action starts with log",
        of: |e| {
            let path = e.form().action.split(['?', '#']).next().unwrap_or_default();
            let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            yes(file.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("log")))
        },
    },
    Feature { name: "bt_types_hidden", says: "has a hidden input", of: |e| yes(kinds(e, &[Kind::Hidden])) },
    Feature { name: "bt_types_radio", says: "has a radio input", of: |e| yes(kinds(e, &[Kind::Radio])) },
    Feature { name: "bt_types_image", says: "has an image input", of: |e| yes(kinds(e, &[Kind::Image])) },
    Feature { name: "bt_has_text", says: "has a text input", of: |e| yes(kinds(e, &[Kind::Text, Kind::Email])) },
    Feature { name: "bt_has_password", says: "has a password input", of: |e| yes(kinds(e, &[Kind::Password])) },
    Feature {
        name: "bt_has_submit",
        says: "has a submit input",
        of: |e| yes(e.form().controls.iter().any(|control| control.kind == Kind::Submit && !control.is_button_element)),
    },
    Feature {
        name: "bt_has_button",
        says: "has a button",
        of: |e| yes(e.form().controls.iter().any(|control| control.is_button_element || control.kind == Kind::Button)),
    },
    Feature {
        name: "bt_button_submits",
        says: "type of the button is submit",
        of: |e| yes(e.form().controls.iter().any(|control| control.is_button_element && control.kind == Kind::Submit)),
    },
    Feature {
        name: "bt_text_name",
        says: "name of the text input is user, username, …",
        of: |e| named(e, &[Kind::Text, Kind::Email], "user"),
    },
    Feature {
        name: "bt_password_name",
        says: "name of the password input is passwd, password, …",
        of: |e| named(e, &[Kind::Password], "pass"),
    },
    Feature { name: "bt_word_login", says: "contains 登录 or login", of: |e| contains(e, &["登录", "login"]) },
    Feature {
        name: "bt_word_user", says: "contains 用户名 or username", of: |e| contains(e, &["用户名", "username"])
    },
    Feature {
        name: "bt_word_password", says: "contains 密码 or password", of: |e| contains(e, &["密码", "password"])
    },
    Feature { name: "bt_word_validity", says: "contains 登录有效期", of: |e| contains(e, &["登录有效期"]) },
    Feature { name: "bt_word_question", says: "contains 安全问题", of: |e| contains(e, &["安全问题"]) },
    Feature { name: "bt_word_mode", says: "contains 登录模式", of: |e| contains(e, &["登录模式"]) },
];

fn kinds(evidence: &Evidence, wanted: &[Kind]) -> bool {
    evidence.form().controls.iter().any(|control| wanted.contains(&control.kind))
}

fn named(evidence: &Evidence, wanted: &[Kind], word: &str) -> f32 {
    let is = |control: &Control| wanted.contains(&control.kind) && control.name.to_ascii_lowercase().contains(word);
    yes(evidence.form().controls.iter().any(is))
}

fn contains(evidence: &Evidence, words: &[&str]) -> f32 {
    let text = evidence.form().text.to_lowercase();
    yes(words.iter().any(|word| text.contains(word)))
}

fn yes(is: bool) -> f32 {
    f32::from(u8::from(is))
}
