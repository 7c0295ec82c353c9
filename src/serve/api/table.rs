//! The endpoints of the JSON API as a table of values: the router and the document (`openapi`) are both made of it, so neither has what the other lacks. What
//! an endpoint takes and gives are types; their schemas are derived from them.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequestParts as _, Query as QueryOf, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::from_fn;
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodRouter;
use axum::{Extension, Json, Router, routing};
use gleaner_store::crawldb::CrawlDbError;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, MapDeserializer};

use crate::access::{self, Caller};
use crate::acts;
use crate::limits::BODY_BYTES_MAX;
use crate::problem::Problem;
use crate::tokens::Scope;
use crate::{Inside, Outlet, Told};

/// How a schema is made.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// A report that the service makes of one of its sites, or of itself.
pub struct Report {
    pub shape: Shape,
    make: Box<dyn Fn(String) -> Told<Option<serde_json::Value>> + Send + Sync>,
}

impl Report {
    /// `make` is asked for a site by name; None if it has nothing to report.
    pub fn of<T, F>(make: impl Fn(String) -> F + Send + Sync + 'static) -> Self
    where
        T: Serialize + JsonSchema,
        F: Future<Output = Result<Option<T>, CrawlDbError>> + Send + 'static,
    {
        let make = move |site| -> Told<Option<serde_json::Value>> {
            let made = make(site);
            Box::pin(async move { Ok(made.await?.and_then(|made| serde_json::to_value(made).ok())) })
        };
        Self { shape: |generator| generator.subschema_for::<T>(), make: Box::new(make) }
    }

    /// Makes it.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn make(&self, site: &str) -> Result<Option<serde_json::Value>, Problem> {
        (self.make)(site.to_owned()).await.map_err(|error| Problem::ours(&error))
    }
}

/// No parameters.
#[derive(Debug, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// A request: what its path and its query (of a POST its body) name.
pub struct Call<P, Q> {
    pub outlet: Arc<Outlet>,
    pub caller: Caller,
    pub headers: HeaderMap,
    pub path: P,
    pub query: Q,
}

/// What an endpoint gives.
pub enum Gives {
    Json(Shape),
    /// The schema is the service's.
    Report(fn(&Inside) -> &Report),
    /// As server-sent events.
    Events,
}

/// One row of the table.
pub struct Endpoint {
    pub method: &'static str,
    /// Below `/api/v1`.
    pub path: &'static str,
    /// What it gives, in a sentence.
    pub summary: &'static str,
    pub scope: Scope,
    pub names: Shape,
    pub parameters: Shape,
    /// Of a POST.
    pub body: Option<Shape>,
    pub gives: Gives,
    /// Statuses beside those that every request may get, with what they mean.
    pub refusals: Vec<(u16, &'static str)>,
    handler: MethodRouter<Arc<Outlet>>,
}

impl Endpoint {
    /// What anybody who may read can ask for.
    pub fn get<P, Q, T, F>(
        path: &'static str,
        summary: &'static str,
        handler: impl Fn(Call<P, Q>) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        T: Serialize + JsonSchema,
        F: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        let handler = routing::get(async move |state, caller, request| -> Result<Response, Problem> {
            let made = handler(called(state, caller, request).await?).await?;
            Ok(Json(made).into_response())
        });
        let gives = Gives::Json(|generator| generator.subschema_for::<T>());
        Self::new("get", path, summary, (shape::<P>(), shape::<Q>()), gives, handler)
    }

    /// The same for a report of the service on the site that the path names, if it names one.
    pub fn report(
        path: &'static str,
        summary: &'static str,
        of: fn(&Inside) -> &Report,
        missing: &'static str,
    ) -> Self {
        let handler = routing::get(async move |state, caller, request| -> Result<Response, Problem> {
            let call: Call<OfSite, Nothing> = called(state, caller, request).await?;
            let name = call.path.name;
            if !name.is_empty() {
                call.outlet.must_know(&name).await?;
            }
            let made = of(&call.outlet.inside).make(&name).await?;
            let made =
                made.ok_or_else(|| Problem::not_found(format!("there is no such report of {name} yet"), missing))?;
            Ok(Json(made).into_response())
        });
        let names = if path.contains("{name}") { shape::<OfSite>() } else { shape::<Nothing>() };
        let of_site = Self::new("get", path, summary, (names, shape::<Nothing>()), Gives::Report(of), handler);
        if path.contains("{name}") {
            of_site.may_be(404, "no site has this name, or nothing is known of it yet")
        } else {
            of_site
        }
    }

    /// A stream of events.
    pub fn events<Q, F>(
        path: &'static str,
        summary: &'static str,
        handler: impl Fn(Call<Nothing, Q>) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        F: Future<Output = Result<Response, Problem>> + Send + 'static,
    {
        let handler = routing::get(async move |state, caller, request| -> Result<Response, Problem> {
            handler(called(state, caller, request).await?).await
        });
        Self::new("get", path, summary, (shape::<Nothing>(), shape::<Q>()), Gives::Events, handler)
    }

    /// What changes something, for those who may.
    pub fn post<P, B, T, F>(
        path: &'static str,
        summary: &'static str,
        handler: impl Fn(Call<P, B>) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        B: DeserializeOwned + JsonSchema + Send + 'static,
        T: Serialize + JsonSchema,
        F: Future<Output = Result<T, Problem>> + Send + 'static,
    {
        let answered =
            async move |State(outlet): State<Arc<Outlet>>, Extension(caller): Extension<Caller>, request: Request| {
                let (mut parts, body) = request.into_parts();
                let Nothing {} = query(&parts.uri)?;
                let (path, query) = (names(&mut parts).await?, read(body).await?);
                let made = handler(Call { outlet, caller, headers: parts.headers, path, query }).await?;
                Ok::<Response, Problem>(Json(made).into_response())
            };
        let handler = routing::post(answered).route_layer(from_fn(acts::guarded));
        let gives = Gives::Json(|generator| generator.subschema_for::<T>());
        let names = (shape::<P>(), shape::<Nothing>());
        let body = Some(shape::<B>());
        Self { scope: Scope::Admin, body, ..Self::new("post", path, summary, names, gives, handler) }
            .may_be(404, "no site has this name")
            .may_be(409, "that cannot be done with this site now")
            .may_be(413, "the body is too large")
            .may_be(415, "the body is not JSON")
            .may_be(503, "the service ends, or its database cannot be written")
    }

    fn new(
        method: &'static str,
        path: &'static str,
        summary: &'static str,
        (names, parameters): (Shape, Shape),
        gives: Gives,
        handler: MethodRouter<Arc<Outlet>>,
    ) -> Self {
        let (scope, refusals, body) = (Scope::Read, Vec::new(), None);
        Self { method, path, summary, scope, names, parameters, body, gives, refusals, handler }
    }

    /// With a status that not every endpoint has.
    #[must_use]
    pub fn may_be(mut self, status: u16, why: &'static str) -> Self {
        self.refusals.push((status, why));
        self
    }
}

/// The site that a path names.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(default)]
pub struct OfSite {
    /// Name of a site: `/api/v1/sites` lists them.
    #[schemars(length(min = 1))]
    pub name: String,
}

fn shape<T: JsonSchema>() -> Shape {
    |generator| T::json_schema(generator)
}

/// Parameters that hold the secret; `access` has read them.
const SECRETS: [&str; 2] = ["apikey", "passkey"];

async fn called<P: DeserializeOwned, Q: DeserializeOwned>(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Call<P, Q>, Problem> {
    let (mut parts, _) = request.into_parts();
    let query = query(&parts.uri)?;
    let path = names(&mut parts).await?;
    Ok(Call { outlet, caller, headers: parts.headers, path, query })
}

async fn names<P: DeserializeOwned>(parts: &mut Parts) -> Result<P, Problem> {
    let wrong = |why: String| {
        Problem::wrong(format!("the path cannot be read: {why}"), "write names in UTF-8, percent-encoded")
    };
    let named = RawPathParams::from_request_parts(parts, &()).await.map_err(|why| wrong(why.to_string()))?;
    let named: Vec<(&str, &str)> = named.iter().collect();
    P::deserialize(MapDeserializer::<_, ValueError>::new(named.into_iter())).map_err(|why| wrong(why.to_string()))
}

/// The parameters of a query: each once, and none that is not known, since one that is misspelt would be passed over.
fn query<Q: DeserializeOwned>(uri: &Uri) -> Result<Q, Problem> {
    let hint = "/api/v1/openapi.json lists the parameters with their bounds";
    let pairs = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let own: Vec<(Cow<'_, str>, Cow<'_, str>)> = pairs.filter(|(name, _)| !SECRETS.contains(&&**name)).collect();
    let own = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(own).finish();
    let own: Uri = format!("/?{own}").parse().map_err(|_| Problem::wrong("the query cannot be read", hint))?;
    let read = QueryOf::<Q>::try_from_uri(&own);
    read.map(|QueryOf(query)| query).map_err(|why| {
        let why = std::error::Error::source(&why).map_or_else(|| why.to_string(), ToString::to_string);
        Problem::wrong(format!("the query cannot be read: {why}"), hint)
    })
}

/// The body of a request, whose media type is known to be JSON.
async fn read<B: DeserializeOwned>(body: Body) -> Result<B, Problem> {
    let too_large = || {
        let title = format!("the body has more than {BODY_BYTES_MAX} bytes");
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, title, "send an object, {} at least")
    };
    let bytes = to_bytes(body, BODY_BYTES_MAX).await.map_err(|_| too_large())?;
    let hint = "/api/v1/openapi.json says what the object may have";
    let wrong = |why: serde_json::Error| Problem::wrong(format!("the body cannot be read: {why}"), hint);
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(wrong)?;
    // A list of the fields' values is none.
    if !value.is_object() {
        return Err(Problem::wrong("the body is no object", hint));
    }
    B::deserialize(value).map_err(wrong)
}

/// The routes of all endpoints.
pub fn router(endpoints: Vec<Endpoint>) -> Router<Arc<Outlet>> {
    endpoints.into_iter().fold(Router::new(), |router, Endpoint { path, scope, handler, .. }| {
        let needs = from_fn(move |caller, request, next| access::needs(scope, caller, request, next));
        router.route(&format!("/api/v1{path}"), handler.route_layer(needs))
    })
}
