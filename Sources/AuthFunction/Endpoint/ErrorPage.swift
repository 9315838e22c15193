internal import JOSE

/// What a person sees when a failure comes in the way of their browser: what happened and what to do, and nothing of the
/// request. It loads nothing, runs nothing and stands in no frame (CSP Level 3).
struct ErrorPage {
    private let problem: Problem
    private let language: Language
    private let requestID: String

    init(_ problem: Problem, in language: Language, requestID: String) {
        self.problem = problem
        self.language = language
        self.requestID = requestID
    }

    /// Browsers ask for HTML by name; programs do not, and get problem details as everywhere.
    static func isWanted(by request: Request?) -> Bool {
        guard let request, Route.isForPeople(path: request.path) else { return false }
        return (request.headers["accept"] ?? "").utf8.prefix(1000).split(separator: UInt8(ascii: ",")).contains {
            range in
            let type = range.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") }
            return String(decoding: type, as: UTF8.self).lowercased() == "text/html"
        }
    }

    func response(using cryptography: any Cryptography) -> Response {
        let digest = cryptography.sha256(Array(Self.style.utf8)[...])
        var response = Response(
            status: problem.status,
            headers: [
                "content-type": "text/html; charset=utf-8", "content-language": language.rawValue,
                "cache-control": "no-store", "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
                "content-security-policy":
                    "default-src 'none'; style-src 'sha256-\(Base64.encode(digest))'; base-uri 'none'; "
                    + "form-action 'none'; frame-ancestors 'none'",
            ], body: Array(markup.utf8))
        for field in problem.headers.fields where field.name != "www-authenticate" {
            response.headers.append(field.name, field.value)
        }
        return response
    }

    private var markup: String {
        let (title, advice, reference) =
            switch language {
            case .spanish: ("Iniciar sesión con Apple", "Vuelve a la app y empieza otra vez.", "Referencia")
            case .english: ("Sign in with Apple", "Go back to the app and start again.", "Reference")
            }
        return """
            <!doctype html>
            <html lang="\(language.rawValue)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style>\(Self.style)</style>
            </head>
            <body>
            <main>
            <h1>\(title)</h1>
            <p>\(problem.pageDetail.text(in: language))</p>
            <p>\(advice)</p>
            <p class="reference">\(reference) <code>\(Self.escaped(requestID))</code></p>
            </main>
            </body>
            </html>

            """
    }

    /// Of contrast 7:1 in light and in dark (WCAG 2.2 §1.4.6).
    private static let style = """
        :root{--ink:#1c1c1e;--soft:#4a4a4f;--paper:#f4f4f6;--card:#fff;--line:#c8c8ce}
        @media(prefers-color-scheme:dark){:root{--ink:#f5f5f7;--soft:#c3c3ca;--paper:#0f0f11;--card:#1d1d20;--line:#3a3a40}}
        body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
        main{box-sizing:border-box;max-width:30rem;margin:12vh auto 0;padding:1.75rem 1.5rem;background:var(--card);border:1px solid var(--line);border-radius:1rem}
        @media(max-width:32rem){main{margin:12vh 1rem 0}}
        h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
        p{margin:0 0 .75rem}
        .reference{margin:1.5rem 0 0;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.875rem}
        code{display:block;font:.875rem ui-monospace,"Roboto Mono",Menlo,Consolas,monospace}
        """

    /// The runtime's name for the request is its own, and text all the same.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            default: String(scalar)
            }
        }.joined()
    }
}

extension Problem {
    /// A person can do nothing about a field or a method.
    fileprivate var pageDetail: Phrase {
        switch detail {
        case .tooManyRequests, .unavailable, .internalError, .accountDisabled: detail
        case .signInFailed, .sessionOver, .invalidRequest, .notFound, .methodNotAllowed, .contentTooLarge,
            .unsupportedMediaType, .formExpected, .reauthenticationRequired, .deletedRevokeByHand:
            .signInFailed
        }
    }
}
