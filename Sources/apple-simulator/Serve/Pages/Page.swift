internal import JOSE

/// A page for people: whole in one response, readable on a phone, and of use without JavaScript.
///
/// Its policy lets it load nothing, run only the one script that bears this response's nonce, and be framed by nobody (CSP
/// Level 3). `form-action` is not restricted where a sign-in ends: browsers apply it to the redirects that follow, and where
/// an app sends the browser after its callback is the app's matter.
struct Page: Sendable {
    let language: Language
    private let nonce: String

    init(for request: HTTPRequest, using cryptography: any Cryptography) throws(CryptographyError) {
        language = Language(accepting: request.headers["accept-language"])
        nonce = Base64URL.encode(try cryptography.randomBytes(18))
    }

    /// - Parameters:
    ///   - referrer: with `same-origin` a form that goes elsewhere says `Origin: null`; Apple's says where it comes from.
    ///   - script: runs at the end of the page, where there is JavaScript.
    func response(
        _ status: Int = 200, title: String, _ content: HTML, script: HTML? = nil, referrer: String = "same-origin",
        outcome: String
    ) -> HTTPResponse {
        let markup: HTML = """
            <!doctype html>
            <html lang="\(language.rawValue)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <style nonce="\(nonce)">\(Self.style)</style>
            </head>
            <body>
            <p class="banner"><strong>\(language("Simulador", "Simulator"))</strong>
            \(language("Esto no es Apple. No escribas contraseñas ni datos reales.", "This is not Apple. Enter no passwords and no real data."))</p>
            <main>
            \(content)
            </main>
            \(script.map { "<script nonce=\"\(nonce)\">\($0)</script>" })
            </body>
            </html>

            """
        let policy =
            "default-src 'none'; style-src 'nonce-\(nonce)'; script-src 'nonce-\(nonce)'; base-uri 'none'; "
            + "frame-ancestors 'none'"
        return HTTPResponse(
            status: status,
            headers: [
                ("Content-Type", "text/html; charset=utf-8"), ("Content-Language", language.rawValue),
                ("Vary", "Accept-Language"), ("Cache-Control", "no-store"), ("Content-Security-Policy", policy),
                ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", referrer),
            ], body: Array(markup.markup.utf8), outcome: outcome)
    }
}
