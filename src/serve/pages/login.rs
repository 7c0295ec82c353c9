//! Logging in with a token, and out.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use maud::html;

use super::visit::{Form, Visit};
use crate::problem::Problem;
use crate::tokens::Scope;
use crate::{Outlet, session};

/// `/login`: for anybody.
pub async fn page(State(outlet): State<Arc<Outlet>>, request: Request<Body>) -> Result<Response, Problem> {
    let (parts, _) = request.into_parts();
    let visit = Visit::of(&parts, &outlet)?;
    let body = html! {
        section.login aria-labelledby="login" {
            header { h2 #login { "Log in" } }
            div.pad {
                p.soft { "Show a token of this gleaner once; this browser is admitted for 30 days, or until the token is revoked." }
                form method="post" action=(visit.to("/session")) {
                    p.search {
                        input type="password" name="token" aria-label="token" autocomplete="current-password" required autofocus;
                        button.main { "log in" }
                    }
                }
                p.soft.small { "Make one on the machine itself:" }
                p.fix { (super::status::command(&visit.command("token new NAME --scope admin"))) }
                p.soft.small { code { "--scope read" } " lets look and press nothing." }
            }
        }
    };
    Ok(visit.page("log in", "", &body))
}

/// `/session/end`: logs out.
pub async fn end(State(outlet): State<Arc<Outlet>>, request: Request<Body>) -> Result<Response, Problem> {
    let headers = request.headers().clone();
    let (visit, _) = Form::read(&outlet, request, Scope::Torznab).await?;
    let cleared = session::ended(&outlet, &headers, &visit.caller.links.base, visit.now);
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, visit.to("/login"))]).into_response();
    response.headers_mut().insert(header::SET_COOKIE, cleared.unwrap_or(HeaderValue::from_static("")));
    Ok(response)
}
