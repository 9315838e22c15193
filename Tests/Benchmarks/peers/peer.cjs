// One sign-in in Node, with panva/jose and node-sqlite3: the work of auth-apple's POST /auth/apple. With `lines` one event a line.
const { createHash, createHmac, randomBytes, timingSafeEqual } = require('crypto')
const { readFileSync, writeSync } = require('fs')
const { createLocalJWKSet, importJWK, jwtVerify, SignJWT } = require('jose')
const { Database, OPEN_READWRITE } = require('sqlite3')

const LEEWAY = 60
const ACCESS_SECONDS = 900
const REFRESH_SECONDS = 30 * 24 * 3600
const SESSION_SECONDS = 365 * 24 * 3600
const { env } = process

class Refusal extends Error {
  constructor(status) {
    super(`refused with ${status}`)
    this.status = status
  }
}

const sha256 = (text) => createHash('sha256').update(text).digest()

// RFC 9562 §5.7
function uuidv7(milliseconds) {
  const id = randomBytes(16)
  id.writeUIntBE(milliseconds, 0, 6)
  id[6] = (id[6] & 0x0f) | 0x70
  id[8] = (id[8] & 0x3f) | 0x80
  return id
}

function uuidText(id) {
  const hex = id.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

// ---- Apple's token

function nonceMatches(claim, nonce) {
  if (typeof claim !== 'string' || typeof nonce !== 'string') return nonce === undefined
  const digest = sha256(nonce)
  return [nonce, digest.toString('hex'), digest.toString('base64url')].some(
    (form) => form.length === claim.length && timingSafeEqual(Buffer.from(form), Buffer.from(claim)),
  )
}

// Apple's Booleans come as Boolean or as string.
const looseBool = (value) => (value === undefined || value === null ? null : value === true || value === 'true')

let appleKeys
async function verify(token, nonce) {
  appleKeys ??= createLocalJWKSet(JSON.parse(readFileSync(env.PEER_KEY_SET, 'utf8')))
  const audiences = env.AUTH_APPLE_AUDIENCES.split(',')
  let payload
  try {
    ;({ payload } = await jwtVerify(token, appleKeys, {
      issuer: 'https://appleid.apple.com',
      audience: audiences,
      algorithms: ['RS256'],
      clockTolerance: LEEWAY,
      maxTokenAge: 86400, // demands iat, and that it is not in the future
    }))
  } catch {
    throw new Refusal(401)
  }
  if (typeof payload.exp !== 'number' || !payload.sub || !nonceMatches(payload.nonce, nonce)) throw new Refusal(401)
  const clientID = [payload.aud].flat().find((audience) => audiences.includes(audience))
  return { claims: payload, clientID }
}

// ---- The request

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(400)
  }
}

function readRequest(text) {
  const event = parse(text)
  if (event.path !== '/auth/apple') throw new Refusal(404)
  if (event.method !== 'POST') throw new Refusal(405)
  if (!event.headers?.['content-type']?.startsWith('application/json')) throw new Refusal(415)
  if (event.body?.length > 65536) throw new Refusal(413)
  const body = parse(event.body)
  const { deviceInfo } = body
  if (typeof body.identity_token !== 'string' || typeof deviceInfo !== 'object' || !deviceInfo) throw new Refusal(400)
  const device = JSON.stringify(deviceInfo)
  if (device.length > 4096) throw new Refusal(400)
  const name = body.full_name
  return {
    token: body.identity_token,
    nonce: body.nonce,
    fullName: typeof name === 'object' && name ? `${name.givenName ?? ''} ${name.familyName ?? ''}`.trim() : name ?? null,
    email: body.email ?? null,
    device,
  }
}

// ---- The store

const SQL = {
  select: `SELECT id, full_name, email, email_verified, is_private_email, contact_email, disabled_at FROM accounts
    WHERE apple_sub = ?1`,
  insert: `INSERT INTO accounts (id, apple_sub, full_name, email, email_verified, is_private_email, contact_email,
    created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)`,
  update: `UPDATE accounts SET full_name = ?2, email = ?3, email_verified = ?4, is_private_email = ?5, contact_email = ?6,
    updated_at = ?7 WHERE id = ?1`,
  session: `INSERT INTO sessions (id, account_id, client_id, device_info, salt, refresh_digest, refresh_expires_at,
    created_at, last_used_at, ends_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)`,
  audit: `INSERT INTO audit (account_id, number, time, event, session_id, request_id) VALUES (?1,
    1 + ifnull((SELECT max(number) FROM audit WHERE account_id = ?1), 0), ?2, ?3, ?4, ?5)`,
}

// node-sqlite3 speaks in callbacks.
class Store {
  statements = new Map()

  static open(path) {
    return new Promise((resolve, reject) => {
      const store = new Store()
      store.database = new Database(path, OPEN_READWRITE, (error) => (error ? reject(error) : resolve(store)))
    })
  }

  execute(sql) {
    return new Promise((resolve, reject) => this.database.exec(sql, (error) => (error ? reject(error) : resolve())))
  }

  statement(sql) {
    if (!this.statements.has(sql)) this.statements.set(sql, this.database.prepare(sql))
    return this.statements.get(sql)
  }

  // The first row. `all` and not `get`, which would leave the statement open.
  row(sql, ...values) {
    return new Promise((resolve, reject) =>
      this.statement(sql).all(values, (error, rows) => (error ? reject(error) : resolve(rows[0]))),
    )
  }

  run(sql, ...values) {
    return new Promise((resolve, reject) =>
      this.statement(sql).run(values, (error) => (error ? reject(error) : resolve())),
    )
  }

  close() {
    for (const statement of this.statements.values()) statement.finalize()
    return new Promise((resolve, reject) => this.database.close((error) => (error ? reject(error) : resolve())))
  }
}

let store
async function openStore() {
  if (store) return store
  store = await Store.open(env.AUTH_APPLE_STORE.replace(/^sqlite:/, ''))
  await store.execute(
    'PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL',
  )
  return store
}

const flag = (value) => (value === null ? null : Boolean(value))

async function signIn({ claims, clientID }, request, requestID, now) {
  const store = await openStore()
  await store.execute('BEGIN IMMEDIATE')
  try {
    const known = await store.row(SQL.select, claims.sub)
    if (known?.disabled_at) throw new Error('disabled')
    const account = {
      id: known?.id ?? uuidv7(now),
      full_name: known?.full_name ?? request.fullName,
      email: known?.email ?? null,
      email_verified: flag(known?.email_verified ?? null),
      is_private_email: flag(known?.is_private_email ?? null),
      contact_email: known?.contact_email ?? null,
    }
    if (claims.email) {
      account.email = claims.email
      account.email_verified = looseBool(claims.email_verified)
      account.is_private_email = looseBool(claims.is_private_email) ?? false
    } else {
      account.contact_email ??= request.email
    }
    const values = [
      account.full_name, account.email, account.email_verified, account.is_private_email, account.contact_email,
    ]
    if (!known) await store.run(SQL.insert, account.id, claims.sub, ...values, now)
    else if (
      known.full_name !== account.full_name || known.email !== account.email ||
      flag(known.email_verified) !== account.email_verified ||
      flag(known.is_private_email) !== account.is_private_email || known.contact_email !== account.contact_email
    ) {
      await store.run(SQL.update, account.id, ...values, now)
    }
    const session = uuidv7(now)
    const salt = randomBytes(32)
    const secret = randomBytes(32)
    const named = Buffer.concat([session, secret])
    const tag = createHmac('sha256', salt).update(named).digest().subarray(0, 16)
    await store.run(
      SQL.session, session, account.id, clientID, request.device, salt, sha256(secret),
      now + REFRESH_SECONDS * 1000, now, now + SESSION_SECONDS * 1000,
    )
    if (!known) await store.run(SQL.audit, account.id, now, 'account_created', null, requestID)
    await store.run(SQL.audit, account.id, now, 'signed_in', session, requestID)
    await store.execute('COMMIT')
    return { account, session, isNew: !known, refreshToken: Buffer.concat([named, tag]).toString('base64url') }
  } catch (error) {
    await store.execute('ROLLBACK')
    throw error
  }
}

// ---- The answer

let signingKey
async function accessToken({ account, session }, clientID, now) {
  if (!signingKey) {
    const { keys } = JSON.parse(readFileSync(env.AUTH_APPLE_SIGNING_KEYS_FILE, 'utf8'))
    const jwk = keys.find((key) => key.state === 'current')
    signingKey = { kid: jwk.kid, key: await importJWK(jwk, 'ES256') }
  }
  const seconds = Math.floor(now / 1000)
  return new SignJWT({ client_id: clientID, sid: uuidText(session) })
    .setProtectedHeader({ alg: 'ES256', kid: signingKey.kid, typ: 'at+jwt' })
    .setIssuer(env.AUTH_APPLE_TOKEN_ISSUER)
    .setAudience(env.AUTH_APPLE_TOKEN_AUDIENCE)
    .setSubject(uuidText(account.id))
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + ACCESS_SECONDS)
    .setJti(uuidText(uuidv7(now)))
    .sign(signingKey.key)
}

async function answer(text, line, now) {
  const request = readRequest(text)
  const verified = await verify(request.token, request.nonce)
  line.sub_hash = sha256(verified.claims.sub).subarray(0, 16).toString('base64url')
  const outcome = await signIn(verified, request, line.request_id, now)
  line.account_created = outcome.isNew
  const { account, session, isNew, refreshToken } = outcome
  return {
    status: isNew ? 201 : 200,
    body: {
      access_token: await accessToken(outcome, verified.clientID, now),
      token_type: 'Bearer',
      expires_in: ACCESS_SECONDS,
      refresh_token: refreshToken,
      refresh_expires_in: REFRESH_SECONDS,
      is_new: isNew,
      user: {
        id: uuidText(account.id), full_name: account.full_name, email: account.email,
        email_verified: account.email_verified === true, is_private_email: account.is_private_email === true,
      },
      session: { id: uuidText(session) },
    },
  }
}

async function serve(text) {
  const began = performance.now()
  const now = Date.now()
  const line = {
    time: new Date(now), route: 'POST /auth/apple', request_id: randomBytes(16).toString('base64url'),
    account_created: false,
  }
  let status, body
  try {
    ;({ status, body } = await answer(text, line, now))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    status = error.status
    body = { type: 'about:blank', title: 'The request was refused' }
  }
  const kind = status >= 400 ? 'application/problem+json' : 'application/json'
  const headers = { 'content-type': kind, 'cache-control': 'no-store' }
  writeSync(1, JSON.stringify({ statusCode: status, headers, body: JSON.stringify(body), isBase64Encoded: false }) + '\n')
  writeSync(2, JSON.stringify({ ...line, status, duration_ms: performance.now() - began }) + '\n')
}

async function main() {
  if (process.argv[2] === 'lines') {
    for await (const line of require('readline').createInterface({ input: process.stdin })) await serve(line)
  } else {
    await serve(readFileSync(0, 'utf8'))
  }
  await store?.close()
}

main().catch((error) => {
  console.error(error)
  process.exitCode = 70
})
