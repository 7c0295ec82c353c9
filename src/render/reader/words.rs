//! What controls say about themselves, in the languages that sites of torrents speak.
//!
//! All lists are in lower case. Words of alphabets stand at the beginning of a word of the label, or are a whole word of it: "download" says
//! no "load", and a row that names an edition does not offer to "edit".

/// Words of controls that show more of a list; some are stems.
pub(super) const MORE: &[&str] = &[
    "next",
    "more",
    "older",
    "earlier",
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
    "avanti",
    "mostra altro",
    "carica di pi",
    "dalej",
    "seguinte",
    "ileri",
    "вперед",
    "вперёд",
    "показать больше",
    "далі",
    "наступн",
    "더 보기",
    "さらに",
    "后一页",
    "后页",
    "التالي",
    "المزيد",
    "بعدی",
    "הבא",
    "další",
    "nästa",
    "visa fler",
    "næste",
    "neste",
    "következő",
    "seuraava",
    "επόμεν",
    "trang sau",
    "xem thêm",
    "selanjutnya",
    "berikutnya",
    "lebih banyak",
    "următo",
    "следващ",
];

/// All that a control may say to turn on, and what stands beside it then: in a tree the same signs open a branch.
pub(super) const TURN_SIGNS: &[(&str, &str)] =
    &[(">", "<"), ("＞", "＜"), ("▶", "◀"), ("►", "◄"), ("⏵", "⏴"), ("❯", "❮"), (">>", "<<")];

/// Words of controls that lead back, or close what was opened.
pub(super) const BACK: &[&str] = &[
    "prev",
    "previous",
    "back",
    "newer",
    "«",
    "‹",
    "←",
    "上一页",
    "上一頁",
    "上页",
    "返回",
    "前へ",
    "戻る",
    "이전",
    "назад",
    "zurück",
    "précédent",
    "retour",
    "anterior",
    "volver",
    "voltar",
    "precedente",
    "indietro",
    "wstecz",
    "vorige",
    "terug",
    "geri",
];

/// Labels that are nothing else, of controls that lead to an end of a list; doubled arrows do where single ones stand beside them.
pub(super) const ENDS: &[&str] = &[
    "|<",
    "<|",
    "|‹",
    "|«",
    "«|",
    "⏮",
    "⇤",
    ">|",
    "|>",
    "›|",
    "»|",
    "|»",
    "⏭",
    "⇥",
    "<<",
    ">>",
    "first",
    "last",
    "first page",
    "last page",
    "go to first page",
    "go to last page",
    "首页",
    "首頁",
    "第一页",
    "第一頁",
    "尾页",
    "尾頁",
    "末页",
    "最后一页",
    "最初",
    "最後",
    "первая",
    "последняя",
    "erste",
    "letzte",
    "première",
    "dernière",
    "primera",
    "última",
    "primeira",
    "prima",
    "ultima",
    "pierwsza",
    "ostatnia",
    "eerste",
    "laatste",
    "ilk",
    "son",
];

/// Words of controls that close what was opened.
pub(super) const CLOSE: &[&str] = &[
    "close",
    "dismiss",
    "×",
    "✕",
    "✖",
    "关闭",
    "關閉",
    "閉じる",
    "닫기",
    "закрыть",
    "schließen",
    "fermer",
    "cerrar",
    "fechar",
    "chiudi",
    "zamknij",
    "sluiten",
    "kapat",
];

/// Words of controls that leave what a click has opened, with nothing done.
pub(super) const CANCEL: &[&str] = &[
    "cancel",
    "abort",
    "取消",
    "キャンセル",
    "취소",
    "отмена",
    "abbrechen",
    "annuler",
    "cancelar",
    "annulla",
    "anuluj",
    "annuleren",
    "iptal",
];

/// Words of controls that ask once more what was not answered.
pub(super) const RETRY: &[&str] = &[
    "retry",
    "try again",
    "reload",
    "重试",
    "重試",
    "重新加载",
    "再試行",
    "再読み込み",
    "다시 시도",
    "повторить",
    "повторить попытку",
    "попробовать снова",
    "попробуйте снова",
    "erneut versuchen",
    "nochmal versuchen",
    "neu laden",
    "réessayer",
    "recharger",
    "reintentar",
    "recargar",
    "tentar novamente",
    "tentar de novo",
    "recarregar",
    "riprova",
    "ricarica",
    "spróbuj ponownie",
    "ponów",
    "opnieuw proberen",
    "tekrar dene",
    "yeniden dene",
];

/// Words of controls that give what a page is about.
pub(super) const GET: &[&str] = &[
    "download",
    "torrent",
    "magnet",
    "get",
    "dl",
    "下载",
    "下載",
    "磁力",
    "种子",
    "ダウンロード",
    "다운로드",
    "скачать",
    "herunterladen",
    "télécharger",
    "descargar",
    "baixar",
    "scarica",
    "pobierz",
    "downloaden",
    "indir",
];

/// Words of controls that put what is chosen where a person would paste it from.
pub(super) const COPY: &[&str] = &[
    "copy",
    "copy links",
    "复制",
    "複製",
    "コピー",
    "복사",
    "копировать",
    "kopieren",
    "copier",
    "copiar",
    "copia",
    "kopiuj",
];

/// The same where a control says nothing else: more of them would be titles ("Snatch 2000").
pub(super) const NEVER_ALONE: &[&str] =
    &["snatch", "ignore", "mute", "cart", "to cart", "move to cart", "token", "use token", "use a token"];

/// Words of controls that a reader who only looks never touches, in lower case.
pub(super) const NEVER: &[&str] = &[
    "logout",
    "log out",
    "log off",
    "logoff",
    "log me out",
    "sign out",
    "sign me out",
    "signout",
    "delete",
    "remove",
    "report",
    "reply",
    "post",
    "submit",
    "send",
    "vote",
    "upvote",
    "downvote",
    "like",
    "likes",
    "unlike",
    "dislike",
    "thank",
    "thanks",
    "flag",
    "mark",
    "clear",
    "comment",
    "register",
    "sign up",
    "order",
    "checkout",
    "pay",
    "payment",
    "coins",
    "deletion",
    "deletes",
    "deleting",
    "removal",
    "removing",
    "payments",
    "paying",
    "purchasing",
    "credits",
    "raffle",
    "purchase",
    "save",
    "add",
    "join",
    "invite",
    "create",
    "new topic",
    "new thread",
    "👍",
    "👎",
    "❤",
    "♥",
    "♡",
    "☆",
    "★",
    "🚩",
    "⚑",
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
    "购买",
    "支付",
    "購入",
    "купить",
    "оплатить",
    "kaufen",
    "bezahlen",
    "acheter",
    "payer",
    "comprar",
    "pagar",
    "acquista",
    "kupić",
    "betalen",
];

/// Words of controls that take something away for good, whatever else they are about.
pub(super) const DELETE: &[&str] = &[
    "delete",
    "deletes",
    "deleting",
    "deletion",
    "remove",
    "removes",
    "removing",
    "removal",
    "rid",
    "erase",
    "destroy",
    "purge",
    "删除",
    "刪除",
    "削除",
    "삭제",
    "удалить",
    "löschen",
    "supprimer",
    "eliminar",
    "excluir",
    "elimina",
    "usuń",
    "verwijder",
    "sil",
];

/// Labels that are nothing else, of controls that take a record out of somebody's sight, or keep it there.
pub(super) const HIDES: &[&str] =
    &["hide", "mute", "ignore", "watch", "unwatch", "скрыть", "ausblenden", "masquer", "ocultar", "隐藏"];

/// Words of boxes by which somebody keeps something in mind, has a say, or chooses what is shown; names of them, too.
pub(super) const KEEPS: &[&str] = &[
    "fav",
    "favs",
    "faved",
    "favourites",
    "favorites",
    "favourited",
    "favorited",
    "star",
    "stars",
    "starred",
    "watch",
    "watched",
    "watching",
    "watchlist",
    "wishlist",
    "bookmarks",
    "bookmarked",
    "seen",
    "unseen",
    "unread",
    "poll",
    "polls",
    "ballot",
    "votes",
    "voting",
    "hide",
    "hides",
    "mute",
    "exclude",
    "filter",
    "filters",
    "favourite",
    "favorite",
    "bookmark",
    "deleted",
    "removed",
    "избранное",
    "скрыть",
    "ausblenden",
    "merken",
    "masquer",
    "ocultar",
    "nascondi",
    "ukryj",
    "verberg",
    "gizle",
    "收藏",
    "隐藏",
    "お気に入り",
];

/// Words of controls by which somebody answers for something, and who only looks does not, but where it is their age ([`AGE`]).
pub(super) const CONFIRM: &[&str] = &["confirm", "certify", "declare", "swear"];

/// Words of controls that let in who is old enough.
pub(super) const AGE: &[&str] = &[
    "18",
    "21",
    "my age",
    "of age",
    "legal age",
    "adult",
    "years old",
    "成年",
    "成人",
    "совершеннолет",
    "volljährig",
    "erwachsen",
    "majeur",
    "mayor de edad",
    "maior de idade",
    "maggiorenne",
    "pełnoletni",
    "meerderjarig",
];

/// Words of controls that lead away from a page which asks for leave to show itself.
pub(super) const LEAVE: &[&str] =
    &["leave", "exit", "i am not", "i'm not", "under 18", "not 18", "below 18", "younger", "too young"];

/// Words of controls that let a reader in: what stands before a page is answered before the page is read.
pub(super) const ENTER: &[&str] = &[
    "enter",
    "i agree",
    "agree",
    "accept",
    "proceed",
    "continue to",
    "i am over",
    "i'm over",
    "i am 18",
    "i'm 18",
    "yes, i",
    "进入",
    "進入",
    "同意",
    "我已满",
    "入る",
    "입장",
    "вход на сайт",
    "мне есть 18",
    "eintreten",
    "betreten",
    "akzeptieren",
    "entrer",
    "j'ai plus",
    "soy mayor",
    "wejdź",
    "binnengaan",
];

/// What authors call lists of choices that change how a page looks, and not what it shows.
pub(super) const LOOKS: &[&str] = &["lang", "locale", "theme", "currency", "skin", "style", "timezone"];

/// What authors call boxes that are ticked for the reader's own sake, or for what is shown, and not for a row; some are stems.
pub(super) const SETTINGS: &[&str] = &[
    "consent",
    "cookie",
    "gdpr",
    "privacy",
    "setting",
    "preference",
    "prefs",
    "option",
    "filter",
    "facet",
    "remember",
    "terms",
    "agree",
    "newsletter",
    "subscri",
    "notif",
    "theme",
    "toggle",
    "login",
    "register",
    "signup",
];

/// What authors call controls that a reader who only looks never touches, whatever they show: an icon says nothing.
pub(super) const NEVER_NAMES: &[&str] = &[
    "delete", "remove", "trash", "logout", "signout", "report", "vote", "upvote", "downvote", "like", "thank",
    "thanks", "ban",
];

/// What authors call the parts of a menu, and what does something to a record: none of them is a title.
pub(super) const ACTIONS: &[&str] =
    &["menu", "dropdown", "action", "actions", "act", "acts", "btn", "button", "buttons", "toolbar"];

/// How many of a text's words, in lower case, are among the words; of scripts without blanks, how many of the words are in it.
pub(super) fn count(words: &[&str], text: &str) -> usize {
    text.split_whitespace().filter(|word| says(words, word, true)).count()
}

/// Whether one of the words begins a word of a label, or is one where the label is to have it `whole`. Words of scripts without
/// letters of two cases stand anywhere.
pub(super) fn says(words: &[&str], label: &str, whole: bool) -> bool {
    words.iter().any(|word| {
        label.match_indices(word).any(|(at, _)| {
            let has_cases = |c: char| c.is_alphanumeric() && (c.is_ascii() || c.is_lowercase() || c.is_uppercase());
            let begins = !word.starts_with(has_cases) || !label[..at].ends_with(has_cases);
            // A number is one, and not how another begins: 21 is no part of 2104.
            let is_whole = whole || word.ends_with(|c: char| c.is_ascii_digit());
            let ends = !is_whole || !word.ends_with(has_cases) || !label[at + word.len()..].starts_with(has_cases);
            begins && ends
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_begin_and_not_within_others() {
        for (label, expected) in
            [("load more", true), ("download", false), ("下一页 2", true), ("ещё 20", true), ("furthermore", false)]
        {
            assert_eq!(says(MORE, label, false), expected, "{label}");
        }
        for (label, expected) in
            [("edit", true), ("debian edition", false), ("rate it", true), ("generate", false), ("删除它", true)]
        {
            assert_eq!(says(NEVER, label, true), expected, "{label}");
        }
        for (label, expected) in [("i am 18", true), ("18+", true), ("2104", false), ("1800 coins", false)] {
            assert_eq!(says(AGE, label, false), expected, "{label}");
        }
    }
}
