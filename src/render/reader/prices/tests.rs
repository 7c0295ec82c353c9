//! Unit tests of `reader::prices`.

use super::*;

#[test]
fn prices_are_known_and_other_numbers_are_none() {
    for label in [
        "get it for 5 points",
        "download (5 points)",
        "download (points: 5)",
        "get for 2 €",
        "get for 2€",
        "get for €1.50",
        "download $5",
        "download for 0,99 eur",
        "download usd 2.00",
        "get with 1 freeleech token",
        "get with a freeleech token",
        "download for 3 credits",
        "download 1 credit",
        "download for 1,000 coins",
        "download · 200 bonus points",
        "download for 50 bonus",
        "download for 500 bon",
        "скачать за 10 баллов",
        "скачать (30 руб.)",
        "herunterladen für 5 punkte",
        "télécharger (3 crédits)",
        "descargar por 5 puntos",
        "baixar por 5 pontos",
        "pobierz za 5 punktów",
        "pobierz 2 zł",
        "下载 5积分",
        "下载（魔力：100）",
        "ダウンロード 10ポイント",
    ] {
        assert!(names_one(label), "{label}");
    }
    for label in [
        "download",
        "5 seeds",
        "download (5 mb)",
        "download (1.5 gb)",
        "get 3 files",
        "download 2 of 5",
        "get page 3",
        "download mp3",
        "download 1080p",
        "download 10 bonus tracks",
        "get 2 torrents",
        "get a torrent",
        "points of view",
        "download vol. 5: points of view",
        "скачать 5 файлов",
        "下载 5 个文件",
        "télécharger 3 fichiers",
        "herunterladen (5 dateien)",
    ] {
        assert!(!names_one(label), "{label}");
    }
}
