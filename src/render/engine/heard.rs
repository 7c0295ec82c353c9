//! Responses to the page's scripts, stored for the reader: the response behind a list may contain more about its rows than they show.
//!
//! Bounded in bytes and in count; responses that are too long are dropped, and so are those that arrive while it is full.

use std::collections::HashMap;

use crate::limits;
use crate::wire::{Answer, Asker, Request, RequestId};
use gleaner_page::shortcut::{self, Exchange};

#[derive(Default)]
pub struct Heard {
    under_way: HashMap<RequestId, Exchange>,
    answers: Vec<Exchange>,
    bytes: usize,
}

impl Heard {
    pub(super) fn asked(&mut self, id: RequestId, request: &Request) {
        let may_be_data = matches!(request.asker, Asker::Fetch | Asker::Xhr | Asker::Script);
        let is_long = request.url.len() + request.body.len() > 2 * limits::URL_BYTES_MAX;
        if !may_be_data || is_long || self.under_way.len() >= limits::RENDER_FAULTS_MAX {
            return;
        }
        let exchange = Exchange {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: Vec::new(),
            body: String::from_utf8_lossy(&request.body).into_owned(),
            status: 0,
            answer: String::new(),
        };
        self.under_way.insert(id, exchange);
    }

    pub(super) fn answered(&mut self, id: RequestId, answer: &Answer) {
        let Some(exchange) = self.under_way.remove(&id) else { return };
        let Ok(response) = answer else { return };
        let room = limits::RENDER_HEARD_BYTES_MAX.saturating_sub(self.bytes);
        let is_full = self.answers.len() >= limits::SHORTCUT_EXCHANGES_MAX;
        if response.status != 200 || response.body.len() > room.min(limits::SHORTCUT_ANSWER_BYTES_MAX) || is_full {
            return;
        }
        let Ok(text) = std::str::from_utf8(&response.body) else { return };
        if !shortcut::is_data(text) {
            return;
        }
        let heard = Exchange { status: response.status, answer: text.to_owned(), ..exchange };
        self.bytes += heard.bytes();
        self.answers.push(heard);
    }

    /// The JSON responses since the last call.
    pub fn take(&mut self) -> Vec<Exchange> {
        self.bytes = 0;
        std::mem::take(&mut self.answers)
    }
}
