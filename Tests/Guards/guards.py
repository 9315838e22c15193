"""Every check of the verifier, the key cache and the session rules, and how it is removed.

A guard is a place in a file: text that occurs there exactly once, in which « » enclose what is replaced, and what it is
replaced by. Between « » stands an expression, between ‹ › a statement. A third member names the tests that are asked; else
they are those of the room. Checks that another one repeats are not here: removing them changes nothing.
"""

# Our own keys are read in JOSE, and tested where they are used.
KEYS = r"AccountsTests\.SigningKeySetTests"
# The web flow's rules are in the room Accounts; what is tested is the flow whole, through its doorway.
WEB = r"AuthFunctionTests\.Web"

GUARDS = {
    "Sources/JOSE/CompactJWS.swift": [
        ("size of the token", "guard «token.count <= Self.maximumSize» else", "true"),
        ("algorithm is allowed", "«algorithms.contains(algorithm)» else", "true"),
        ("no crit", 'guard «json["crit"] == nil» else', "true"),
        ("kid is not empty", "guard keyID.map({ «!$0.isEmpty» &&", "true"),
        ("kid has 64 characters", "&& «$0.unicodeScalars.count <= keyIDLimit» })", "true"),
        ("header members are strings", "guard let string = «value.string» else", '(value.string ?? "x")'),
        ("key is of the algorithm's kind", "guard «key.algorithm == header.algorithm» else", "true"),
        (
            "signature",
            "«cryptography.isValid(\n                signature[...], over: signingInput, by: key.key, algorithm: header.algorithm)»",
            "true",
        ),
        ("claims are an object", "guard let claims = «json.object» else", "(json.object ?? [:])"),
    ],
    "Sources/JOSE/Base64URL.swift": [
        ("no lone character at the end", "guard «text.count % 4 != 1» else", "true"),
        ("unused bits are zero", "guard «bits & ((1 << UInt32(pending)) - 1) == 0» else", "true"),
        ("one alphabet", "guard «sextet < 64» else", "true"),
    ],
    "Sources/JOSE/JSONReader.swift": [
        ("size of the text", "guard «bytes.count <= limits.bytes» else", "true"),
        ("nothing after the value", "guard «next == nil» else", "true"),
        ("depth", "guard «depth <= depthLimit» else", "true"),
        ("literals are whole", '«bytes[position..<position + count].elementsEqual("\\(text)".utf8)»', "true"),
        ("no name twice", "isDuplicate = «members.contains { $0.name.isIdentical(to: name) }»", "false"),
        ("no name twice among many", "isDuplicate = «!names.insert(Array(name.utf8)).inserted»", "false"),
        ("no leading zero", "«position - integerStart > 1» {", "false"),
        ("numbers have digits", "guard «position > start» else", "true"),
        ("minus zero keeps its sign", 'if isInteger, «text != "-0"», let', "true"),
        ("surrogates come in pairs", "guard «(0xDC00..<0xE000).contains(low)» else", "true"),
        ("second byte of UTF-8", "«second.contains(bytes[position + 1])»,", "true"),
        (
            "other bytes of UTF-8",
            "«bytes[(position + 2)..<(position + count)].allSatisfy({ (0x80...0xBF).contains($0) })»",
            "true",
        ),
        ("UTF-8 is not cut off", "guard «bytes.endIndex - position >= count», second", "true"),
    ],
    "Sources/JOSE/String+Identity.swift": [
        ("names are compared by their bytes", "«utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)»", "(self == other)"),
    ],
    "Sources/JOSE/KeySet.swift": [
        ("size of a key set", "JSON.Limits(bytes: «65_536», depth: 8)", "1 << 20"),
        ("a set has keys", 'guard let members = «json["keys"]?.array» else', '(json["keys"]?.array ?? [])'),
        ("one key of a name", "guard «named.count == 1» else", "true"),
    ],
    "Sources/JOSE/JWK.swift": [
        ("use", 'if let use = json["use"], «use.string != "sig"» {', "false"),
        ("key_ops", '«operations.contains(.string(operation)) || operations.contains("sign")»', "true"),
        ("alg of a key", 'if let name = json["alg"], «name.string != algorithm.rawValue» {', "false"),
        ("kid of a key is not empty", "case .string(let name)? where «!name.isEmpty»: keyID = name", "true"),
        ("curve", 'guard «json["crv"]?.string == "P-256"», let', "true"),
        ("kid names the key", "keyID.map { «$0.isIdentical(to: name)» } ?? false", "$0.hasPrefix(name)"),
    ],
    "Sources/JOSE/SigningKey.swift": [
        ("no key of many primes", 'guard «json["oth"] == nil» else', "true", KEYS),
        ("kid of a signing key is not empty", "case .string(let name)? where «!name.isEmpty» &&", "true", KEYS),
        ("kid of a signing key has 64 characters", "&& «name.unicodeScalars.count <= 64»: keyID", "true", KEYS),
    ],
    "Sources/JOSE/PrivateKey.swift": [
        ("d has 32 bytes", "guard «d.bytes.count == 32» else", "true", KEYS),
    ],
    "Sources/JOSE/PublicKey.swift": [
        ("odd modulus", "let low = modulus.last, «low & 1 == 1» else", "true"),
        ("2048 bits at least", "guard «(2048...8192).contains(bits)» else", "(bits <= 8192)"),
        ("8192 bits at most", "guard «(2048...8192).contains(bits)» else", "(bits >= 2048)"),
        ("odd exponent", "let lowest = exponent.last, «lowest & 1 == 1»,", "true"),
        ("exponent of 32 bits", "«exponent.count <= 4»,", "true"),
        ("exponent is not one", "«exponent != [1]» else", "true"),
        ("ROCA", "guard «!ROCA.marks(modulus)» else", "true"),
        ("x has 32 bytes", "guard «x.count == 32», y.count", "true"),
        ("y has 32 bytes", "«y.count == 32» else", "true"),
    ],
    "Sources/JOSE/TokenHash.swift": [
        ("hash of the value", "return «cryptography.areEqual(claimed[...], expected[...])»", "true"),
        (
            "hash is compared whole", "return «cryptography.areEqual(claimed[...], expected[...])»",
            "(claimed.count <= 16 && cryptography.areEqual(claimed[...], expected.prefix(claimed.count)))",
        ),
    ],
    "Sources/JOSE/FormURLEncoded.swift": [
        ("no parameter twice", "return «named.count == 1» ?", "true"),
        ("number of fields", "guard «fields.count < maximumFields», let", "true"),
        ("a field has a name", "«!decodedName.isEmpty»,", "true"),
        ("a form is UTF-8", "return «decoded.utf8.elementsEqual(bytes)» ?", "true"),
    ],
    "Sources/AppleID/TokenPolicy.swift": [
        ("a policy has an issuer", "guard «!issuers.isEmpty»,", "true"),
        ("a policy has an audience", "«!audiences.isEmpty»,", "true"),
        ("no empty audience", '«!audiences.contains("")»,', "true"),
        ("no empty issuer", '«!issuers.contains("")» else', "true"),
    ],
    "Sources/AppleID/AppleTokenVerifier.swift": [
        ("RS256 and nothing else", "allowing: «[.rs256]»)", "[.rs256, .es256]"),
        ("kid is there", "guard let keyID = «jws.header.keyID» else", '(jws.header.keyID ?? "")'),
        ("iss", "«policy.issuers.contains(where: issuer.isIdentical)»", "true"),
        ("aud", "«policy.audiences.contains(where: audience.isIdentical)»", "true"),
        (
            "aud is compared whole", "«policy.audiences.contains(where: audience.isIdentical)»",
            "policy.audiences.contains { audience.hasPrefix($0) }",
        ),
        (
            "aud is compared by its bytes", "«policy.audiences.contains(where: audience.isIdentical)»",
            "policy.audiences.contains { audience == $0 || audience.lowercased() == $0.lowercased() }",
        ),
        ("aud is of strings", "«audiences.allSatisfy({ $0.string != nil })» else", "true"),
        ("exp is an integer", 'guard let expiry = «claims["exp"]?.integer»,', '(claims["exp"]?.integer ?? now.seconds + 1)'),
        ("iat is an integer", 'let issued = «claims["iat"]?.integer» else', '(claims["iat"]?.integer ?? now.seconds)'),
        ("exp", "guard «now < end» else", "true"),
        ("exp to the millisecond", "guard «now < end» else", "(now <= end)"),
        ("iat", "guard «issuedAt <= now.adding(seconds: leeway)» else", "true"),
        ("nbf is an integer", "guard let notBefore = «notBefore.integer» else", "(notBefore.integer ?? 0)"),
        ("nbf", "guard «UnixTime(seconds: notBefore) <= now.adding(seconds: leeway)» else", "true"),
        (
            "age", "guard «now <= issuedAt.adding(seconds: policy.maximumAgeSeconds).adding(seconds: leeway)» else", "true"
        ),
    ],
    "Sources/AppleID/VerifiedAppleToken.swift": [
        ("sub is not empty", "«!subject.isEmpty»,", "true"),
        ("sub has 255 characters", "«subject.unicodeScalars.count <= 255» else", "true"),
        ("nonce", "‹try checkNonce(nonce)›", ""),
        ("nonce must come back", "if sent != nil, «!isUnsupported» {", "false"),
        ("nonce is required", "if «sent == nil», requiresNonce {", "false"),
        ("nonce is a string", "guard let claim = «claim.string» else", '(claim.string ?? "")'),
        ("nonce must be sent", "if «requiresNonce» { throw .nonceUnexpected }", "false"),
        (
            "nonce matches",
            "guard «NonceComparison(cryptography: cryptography).matches(claim: claim, raw: sent)» else", "true",
        ),
        ("digest of the nonce", "decoded.map { «cryptography.areEqual($0[...], digest[...])» }", "true"),
    ],
    "Sources/AppleID/AppleIdentity.swift": [
        ("a c_hash that is no string", 'codeHash = «claims["c_hash"].map { $0.string ?? "" }»', 'claims["c_hash"]?.string'),
        ("an address is not empty", "«!address.isEmpty», address", "true"),
        ("an address has 320 bytes", "«address.utf8.count <= 320» else", "true"),
        ("the relay's domain is private", '?? «address.lowercased().hasSuffix("@privaterelay.appleid.com")»', "false"),
        ("Apple's word is private", '«Bool(appleClaim: claims["is_private_email"])»', "nil"),
        ("Apple's word is verified", 'isVerified = «Bool(appleClaim: claims["email_verified"])»', "true"),
    ],
    "Sources/AppleID/CodeBinding.swift": [
        ("a code is its token's", "self = «isEqual ? .bound : .mismatch»", ".bound", "AccountsTests.PresentedCodeTests"),
    ],
    "Sources/AppleID/AppleTokens.swift": [
        ("a token has a length", "«(1...maximum).contains(text.utf8.count)» &&", "true"),
        ("a token is visible characters", "&& «text.utf8.allSatisfy { (0x21...0x7E).contains($0) }»", "true"),
        ("tokens of an exchange are for its client", "guard «token.audience.isIdentical(to: clientID)» else", "true"),
        ("tokens of an exchange are the person's", "«claimed.isIdentical(to: subject)» else", "true"),
        ("at_hash", "«token.matches(hash: hash, of: accessToken)» else", "true"),
    ],
    "Sources/AppleID/AppleNotification.swift": [
        ("jti", 'guard let id = «Self.name("jti", in: token.claims)» else', '(Self.name("jti", in: token.claims) ?? "x")'),
        (
            "type", 'guard let kind = «event["type"]?.string.flatMap(Kind.init)» else',
            '(event["type"]?.string.flatMap(Kind.init) ?? .accountDeleted)',
        ),
        ("sub of an event", 'guard let subject = «Self.name("sub", in: event)» else', '(Self.name("sub", in: event) ?? "x")'),
        (
            "event_time", 'guard let time = «event["event_time"]?.integer.flatMap(UnixTime.init(eventTime:))» else',
            '(event["event_time"]?.integer.flatMap(UnixTime.init(eventTime:)) ?? UnixTime(milliseconds: 0))',
        ),
        ("names of an event are not empty", "flatMap { «$0.isEmpty» ||", "false"),
        ("names of an event have 255 characters", "|| «$0.unicodeScalars.count > 255» ?", "false"),
        ("a type is not empty", "guard «!word.isEmpty» else", "true"),
    ],
    "Sources/KeyCache/RefreshPolicy.swift": [
        ("times of the future", "guard «isBelievable(fetched.fetchedAt, at: now)» else", "true"),
        ("freshness", "if «now < fetched.freshUntil» {", "true"),
        ("72 hours", "return «now <= fetched.fetchedAt.adding(seconds: maximumAgeSeconds)» ?", "true"),
        ("pause after a failure", "if let pause = «pause(after: failure, of: cooldownSeconds, at: now)» {", "nil"),
        ("one fetch a minute", "if «pause(after: record.missedAt, of: cooldownSeconds, at: now) != nil» {", "false"),
        ("pause in an outage", "if let pause = «pause(after: failure, of: backoffSeconds, at: now)» {", "nil"),
        (
            "pause of renewals", "&& «pause(after: record.lastAttempt?.endedAt, of: cooldownSeconds, at: now) == nil»",
            "true",
        ),
        ("pauses of the future", "guard let start, «isBelievable(start, at: now)» else", "true"),
    ],
    "Sources/KeyCache/Descriptor.swift": [
        (
            "kind of the file", "guard «status.st_mode & S_IFMT == (place == .folder ? S_IFDIR : S_IFREG)» else", "true"
        ),
        ("owner of the file", "guard «status.st_uid == geteuid()» else", "true"),
        ("writable by nobody else", "guard «status.st_mode & (S_IWGRP | S_IWOTH) == 0» else", "true"),
        ("no link is followed", "flags | «O_NOFOLLOW» |", "0"),
        ("no link to the folder", "O_DIRECTORY | «O_NOFOLLOW» | O_CLOEXEC))", "0"),
        ("files are for their owner", "O_NOCTTY, «0o600»))", "0o666"),
    ],
    "Sources/KeyCache/KeyFile.swift": [
        ("size of the file", "guard «status.st_size <= maximumSize» else", "true"),
        ("trust in the lock", "‹_ = try lock.trustedStatus(of: .lock)›", ""),
        ("trust in the folder", "‹_ = try descriptor.trustedStatus(of: .folder)›", ""),
        ("a path names a file", "guard «!name.isEmpty»,", "true"),
        ("no NUL in a path", "«!path.utf8.contains(0)» else", "true"),
        ("folders are for their owner", "mkdir(path, «0o700»)", "0o777"),
        ("a draft left behind", "killed here.\n            ‹folder.remove(draft)›", ""),
        ("a path is no folder", 'name != ".", «name != ".."»,', "true"),
        ("a path is not its own folder", '«name != "."»,', "true"),
        ("one holds the lock", "guard «lock.lockUnlessHeld()» else", "(lock.lockUnlessHeld() || true)"),
        ("nothing but ours is replaced", "guard «mayReplaceFile(in: folder)» else", "true"),
    ],
    "Sources/KeyCache/KeyRecord.swift": [
        ("only what we wrote", "guard «serialized() == bytes» else", "true"),
        (
            "bounds of freshness",
            "«Freshness.bounds.contains(freshUntil.milliseconds - fetchedAt.milliseconds)»\n", "true",
        ),
        ("times can be reckoned with", "«(0..<(1 << 53)).contains(milliseconds)» else", "true"),
        ("a record has a usable key", "«keys.contains(.rs256)»,", "true"),
    ],
    "Sources/KeyCache/KeyRecord+Response.swift": [
        ("new keys are usable", "guard «keys.contains(.rs256)» else", "true"),
        ("304 only to our tag", "where «known.entityTag != nil»:", "true"),
        ("the clock was set back", "if let known = fetched, «known.fetchedAt > now» {", "false"),
    ],
    "Sources/KeyCache/KeyCache.swift": [
        ("keys of this address", "guard «read.url == record.url» else", "true"),
        ("a missing key is remembered", "if let keyID, «!record.knows(keyID)» {", "false"),
        ("own keys are newer", "«own > read.fetched?.fetchedAt ?? UnixTime(milliseconds: 0)»", "false"),
        ("look again under the lock", "if «isWanted()» {\n                        fetchKeys", "true"),
        ("the whole set for a missing key", "let isRenewal = «keyID.map(record.knows) ?? true»", "true"),
        ("own keys of the future", "«policy.isBelievable(own, at: now())»,", "true"),
        ("what cannot be fetched is not used", "guard «decision == .use», let keys", "true"),
    ],
    "Sources/KeyCache/Freshness.swift": [
        (
            "a minute at least", "«max(Self.granted(by: response), Self.bounds.lowerBound / 1000)»",
            "Self.granted(by: response)",
        ),
        ("a day at most", ", «Self.bounds.upperBound / 1000»)", ".max"),
        ("size of an ETag", "guard «bytes.count <= 256»,", "true"),
        ("time in other caches counts", "- «(response.age.flatMap { deltaSeconds($0) } ?? 0)»", "0"),
        (
            "characters of an ETag",
            "«opaque.dropFirst().dropLast().allSatisfy({ (0x21...0x7E).contains($0) && $0 != quote })»", "true",
        ),
        ("quote before an ETag", "«opaque.first == quote»,", "true"),
        ("quote after an ETag", "«opaque.last == quote»,", "true"),
    ],
    "Sources/Accounts/RefreshRotation.swift": [
        ("a token of ours", "guard «token.isGenuine(salt: state.salt, using: cryptography)» else", "true"),
        ("the session lives", "guard «session.isAlive(at: now)» else", "true"),
        ("the token of now", "if «cryptography.areEqual(digest[...], state.digest[...])» {", "true"),
        ("the token before", "«cryptography.areEqual(digest[...], previous.digest[...])»,", "true"),
        ("grace", "«now <= previous.rotatedAt.adding(seconds: policy.graceSeconds)»", "true"),
        (
            "grace of the future", "«previous.rotatedAt <= now.adding(seconds: Self.clockToleranceSeconds)»", "true",
        ),
        ("a session's time does not go back", "rotated.lastUsedAt = «max(now, session.lastUsedAt)»", "now"),
        (
            "the key that made the successor",
            "guard let key = «keys.sessionKey(named: previous.keyID, using: cryptography)» else",
            "keys.sessionKey(using: cryptography)",
        ),
    ],
    "Sources/Accounts/RefreshToken.swift": [
        ("tag of a refresh token", "«cryptography.areEqual(tag[...], expected[...])»", "true"),
    ],
    "Sources/Accounts/SigningKeySet.swift": [
        ("one key signs", "guard «entries.count(where: { $0.state == .current }) == 1» else", "true"),
        ("one key is next", "guard «entries.count(where: { $0.state == .next }) <= 1» else", "true"),
        ("no kid twice among our keys", "guard «Set(entries.map(\\.key.keyID)).count == entries.count» else", "true"),
    ],
    "Sources/Accounts/SigningKeySet+Rotation.swift": [
        ("announcement of a key", "guard «now >= earliest» else", "true"),
        (
            "tokens of the previous key end", "(«previousEnd» +", "[]"
        ),
        ("a leaked next key goes too", "self = SigningKeySet(current: current, next: «next», at: now)", "(self.entries.first { $0.state == .next }?.key ?? next)"),
    ],
    "Sources/Accounts/Session.swift": [
        ("end of a session", "{ «now < expiresAt» }", "(now <= expiresAt)"),
        ("absolute end", "{ «min(endsAt, refresh.expiresAt)» }", "refresh.expiresAt"),
        ("end of the token", "{ «min(endsAt, refresh.expiresAt)» }", "endsAt"),
    ],
    "Sources/Accounts/Sessions.swift": [
        (
            "only our tokens are counted",
            "«token.isGenuine(salt: session.refresh.salt, using: cryptography)» else {\n            return nil", "true",
            "AuthFunctionTests.RateLimiterTests",
        ),
        (
            "reuse ends the session",
            "return «.end(\n                        AuditEntry(\n                            time: now, event: .refreshReused,"
            " accountID: account.id, sessionID: session.id,\n                            origin: origin))»",
            ".keep",
        ),
        (
            "no new token for the disabled",
            "case .rotated(let rotated, let successor):\n                    guard «!account.isDisabled» else", "true",
        ),
        (
            "no lost token for the disabled",
            "case .repeated(let successor):\n                    guard «!account.isDisabled» else", "true",
        ),
        (
            "only a token logs out",
            "guard «token.isGenuine(salt: session.refresh.salt, using: cryptography)» else {\n                    failure",
            "true",
        ),
        ("session of the account", "let (session, account) = found, «session.accountID == claims.accountID» else", "true"),
        ("session of an access token lives", "guard «session.isAlive(at: now)» else", "true"),
        ("the disabled see nothing", "guard «!account.isDisabled» else { throw .accountDisabled }", "true"),
        ("one's own sessions", "guard «account.id == accountID» else", "true"),
        ("not the one that asks", "except: «session.id»)", "nil"),
    ],
    "Sources/Accounts/AccessTokenVerifier.swift": [
        ("typ is at+jwt", '«type == "at+jwt" || type == "application/at+jwt"» else', "true"),
        ("iss of an access token", 'guard «claims["iss"]?.string == issuer» else', "true"),
        ("aud of an access token", 'guard «claims["aud"]?.string == audience» else', "true"),
        ("exp of an access token", "«now < UnixTime(seconds: expiry)» else", "true"),
        ("exp of an access token, without leeway", "«now < UnixTime(seconds: expiry)» else", "(now <= UnixTime(seconds: expiry))"),
    ],
    "Sources/Accounts/SignIn+Opening.swift": [
        ("the disabled get no session", "if let known, «known.isDisabled» {", "false"),
        ("nobody comes in by a token of before they left", "since: «latestDeparture(before: arrival.identity)»,", "nil"),
        ("that the person left is no success", "case .departed: ‹throw .verification(.refused(.tooOld))›", "return try result.get()"),
        ("linking is a choice", "if «policy.linksVerifiedEmail», let", "true"),
        ("only verified addresses link", "«email.isVerified == true»,", "true"),
        ("no alias links", "«!email.isPrivate» {", "true"),
        ("e-mail of the body is a contact", "contactEmail: «identity.email == nil ? arrival.client.email : nil»)", "arrival.client.email"),
        ("a credential is good once", "once: «arrival.marks»,", "[]"),
        ("a repetition gets its answer", "repeating: «isFirst ? repetition?.name : nil»,", "nil"),
        (
            "no answer for a session that has ended",
            """‹if case .repeated(let receipt) = outcome, let answer = repetition?.signedIn(from: receipt, at: now),
                try users.session(answer.sessionID) != nil
            {
                return answer
            }›""",
            "if case .repeated(let receipt) = outcome, let answer = repetition?.signedIn(from: receipt, at: now) { return answer }",
        ),
    ],
    "Sources/Accounts/SignIn.swift": [
        ("a token is good once", "marks: «policy.isOneTime ? [mark(of: request.identityToken, until: expiry)] : []»,", "[]"),
        ("the mark is of what is signed", "+ token[«..<end»])[...])", "..<token.endIndex"),
        ("a mark lives as long as its token", "return Mark(name: name, expiresAt: «expiry»)", "UnixTime(milliseconds: 0)"),
        ("a retry says the same", "retryKey: «policy.isOneTime ? retryKey(of: request) : nil»),", "Optional([UInt8]())"),
    ],
    "Sources/Accounts/SignIn+Code.swift": [
        ("another token's code is refused", "if «binding == .mismatch», policy.codes", "false"),
        (
            "another token's code is dropped", "case .mismatch: return «.dropped»",
            "PresentedCode.presented(AuthorizationCode(code: code, accountID: signedIn.account.id, subject: identity.subject,"
            " clientID: identity.audience))",
        ),
        ("the code of a repetition is not used", "let binding, «signedIn.clientID != nil» else", "true"),
    ],
    "Sources/Accounts/Account.swift": [
        ("a name stays", "fullName: «fullName ?? newer.fullName», email:", "(newer.fullName ?? fullName)"),
        ("an address is not lost", "email: «newer.email ?? email»,", "newer.email"),
        ("a contact stays", "contactEmail: «contactEmail ?? newer.contactEmail»)", "(newer.contactEmail ?? contactEmail)"),
    ],
    "Sources/Accounts/AccountDeletion.swift": [
        ("deleting wants a young sign-in", "guard «now <= session.createdAt.adding(seconds: maximumSessionSeconds)» else", "true"),
        ("deleting wants a session that lives", "guard «sessions.contains(where: { $0.id == session.id })» else", "true"),
        ("the disabled delete nothing", "guard «!account.isDisabled» else", "true"),
        ("what the owner's deletion leaves", "remembering: «Departure.mark(of: account, at: now, using: cryptography)»,", "nil"),
    ],
    "Sources/Accounts/Departure.swift": [
        ("a token of the same second is not of before", "mark(of: $0, «UnixTime(seconds: time.seconds)», cryptography)", "time"),
        ("clocks differ at a departure", "«identity.issuedAt.adding(seconds: leewaySeconds)», cryptography)", "identity.issuedAt"),
        ("a departure is one person's", "+ «subject.utf8»)[...])", '"somebody".utf8'),
        ("a departure by a clock that ran ahead", "now.adding(seconds: «seconds + 300»)", "1 << 40"),
        ("a departure is remembered for longer than tokens", "expiresAt: time.adding(seconds: «seconds»))", "86_400"),
    ],
    "Sources/Accounts/AppleNotifications.swift": [
        ("a notification is heard once", "once: «mark(of: notification, in: token)», at", "nil"),
        ("a mark lives as long as the notification", "expiresAt: «token.expiresAt»)", "UnixTime(milliseconds: 0)"),
        ("notifications have a day", "= «max(policy.maximumAgeSeconds, 86_400)»", "policy.maximumAgeSeconds"),
    ],
    "Sources/Accounts/AppleEvent.swift": [
        ("events of before the account", "guard «account.createdAt <= end» else", "true"),
        ("what Apple's deletion leaves", "remembering: «departure(of: account)», entry)", "nil"),
        ("what a withdrawal leaves", "Withdrawal(until: end, remembering: «departure(of: account)»)", "nil"),
        ("events of the future", "time = «min(notification.time, now.adding(seconds: leewaySeconds))»", "notification.time"),
        ("sessions since the event stay", "sessions.filter { «$0.createdAt <= end» }", "true"),
        ("the latest event counts", "let known = account.forwarding, «known.since > time» {", "false"),
        ("an event takes no address's place", "if «account.profile.email == nil», let email", "true"),
    ],
    "Sources/Accounts/AppleCodeExchange.swift": [
        (
            "what a code gives is confirmed",
            "‹try tokens.confirm(\n                subject: code.subject, clientID: code.clientID,"
            " verifier: verifier, keys: appleKeys, at: now)›",
            "",
        ),
    ],
    "Sources/Accounts/AppleRevocations.swift": [
        ("only Apple's success ends a revocation", "‹return Outcome(revocation: revocation, failure: .apple(error))›", ""),
    ],
    "Sources/Accounts/AppleGrantSealing.swift": [
        ("a grant is of its account", "+ «accountID.bytes» +", "[]"),
        ("a grant is of its client", "+ «Array(clientID.utf8)»\n", "[]"),
        ("a grant is nothing else", '«Array("auth-apple apple-grant 1 ".utf8)» +', "[]"),
    ],
    "Sources/Accounts/Web/SealedText.swift": [
        ("size of a sealed text", "guard «text.count <= Self.maximumSize», let", "true", "AccountsTests.SealedTextTests"),
        ("a sealed text has its salt", "«content.count >= Self.saltBytes»,", "true", "AccountsTests.SealedTextTests"),
        ("a state is no code", "(«Array(purpose.rawValue.utf8)» + salt)", "[]", "AccountsTests.SealedTextTests"),
    ],
    "Sources/Accounts/Web/BrowserBinding.swift": [
        ("a cookie has 32 bytes", "guard «text.utf8.count == 43», let", "true", WEB),
    ],
    "Sources/Accounts/Web/ProofKey.swift": [
        ("a challenge is a digest", "guard «text.utf8.count == 43», let", "true", WEB),
        ("the verifier is the challenge's", "«cryptography.areEqual(cryptography.sha256(verifier.bytes[...])[...], digest[...])»", "true", WEB),
        ("length of a verifier", "guard «(43...128).contains(bytes.count)»,", "true", WEB),
        ("characters of a verifier", "«isUnreserved» else", "true", WEB),
    ],
    "Sources/Accounts/Web/WebClient.swift": [
        ("addresses of the list", "«returnURLs.contains(where: text.isIdentical)» ?", "true", WEB),
        (
            "addresses are compared whole", "«returnURLs.contains(where: text.isIdentical)» ?",
            "returnURLs.contains { text.hasPrefix($0) }", WEB,
        ),
        (
            "addresses are compared by their bytes", "«returnURLs.contains(where: text.isIdentical)» ?",
            "returnURLs.contains { $0.lowercased() == text.lowercased() }", WEB,
        ),
    ],
    "Sources/Accounts/Web/WebFlow.swift": [
        ("a mark lives as long as the last code", "expiresAt: «expiresAt.adding(seconds: WebCode.seconds)»)", "expiresAt", WEB),
    ],
    "Sources/Accounts/Web/WebSignIn.swift": [
        ("tokens of the Services ID", "‹policy.audiences = [client.id]›", "", WEB),
        ("end of a state", "guard «now < flow.expiresAt» else", "true", WEB),
        (
            "a state is its browser's",
            "«cryptography.areEqual(browser.digest(using: cryptography)[...], flow.browser[...])»", "true", WEB,
        ),
        ("nonce of a flow is there", 'guard let claim = «verified.claims["nonce"]?.string» else', '(verified.claims["nonce"]?.string ?? nonce)', WEB),
        (
            "nonce of a flow", "guard «cryptography.areEqual(Array(claim.utf8)[...], Array(nonce.utf8)[...])» else",
            "true", WEB,
        ),
        ("c_hash", "guard «CodeBinding(code: appleCode, identity: identity, using: cryptography) == .bound» else", "true", WEB),
        (
            "c_hash is there",
            "guard «CodeBinding(code: appleCode, identity: identity, using: cryptography) == .bound» else",
            "CodeBinding(code: appleCode, identity: identity, using: cryptography) != .mismatch", WEB,
        ),
        ("length of Apple's code", "«(1...1024).contains(appleCode.utf8.count)»\n", "true", WEB),
        ("end of a code", "guard «now < code.expiresAt» else", "true", WEB),
        ("a code is its verifier's", "guard «code.challenge.isMet(by: verifier, using: cryptography)» else", "true", WEB),
        ("a flow opens one session", "marks: «[code.mark]»,", "[]", WEB),
        ("a retry of an exchange says the same", "retryKey: «retryKey(verifier, client.deviceInfo)»),", "[]", WEB),
    ],
    "Sources/Accounts/Idempotency.swift": [
        ("a receipt is of its token", "secret = «cryptography.sha256(credential) + key»", "key"),
        ("a receipt is of its key", "secret = «cryptography.sha256(credential) + key»", "cryptography.sha256(credential)"),
        (
            "a receipt of the future", "guard «receipt.expiresAt <= now.adding(seconds: seconds + Self.clockToleranceSeconds)»,",
            "true",
        ),
        ("a receipt ends", "expiresAt: «now.adding(seconds: seconds)»)", "now.adding(seconds: seconds + 1)"),
    ],
    "Sources/AuthFunction/Endpoint/BrowserCookie.swift": [
        ("one cookie", "return «values.count == 1» ?", "!values.isEmpty"),
    ],
    "Sources/AuthFunction/Endpoint/WebEndpoint.swift": [
        ("S256 and nothing else", 'if let method, «!method.isIdentical(to: "S256")» {', "false"),
    ],
}
