import Foundation
import TestSupport
import Testing

@testable import Xid

/// What the transport of Linux keeps, against a real TLS server. The rest of its rules is tested with `CurlHTTP`.
@Suite(.serialized) struct TransportTests {
    @Test(arguments: [LoopbackServer.Answer.TLS.good, .only11, .wrongHost, .untrusted, .expired])
    func aServerThatDoesNotProveItselfIsNotAsked(tls: LoopbackServer.Answer.TLS) async throws {
        let result = try await Self.exchange(.init(200, "{}").with { $0.tls = tls })
        if tls == .good {
            #expect(try result.get().status == 200)
        } else {
            #expect(throws: TransportError.tls) { try result.get() }
        }
    }

    @Test func anAnswerThatNeverComesEndsWithTheTimeLimit() async throws {
        let result = try await Self.exchange(.init().with { $0.silent = true })
        #expect(throws: TransportError.timeout) { try result.get() }
    }

    @Test func halfAnAnswerIsNone() async throws {
        let result = try await Self.exchange(.init(200, "0123456789").with { $0.truncated = true })
        #expect(throws: TransportError.network) { try result.get() }
    }

    @Test(arguments: ["file:///etc/hostname", "http://example.com/", "ftp://127.0.0.1/", "gopher://x", ""])
    func otherAddressesAreNotAsked(url: String) async {
        let result = await Self.result { () async throws(TransportError) in
            try await CurlTransport().send(TransportRequest(url: url))
        }
        #expect(throws: TransportError.network) { try result.get() }
    }

    /// The server is told what to answer by blocking calls, so all of it is done on a thread of its own.
    static func exchange(
        _ answer: LoopbackServer.Answer
    ) async throws -> Result<TransportResponse, TransportError> {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try LoopbackServer.run(answer) { server in
                            let transport = CurlTransport(certificateAuthorities: server.authority, seconds: 1)
                            let url = server.url()
                            let done = DispatchSemaphore(value: 0)
                            let outcome = Guarded<Result<TransportResponse, TransportError>>(.failure(.cancelled))
                            Task {
                                let result = await result { () async throws(TransportError) in
                                    try await transport.send(TransportRequest(url: url))
                                }
                                outcome.withLock { $0 = result }
                                done.signal()
                            }
                            done.wait()
                            return outcome.withLock { $0 }
                        }
                    })
            }
        }
    }

    static func result(
        _ work: () async throws(TransportError) -> TransportResponse
    ) async -> Result<TransportResponse, TransportError> {
        do throws(TransportError) {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }
}
