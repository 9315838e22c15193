package import Accounts
package import JOSE

/// The doorway's inside: one request in, one response out, one line for the log. It knows no runtime; an adapter brings
/// the request and takes the response away.
package struct AuthFunction {
    /// Bytes of a request body; a larger one is not read.
    package static let maximumBodySize = 65_536

    private let endpoints: Endpoints
    private let cryptography: any Cryptography
    private let clock: Clock
    private let keyLookup: () -> KeyLookup?

    package init(
        endpoints: Endpoints, cryptography: any Cryptography, clock: Clock,
        keyLookup: @escaping () -> KeyLookup?
    ) {
        self.endpoints = endpoints
        self.cryptography = cryptography
        self.clock = clock
        self.keyLookup = keyLookup
    }

    /// Answers a request; a request that could not even be read comes as the failure that it is.
    package func respond(to incoming: Result<Request, Failure>) -> Exchange {
        let start = clock.monotonicMilliseconds()
        let now = clock.now()
        let context = (try? incoming.get())?.context
        let requestID = context?.requestID ?? Self.newRequestID(at: now, using: cryptography)
        var log = LogLine(time: now, requestID: requestID)
        var response: Response
        var errands: [Errand] = []
        do throws(Failure) {
            response = try endpoints.answer(try incoming.get(), at: now, log: &log, errands: &errands)
        } catch {
            let problem = Problem(error)
            log.outcome = problem.code
            log.reason = error.logReason
            let request = try? incoming.get()
            let language = Language(accepting: request?.headers["accept-language"])
            response =
                ErrorPage.isWanted(by: request)
                ? ErrorPage(problem, in: language, requestID: requestID).response(using: cryptography)
                : problem.response(in: language, requestID: requestID)
        }
        log.status = response.status
        log.keyCache = keyLookup()
        log.milliseconds = clock.monotonicMilliseconds() - start
        // RFC 9110 §9.3.2: HEAD is GET without the body.
        if (try? incoming.get())?.isHead == true { response.body = [] }
        return Exchange(response: response, log: log, errands: errands)
    }

    /// The answer of a program that is not configured: it says nothing of the configuration, which is the log's to tell.
    package static func unconfigured(using cryptography: any Cryptography, clock: Clock) -> Exchange {
        let now = clock.now()
        let requestID = newRequestID(at: now, using: cryptography)
        var log = LogLine(time: now, requestID: requestID)
        let problem = Problem(.notConfigured)
        log.outcome = problem.code
        log.reason = "not_configured"
        return Exchange(response: problem.response(in: .spanish, requestID: requestID), log: log)
    }

    private static func newRequestID(at now: UnixTime, using cryptography: any Cryptography) -> String {
        let random = (try? cryptography.randomBytes(10)) ?? [UInt8](repeating: 0, count: 10)
        return UUIDv7(at: now, random: random).description
    }
}

/// A response, what the log is to say of it, and what is to be done when it is written.
package struct Exchange {
    package var response: Response
    package var log: LogLine
    package var errands: [Errand] = []
}

/// The clocks, handed in: the centre reads none.
package struct Clock: Sendable {
    package var now: @Sendable () -> UnixTime
    /// Milliseconds from any fixed point, never set back.
    package var monotonicMilliseconds: @Sendable () -> Double

    package init(
        now: @escaping @Sendable () -> UnixTime, monotonicMilliseconds: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.monotonicMilliseconds = monotonicMilliseconds
    }
}
