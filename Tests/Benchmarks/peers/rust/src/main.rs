//! One sign-in in Rust, with jsonwebtoken and rusqlite: the work of auth-apple's POST /auth/apple. As `peer lines` one event a
//! line.

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base64::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{decode, decode_header, encode, Algorithm, DecodingKey, EncodingKey, Header, Validation};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{constant_time, digest, hmac};
use rusqlite::{params, Connection, OpenFlags, OptionalExtension, TransactionBehavior};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

const LEEWAY: i64 = 60;
const ACCESS_SECONDS: i64 = 900;
const REFRESH_SECONDS: i64 = 30 * 24 * 3600;
const SESSION_SECONDS: i64 = 365 * 24 * 3600;

const SELECT_ACCOUNT: &str = "SELECT id, full_name, email, email_verified, is_private_email, contact_email, disabled_at
    FROM accounts WHERE apple_sub = ?1";
const INSERT_ACCOUNT: &str = "INSERT INTO accounts (id, apple_sub, full_name, email, email_verified, is_private_email,
    contact_email, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)";
const UPDATE_ACCOUNT: &str = "UPDATE accounts SET full_name = ?2, email = ?3, email_verified = ?4, is_private_email = ?5,
    contact_email = ?6, updated_at = ?7 WHERE id = ?1";
const INSERT_SESSION: &str = "INSERT INTO sessions (id, account_id, client_id, device_info, salt, refresh_digest,
    refresh_expires_at, created_at, last_used_at, ends_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)";
const INSERT_AUDIT: &str = "INSERT INTO audit (account_id, number, time, event, session_id, request_id) VALUES (?1,
    1 + ifnull((SELECT max(number) FROM audit WHERE account_id = ?1), 0), ?2, ?3, ?4, ?5)";

type Failure = Box<dyn Error>;

fn base64url(bytes: &[u8]) -> String {
    base64::encode_config(bytes, URL_SAFE_NO_PAD)
}

fn setting(name: &str) -> Result<String, Failure> {
    env::var(name).map_err(|_| format!("{name} is not set").into())
}

fn sha256(bytes: &[u8]) -> digest::Digest {
    digest::digest(&digest::SHA256, bytes)
}

// ---- Apple's token

#[derive(Deserialize)]
#[serde(untagged)]
enum LooseBool {
    Bool(bool),
    Text(String),
}

/// Apple's Booleans come as Boolean or as string.
fn loose_bool<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    Ok(Option::<LooseBool>::deserialize(deserializer)?.map(|value| match value {
        LooseBool::Bool(value) => value,
        LooseBool::Text(text) => text == "true",
    }))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct AppleClaims {
    sub: String,
    aud: Audience,
    iat: i64,
    nonce: Option<String>,
    email: Option<String>,
    #[serde(default, deserialize_with = "loose_bool")]
    email_verified: Option<bool>,
    #[serde(default, deserialize_with = "loose_bool")]
    is_private_email: Option<bool>,
}

fn nonce_matches(claim: Option<&str>, nonce: Option<&str>) -> bool {
    let (claim, nonce) = match (claim, nonce) {
        (Some(claim), Some(nonce)) => (claim, nonce),
        (_, nonce) => return nonce.is_none(),
    };
    let digest = sha256(nonce.as_bytes());
    let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    [nonce, &hex, &base64url(digest.as_ref())]
        .iter()
        .any(|form| constant_time::verify_slices_are_equal(claim.as_bytes(), form.as_bytes()).is_ok())
}

// ---- The request

#[derive(Deserialize)]
struct Event {
    method: String,
    path: String,
    headers: Headers,
    body: String,
}

#[derive(Deserialize)]
struct Headers {
    #[serde(rename = "content-type", default)]
    content_type: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum FullName {
    Text(String),
    #[serde(rename_all = "camelCase")]
    Components { given_name: Option<String>, family_name: Option<String> },
}

impl FullName {
    fn text(self) -> String {
        match self {
            FullName::Text(text) => text,
            FullName::Components { given_name, family_name } => {
                [given_name, family_name].into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
        }
    }
}

#[derive(Deserialize)]
struct Request<'a> {
    identity_token: String,
    nonce: Option<String>,
    full_name: Option<FullName>,
    email: Option<String>,
    #[serde(rename = "deviceInfo", borrow)]
    device_info: &'a RawValue,
}

/// The body of an event that is for us, or the status that it is refused with.
fn body_of(text: &[u8]) -> Result<String, u16> {
    let event: Event = serde_json::from_slice(text).map_err(|_| 400_u16)?;
    match () {
        _ if event.path != "/auth/apple" => Err(404),
        _ if event.method != "POST" => Err(405),
        _ if !event.headers.content_type.starts_with("application/json") => Err(415),
        _ if event.body.len() > 65536 => Err(413),
        _ => Ok(event.body),
    }
}

fn read_request(body: &str) -> Result<Request<'_>, u16> {
    let request: Request = serde_json::from_str(body).map_err(|_| 400_u16)?;
    let device = request.device_info.get();
    if device.starts_with('{') && device.len() <= 4096 { Ok(request) } else { Err(400) }
}

// ---- The store

#[derive(Clone, PartialEq)]
struct Account {
    id: Vec<u8>,
    full_name: Option<String>,
    email: Option<String>,
    email_verified: Option<bool>,
    is_private_email: Option<bool>,
    contact_email: Option<String>,
}

struct Outcome {
    account: Account,
    session: [u8; 16],
    is_new: bool,
    refresh_token: String,
}

fn open_store() -> Result<Connection, Failure> {
    let url = setting("AUTH_APPLE_STORE")?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(url.trim_start_matches("sqlite:"), flags)?;
    database.busy_timeout(std::time::Duration::from_secs(5))?;
    database.execute_batch("PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")?;
    Ok(database)
}

fn uuid_text(id: &[u8]) -> String {
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

// ---- The keys

#[derive(Deserialize)]
struct SigningKey {
    kid: String,
    x: String,
    y: String,
    d: String,
    #[serde(default)]
    state: String,
}

#[derive(Deserialize)]
struct SigningKeys {
    keys: Vec<SigningKey>,
}

impl SigningKey {
    /// PKCS #8, which is what ring reads (RFC 5915 within RFC 5208).
    fn encoding_key(&self) -> Result<EncodingKey, Failure> {
        let part = |text: &str| base64::decode_config(text, URL_SAFE_NO_PAD);
        let mut der = vec![
            0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
            0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x6d, 0x30, 0x6b, 0x02, 0x01, 0x01, 0x04, 0x20,
        ];
        der.extend(part(&self.d)?);
        der.extend([0xa1, 0x44, 0x03, 0x42, 0x00, 0x04]);
        der.extend(part(&self.x)?);
        der.extend(part(&self.y)?);
        Ok(EncodingKey::from_ec_der(&der))
    }
}

#[derive(Serialize)]
struct AccessClaims<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    client_id: &'a str,
    sid: &'a str,
    iat: i64,
    exp: i64,
    jti: &'a str,
}

#[derive(Serialize)]
struct User<'a> {
    id: &'a str,
    full_name: Option<&'a str>,
    email: Option<&'a str>,
    email_verified: bool,
    is_private_email: bool,
}

#[derive(Serialize)]
struct Session<'a> {
    id: &'a str,
}

#[derive(Serialize)]
struct Answer<'a> {
    access_token: &'a str,
    token_type: &'a str,
    expires_in: i64,
    refresh_token: &'a str,
    refresh_expires_in: i64,
    is_new: bool,
    user: User<'a>,
    session: Session<'a>,
}

#[derive(Serialize)]
struct ResponseHeaders<'a> {
    #[serde(rename = "content-type")]
    content_type: &'a str,
    #[serde(rename = "cache-control")]
    cache_control: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    status_code: u16,
    headers: ResponseHeaders<'a>,
    body: &'a str,
    #[serde(rename = "isBase64Encoded")]
    is_base64_encoded: bool,
}

#[derive(Serialize)]
struct LogLine<'a> {
    time_ms: i64,
    route: &'a str,
    status: u16,
    duration_ms: f64,
    request_id: &'a str,
    sub_hash: Option<String>,
    account_created: bool,
}

struct Service {
    audiences: Vec<String>,
    issuer: String,
    audience: String,
    apple: Vec<(String, DecodingKey)>,
    validation: Validation,
    header: Header,
    key: EncodingKey,
    random: SystemRandom,
    database: Option<Connection>,
}

impl Service {
    fn new() -> Result<Self, Failure> {
        let set: JwkSet = serde_json::from_slice(&fs::read(setting("PEER_KEY_SET")?)?)?;
        let mut apple = Vec::new();
        for jwk in &set.keys {
            if let Some(name) = &jwk.common.key_id {
                apple.push((name.clone(), DecodingKey::from_jwk(jwk)?));
            }
        }
        let signing: SigningKeys = serde_json::from_slice(&fs::read(setting("AUTH_APPLE_SIGNING_KEYS_FILE")?)?)?;
        let current = signing.keys.iter().find(|key| key.state == "current").ok_or("no signing key")?;
        let audiences: Vec<String> = setting("AUTH_APPLE_AUDIENCES")?.split(',').map(str::to_owned).collect();
        let mut validation = Validation::new(Algorithm::RS256);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&["https://appleid.apple.com"]);
        validation.set_audience(&audiences);
        validation.leeway = LEEWAY as u64;
        let header = Header {
            typ: Some("at+jwt".into()),
            kid: Some(current.kid.clone()),
            ..Header::new(Algorithm::ES256)
        };
        Ok(Service {
            audiences,
            issuer: setting("AUTH_APPLE_TOKEN_ISSUER")?,
            audience: setting("AUTH_APPLE_TOKEN_AUDIENCE")?,
            apple,
            validation,
            header,
            key: current.encoding_key()?,
            random: SystemRandom::new(),
            database: None,
        })
    }

    fn random<const COUNT: usize>(&self) -> Result<[u8; COUNT], Failure> {
        let mut bytes = [0; COUNT];
        self.random.fill(&mut bytes).map_err(|_| "no randomness")?;
        Ok(bytes)
    }

    /// RFC 9562 §5.7
    fn uuidv7(&self, now: i64) -> Result<[u8; 16], Failure> {
        let mut id = self.random::<16>()?;
        id[..6].copy_from_slice(&now.to_be_bytes()[2..]);
        id[6] = id[6] & 0x0f | 0x70;
        id[8] = id[8] & 0x3f | 0x80;
        Ok(id)
    }

    fn verify(&self, token: &str, nonce: Option<&str>, now: i64) -> Option<(AppleClaims, String)> {
        let name = decode_header(token).ok()?.kid?;
        let (_, key) = self.apple.iter().find(|(known, _)| *known == name)?;
        let claims = decode::<AppleClaims>(token, key, &self.validation).ok()?.claims;
        if claims.iat > now + LEEWAY || claims.iat < now - 86400 - LEEWAY || claims.sub.is_empty() {
            return None;
        }
        if !nonce_matches(claims.nonce.as_deref(), nonce) {
            return None;
        }
        let audiences = match &claims.aud {
            Audience::One(name) => std::slice::from_ref(name),
            Audience::Many(names) => names,
        };
        let client = audiences.iter().find(|name| self.audiences.contains(name))?.clone();
        Some((claims, client))
    }

    fn sign_in(
        &mut self, claims: &AppleClaims, client: &str, name: Option<String>, contact: Option<String>, device: &str,
        request_id: &str, now: i64,
    ) -> Result<Outcome, Failure> {
        let session = self.uuidv7(now)?;
        let new_id = self.uuidv7(now)?;
        let (salt, secret) = (self.random::<32>()?, self.random::<32>()?);
        if self.database.is_none() {
            self.database = Some(open_store()?);
        }
        let database = self.database.as_mut().ok_or("no store")?;
        let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known = transaction
            .prepare_cached(SELECT_ACCOUNT)?
            .query_row([&claims.sub], |row| {
                let account = Account {
                    id: row.get(0)?,
                    full_name: row.get(1)?,
                    email: row.get(2)?,
                    email_verified: row.get(3)?,
                    is_private_email: row.get(4)?,
                    contact_email: row.get(5)?,
                };
                Ok((account, row.get::<_, Option<i64>>(6)?))
            })
            .optional()?;
        let known = match known {
            Some((_, Some(_))) => return Err("disabled".into()),
            Some((account, None)) => Some(account),
            None => None,
        };
        let mut account = known.clone().unwrap_or(Account {
            id: new_id.to_vec(),
            full_name: None,
            email: None,
            email_verified: None,
            is_private_email: None,
            contact_email: None,
        });
        account.full_name = account.full_name.or(name);
        if claims.email.is_some() {
            account.email = claims.email.clone();
            account.email_verified = claims.email_verified;
            account.is_private_email = Some(claims.is_private_email.unwrap_or(false));
        } else {
            account.contact_email = account.contact_email.or(contact);
        }
        if known.is_none() {
            transaction.prepare_cached(INSERT_ACCOUNT)?.execute(params![
                account.id, claims.sub, account.full_name, account.email, account.email_verified,
                account.is_private_email, account.contact_email, now
            ])?;
        } else if known.as_ref() != Some(&account) {
            transaction.prepare_cached(UPDATE_ACCOUNT)?.execute(params![
                account.id, account.full_name, account.email, account.email_verified, account.is_private_email,
                account.contact_email, now
            ])?;
        }
        let mut refresh = [&session[..], &secret].concat();
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &salt), &refresh);
        refresh.extend(&tag.as_ref()[..16]);
        transaction.prepare_cached(INSERT_SESSION)?.execute(params![
            &session[..], account.id, client, device, &salt[..], sha256(&secret).as_ref(), now + REFRESH_SECONDS * 1000,
            now, now + SESSION_SECONDS * 1000
        ])?;
        {
            let mut audit = transaction.prepare_cached(INSERT_AUDIT)?;
            if known.is_none() {
                audit.execute(params![account.id, now, "account_created", None::<&[u8]>, request_id])?;
            }
            audit.execute(params![account.id, now, "signed_in", &session[..], request_id])?;
        }
        transaction.commit()?;
        Ok(Outcome { account, session, is_new: known.is_none(), refresh_token: base64url(&refresh) })
    }

    fn answer(&self, outcome: &Outcome, client: &str, now: i64) -> Result<String, Failure> {
        let (sub, sid) = (uuid_text(&outcome.account.id), uuid_text(&outcome.session));
        let claims = AccessClaims {
            iss: &self.issuer,
            aud: &self.audience,
            sub: &sub,
            client_id: client,
            sid: &sid,
            iat: now / 1000,
            exp: now / 1000 + ACCESS_SECONDS,
            jti: &uuid_text(&self.uuidv7(now)?),
        };
        let account = &outcome.account;
        Ok(serde_json::to_string(&Answer {
            access_token: &encode(&self.header, &claims, &self.key)?,
            token_type: "Bearer",
            expires_in: ACCESS_SECONDS,
            refresh_token: &outcome.refresh_token,
            refresh_expires_in: REFRESH_SECONDS,
            is_new: outcome.is_new,
            user: User {
                id: &sub,
                full_name: account.full_name.as_deref(),
                email: account.email.as_deref(),
                email_verified: account.email_verified == Some(true),
                is_private_email: account.is_private_email == Some(true),
            },
            session: Session { id: &sid },
        })?)
    }

    fn serve(&mut self, text: &[u8]) -> Result<(), Failure> {
        let began = Instant::now();
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as i64;
        let request_id = base64url(&self.random::<16>()?);
        let mut line = LogLine {
            time_ms: now,
            route: "POST /auth/apple",
            status: 0,
            duration_ms: 0.0,
            request_id: &request_id,
            sub_hash: None,
            account_created: false,
        };
        let refusal = r#"{"type":"about:blank","title":"The request was refused"}"#;
        let body = body_of(text);
        let (status, content) = match body.as_deref().map_err(|status| *status).and_then(read_request) {
            Err(status) => (status, refusal.to_owned()),
            Ok(request) => match self.verify(&request.identity_token, request.nonce.as_deref(), now / 1000) {
                None => (401, refusal.to_owned()),
                Some((claims, client)) => {
                    line.sub_hash = Some(base64url(&sha256(claims.sub.as_bytes()).as_ref()[..16]));
                    let name = request.full_name.map(FullName::text);
                    let outcome = self.sign_in(
                        &claims, &client, name, request.email, request.device_info.get(), &request_id, now)?;
                    line.account_created = outcome.is_new;
                    (if outcome.is_new { 201 } else { 200 }, self.answer(&outcome, &client, now)?)
                }
            },
        };
        let content_type = if status >= 400 { "application/problem+json" } else { "application/json" };
        let mut response = serde_json::to_vec(&Response {
            status_code: status,
            headers: ResponseHeaders { content_type, cache_control: "no-store" },
            body: &content,
            is_base64_encoded: false,
        })?;
        response.push(b'\n');
        let mut output = io::stdout().lock();
        output.write_all(&response)?;
        output.flush()?;
        line.status = status;
        line.duration_ms = began.elapsed().as_secs_f64() * 1000.0;
        eprintln!("{}", serde_json::to_string(&line)?);
        Ok(())
    }
}

fn main() -> Result<(), Failure> {
    let mut service = Service::new()?;
    if env::args().nth(1).as_deref() == Some("lines") {
        for line in io::stdin().lock().split(b'\n') {
            service.serve(&line?)?;
        }
    } else {
        let mut event = Vec::new();
        io::stdin().lock().take(131072).read_to_end(&mut event)?;
        service.serve(&event)?;
    }
    Ok(())
}
