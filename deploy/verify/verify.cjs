// Verifies our access tokens in Node with panva/jose.
//   JWKS_URL=https://auth.example.com/.well-known/jwks.json TOKEN_ISSUER=… TOKEN_AUDIENCE=… node verify.cjs <tokens
// One token a line; prints "ok" with account and session, or "refused" with the reason.
const { createRemoteJWKSet, jwtVerify } = require('jose')

// Remembers the key set for ten minutes: less than a key is published before it signs.
const keys = createRemoteJWKSet(new URL(process.env.JWKS_URL))

async function verify(token) {
  const { payload } = await jwtVerify(token, keys, {
    issuer: process.env.TOKEN_ISSUER,
    audience: process.env.TOKEN_AUDIENCE,
    algorithms: ['ES256', 'RS256'], // never what the token itself says
    typ: 'at+jwt', // no other kind of token of the same issuer
  })
  if (typeof payload.exp !== 'number') throw Object.assign(new Error('no exp'), { code: 'NO_EXPIRY' })
  return payload
}

async function main() {
  for await (const line of require('readline').createInterface({ input: process.stdin })) {
    try {
      const { sub, sid } = await verify(line)
      console.log(`ok ${sub} ${sid}`)
    } catch (error) {
      console.log(`refused ${error.code}`)
    }
  }
}
main()
