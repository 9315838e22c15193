internal import Accounts
internal import JOSE

/// The routes of an account's life after its sign-in.
extension Endpoints {
    func delete(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime, log: inout LogLine, errands: inout [Errand]
    ) throws(Failure) -> Response {
        let deleted = try life.delete(by: SessionEndpoint.bearerToken(of: request), origin: origin, at: now)
        log.setSubject(deleted.account, using: cryptography)
        if deleted.revocations > 0, life.exchangesCodes { errands.append(.revoke) }
        return AccountLifeEndpoint.response(
            to: deleted, in: Language(accepting: request.headers["accept-language"]))
    }

    func hear(
        _ request: Request, origin: AuditEntry.Origin, at now: UnixTime, log: inout LogLine
    ) throws(Failure) -> Response {
        let payload = try AccountLifeEndpoint.payload(of: try request.jsonBody())
        let (subject, reason) = try life.hear(payload, origin: origin, at: now)
        log.reason = reason
        log.subjectHash = LogLine.subjectHash(of: subject, using: cryptography)
        return AccountLifeEndpoint.heard
    }
}
