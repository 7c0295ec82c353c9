//! `/api/v1/openapi.json`: the endpoints as OpenAPI 3.1 has them, made from the table and the types.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::table::{Endpoint, Gives, Nothing, Shape};
use crate::Inside;
use crate::problem::Problem;
use crate::session::COOKIE;

/// What any request may be refused with.
const ALWAYS: [(u16, &str); 7] = [
    (400, "a name or a parameter cannot be read, or is out of its bounds"),
    (401, "a token is needed, or the one that was sent is unknown or revoked"),
    (403, "the token's scope is not enough, or another site's page has sent the request"),
    (421, "requests for this host are not answered: `hosts` or `public_url` of gleaner.toml name it"),
    (429, "too many requests"),
    (500, "the service cannot answer: its log says why"),
    (504, "the answer took too long"),
];

/// Where schemas of types stand in the document.
const DEFINITIONS: &str = "/components/schemas";

/// The document; `base` is the URL below which `/api/v1` is.
pub fn document(endpoints: &[Endpoint], inside: &Inside, base: &str) -> Value {
    let mut answers =
        settings(|settings| settings.definitions_path = DEFINITIONS.into()).for_serialize().into_generator();
    // A parameter's schema stands where the parameter does.
    let mut parameters = settings(|settings| settings.inline_subschemas = true).into_generator();
    let problem = answers.subschema_for::<Problem>().to_value();
    let mut paths = Map::new();
    for endpoint in endpoints {
        let given = match endpoint.gives {
            Gives::Json(shape) => json!({ "application/json": { "schema": shape(&mut answers) } }),
            Gives::Report(of) => json!({ "application/json": { "schema": (of(inside).shape)(&mut answers) } }),
            Gives::Events => json!({ "text/event-stream": { "schema": { "type": "string" } } }),
        };
        let operation = operation(endpoint, given, &problem, &mut parameters);
        let at = paths.entry(format!("/api/v1{}", endpoint.path)).or_insert_with(|| json!({}));
        at[endpoint.method] = operation;
    }
    paths.insert("/session".to_owned(), session(&problem));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "gleaner",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The harvest and its crawl as JSON. On the machine itself no token is needed, unless gleaner.toml says so.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": base }],
        "security": [{ "bearer": [] }, { "header": [] }, { "query": [] }, { "basic": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "schemas": answers.take_definitions(true),
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "A token of `gleaner token new`." },
                "header": { "type": "apiKey", "in": "header", "name": "X-Api-Key" },
                "query": { "type": "apiKey", "in": "query", "name": "apikey" },
                "session": { "type": "apiKey", "in": "cookie", "name": COOKIE, "description": "What POST /session gives for a token." },
                "basic": { "type": "http", "scheme": "basic", "description": "The token as password, or as user." },
            },
        },
    })
}

/// `/session`, which is beside the table: a cookie is none of its JSON.
fn session(problem: &Value) -> Value {
    let refused = |told: &[(u16, &str)]| -> Map<String, Value> {
        let response =
            |why: &str| json!({ "description": why, "content": { "application/problem+json": { "schema": problem } } });
        told.iter().map(|(status, why)| (status.to_string(), response(why))).collect()
    };
    let of_another = "another site's page has sent the request";
    let mut begun = refused(&[
        (400, "no token is in the body"),
        (403, "this token is unknown or revoked, or another site's page has sent the request"),
        (413, "the body is too large"),
        (415, "the body is neither a form nor JSON"),
        (421, "requests for this host are not answered"),
        (429, "too many tokens that are none, or too many requests"),
    ]);
    let cookie = json!({ "Set-Cookie": { "schema": { "type": "string" }, "description": "the session, for 30 days" } });
    let fields = json!({ "scope": { "type": "string" }, "until": { "type": "string" } });
    let given = json!({ "application/json": { "schema": { "type": "object", "properties": fields, "required": ["scope", "until"] } } });
    begun.insert("200".to_owned(), json!({ "description": "a session", "headers": cookie, "content": given }));
    begun.insert("303".to_owned(), json!({ "description": "a session, for a form", "headers": cookie }));
    let mut ended =
        refused(&[(403, of_another), (421, "requests for this host are not answered"), (429, "too many requests")]);
    ended.insert("204".to_owned(), json!({ "description": "there is no session any more" }));
    let token = json!({ "schema": { "type": "object", "properties": { "token": { "type": "string" } }, "required": ["token"] } });
    json!({
        "post": {
            "operationId": "post_session",
            "summary": "A session for a token: the cookie of browsers",
            "security": [],
            "parameters": [],
            "requestBody": { "required": true, "content": { "application/json": token, "application/x-www-form-urlencoded": token } },
            "responses": begun,
        },
        "delete": {
            "operationId": "delete_session",
            "summary": "Ends the session of the cookie",
            "security": [],
            "parameters": [],
            "responses": ended,
        },
    })
}

fn settings(with: impl FnOnce(&mut SchemaSettings)) -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None).with(with)
}

fn operation(endpoint: &Endpoint, given: Value, problem: &Value, parameters: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    let mut given = json!({ "description": endpoint.summary, "content": given });
    if endpoint.method == "get" {
        let about = "send it as If-None-Match to be told whether it has changed";
        given["headers"] = json!({ "ETag": { "schema": { "type": "string" }, "description": about } });
        let unchanged = "nothing has changed since the answer of this ETag";
        responses.insert("304".to_owned(), json!({ "description": unchanged }));
    }
    responses.insert("200".to_owned(), given);
    for (status, why) in ALWAYS.iter().chain(&endpoint.refusals) {
        let mut response =
            json!({ "description": why, "content": { "application/problem+json": { "schema": problem } } });
        if *status == 429 {
            let about = "seconds to wait";
            response["headers"] = json!({ "Retry-After": { "required": true, "description": about, "schema": { "type": "integer", "minimum": 1 } } });
        }
        responses.insert(status.to_string(), response);
    }
    let taken: Vec<Value> = [("path", endpoint.names), ("query", endpoint.parameters)]
        .into_iter()
        .flat_map(|(place, shape)| taken(place, shape, parameters))
        .collect();
    let name = format!("{}{}", endpoint.method, endpoint.path.replace(['/', '{', '}', '.'], "_"));
    let mut operation = json!({
        "operationId": name,
        "summary": endpoint.summary,
        "description": format!("Needs a token of the scope `{}` where one is needed.", endpoint.scope.name()),
        "parameters": taken,
        "responses": responses,
    });
    if let Some(body) = endpoint.body {
        let schema = body(parameters);
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    operation
}

/// The fields of a type as parameters.
fn taken(place: &str, shape: Shape, generator: &mut SchemaGenerator) -> Vec<Value> {
    let schema = shape(generator).to_value();
    let none = Map::new();
    let fields = schema["properties"].as_object().unwrap_or(&none);
    let of = |(name, schema): (&String, &Value)| {
        let mut schema = schema.clone();
        let about = schema.as_object_mut().and_then(|keys| keys.remove("description"));
        // What may be absent is absent, and not the word null.
        if let Some(kinds) = schema.get_mut("type").filter(|kinds| kinds.is_array()) {
            *kinds = kinds[0].take();
        }
        if place == "path" {
            schema.as_object_mut().map(|keys| keys.remove("default"));
        }
        json!({ "name": name, "in": place, "required": place == "path", "description": about.unwrap_or_default(), "schema": schema })
    };
    fields.iter().map(of).collect()
}

/// The document for whoever asks, as it is.
pub async fn openapi(call: super::table::Call<Nothing, Nothing>) -> Result<Value, Problem> {
    Ok(document(&super::endpoints(), &call.outlet.inside, &call.caller.links.base))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_endpoint_is_in_the_document_once_and_every_reference_leads_somewhere() {
        let endpoints = super::super::endpoints();
        let document = document(&endpoints, &Inside::default(), "http://127.0.0.1:1/g");
        let named: BTreeSet<&str> = endpoints.iter().map(|endpoint| endpoint.path).collect();
        // And the session, which is beside the table.
        assert_eq!(document["paths"].as_object().unwrap().len(), named.len() + 1);
        for (method, status) in [("post", "200"), ("post", "303"), ("delete", "204")] {
            assert!(document["paths"]["/session"][method]["responses"][status].is_object(), "{method}");
        }
        for endpoint in &endpoints {
            let operation = &document["paths"][format!("/api/v1{}", endpoint.path)][endpoint.method];
            let parameters = operation["parameters"].as_array().unwrap();
            let in_path = parameters.iter().filter(|of| of["in"] == "path").count();
            assert_eq!(in_path, endpoint.path.matches('{').count(), "{}", endpoint.path);
            assert!(parameters.iter().all(|of| of["description"].is_string()), "{}: {parameters:?}", endpoint.path);
        }
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
    }
}
