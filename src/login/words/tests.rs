//! Unit tests of `words`.

use super::*;

#[test]
fn every_word_of_the_table_is_written_as_texts_are_folded() {
    let (_, topics) = &*SEARCH;
    assert_eq!(topics.len() + crate::fields::NEXT.len(), rows("form").count(), "a topic of the table has another name");
    for (name, topic) in NAMES {
        assert!(topics.contains(&topic), "models/words/form.tsv: no words of {name}");
    }
    for word in rows("form").map(|row| row.phrase) {
        let folded = Folded::of(word);
        assert_eq!(folded.as_str().trim(), word.trim(), "`{word}` would never be met");
        assert!(word.trim().chars().count() > usize::from(word.is_ascii() && !word.contains(' ')), "{word:?}");
    }
}

#[test]
fn topics_are_told_in_each_language() {
    for (text, topic) in [
        ("Log in", Topic::Login),
        ("會員登入", Topic::Login),
        ("登录", Topic::Login),
        ("ログイン", Topic::Login),
        ("로그인", Topic::Login),
        ("ВОЙТИ", Topic::Login),
        ("Anmelden", Topic::Login),
        ("Se connecter", Topic::Login),
        ("INICIAR SESIÓN", Topic::Login),
        ("Iniciar sessão", Topic::Login),
        ("Accedi", Topic::Login),
        ("Zaloguj się", Topic::Login),
        ("Inloggen", Topic::Login),
        ("GİRİŞ YAP", Topic::Login),
        ("Şifremi unuttum", Topic::Reset),
        ("Mot de passe oublié ?", Topic::Reset),
        ("userName", Topic::User),
        ("忘記密碼?", Topic::Reset),
        ("Kayıt Ol", Topic::Register),
        ("Créer un compte", Topic::Register),
    ] {
        assert!(Folded::of(text).tally().has(topic), "{text}: {}", Folded::of(text).as_str());
    }
}

#[test]
fn words_within_words_of_another_sense_are_not_met() {
    for (text, topic) in [
        ("blog in English", Topic::Login),
        ("design in Rust", Topic::Login),
        ("the author", Topic::Login),
        ("joint", Topic::Register),
        ("compass", Topic::Password),
    ] {
        assert!(!Folded::of(text).tally().has(topic), "{text}");
    }
}
