internal import Accounts
internal import JOSE

/// `GET /auth/providers`: whether the app shows the button, and what the button does (scenario 5). iOS has a native one; Android
/// and the web have the flow through the browser, or no button.
enum ProvidersEndpoint {
    private enum Platform: String, CaseIterable {
        case ios, android, web
    }

    static func response(to query: String, web: WebClient?) throws(Failure) -> Response {
        let form = try WebEndpoint.parameters(of: Array(query.utf8), as: "query")
        var errors: [Failure.FieldError] = []
        let name = WebEndpoint.one("platform", of: form, &errors)
        let platform = name.flatMap { name in Platform.allCases.first { $0.rawValue.isIdentical(to: name) } }
        if name != nil, platform == nil { errors.append(.init("platform", "not_ios_android_or_web")) }
        guard errors.isEmpty, let platform else { throw .invalidRequest(errors) }
        let (flow, address): (String?, String?) =
            switch platform {
            case .ios: ("native", nil)
            case .android, .web: (web == nil ? nil : "web", web?.startURL)
            }
        let apple: JSON = [
            "id": "apple", "show": .bool(flow != nil), "flow": .string(orNull: flow),
            "authorize_url": .string(orNull: address),
        ]
        return Response(
            status: 200, json: ["platform": .string(platform.rawValue), "providers": .array([apple])],
            // It says the same to everybody, so any page may read it: the app's own, from wherever it is served.
            headers: ["cache-control": "public, max-age=300", "access-control-allow-origin": "*"])
    }
}

extension WebClient {
    /// Where a flow begins. The callback's address is how the world reaches this function, so it lies beside that.
    var startURL: String { callbackURL.dropLast("callback".count) + "authorize" }
}
