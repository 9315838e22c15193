@testable import Xid

/// The wire, with a thief's hand on it: what goes to the token endpoint is changed, or has been sent before.
struct MeddlingTransport: HTTPTransport {
    enum Kind: Sendable {
        /// Who has the code only does not have the verifier.
        case wrongVerifier
        /// The code has been exchanged by somebody else a moment earlier.
        case replaysCode
    }

    let kind: Kind
    private let wire = CurlTransport()

    init(_ kind: Kind) {
        self.kind = kind
    }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        guard let body = request.body.map({ String(decoding: $0, as: UTF8.self) }), body.contains("code_verifier=")
        else {
            return try await wire.send(request)
        }
        switch kind {
        case .wrongVerifier:
            var changed = request
            let verifier = String(repeating: "A", count: 43)
            changed.body = Array(body.replacing(/code_verifier=[^&]*/, with: "code_verifier=\(verifier)").utf8)
            return try await wire.send(changed)
        case .replaysCode:
            let first = try await wire.send(request)
            guard first.status == 200 else { throw .network }
            return try await wire.send(request)
        }
    }
}
