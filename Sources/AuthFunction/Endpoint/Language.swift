/// The languages in which people are spoken to; Spanish unless they ask otherwise.
enum Language: String {
    case spanish = "es"
    case english = "en"

    /// By Accept-Language (RFC 9110 §12.5.4): English only where it is preferred to Spanish. `*` stands for whichever of the
    /// two is not named.
    init(accepting header: String?) {
        var quality: [String: Int] = [:]
        for range in (header ?? "").utf8.prefix(1000).split(separator: UInt8(ascii: ",")) {
            let parts = String(decoding: range.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self).lowercased()
                .split(separator: ";")
            guard let primary = parts.first?.split(separator: "-").first else { continue }
            let weight =
                parts.dropFirst().first { $0.hasPrefix("q=") }.map { Self.thousandths($0.dropFirst(2)) } ?? 1000
            quality[String(primary)] = max(quality[String(primary)] ?? 0, weight)
        }
        let others = quality["*"] ?? 0
        self = (quality["en"] ?? others) > (quality["es"] ?? others) ? .english : .spanish
    }

    /// A qvalue (RFC 9110 §12.4.2) in thousandths; what is none counts as zero.
    private static func thousandths(_ text: Substring) -> Int {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = Int(parts[0]), (0...1).contains(whole) else { return 0 }
        let fraction = parts.count == 2 ? parts[1].prefix(3) : ""
        let digits = fraction + String(repeating: "0", count: 3 - fraction.count)
        return min(1000, whole * 1000 + (Int(digits) ?? 0))
    }
}

/// What a person is told. Never a reason that would help an attacker, always what to do.
enum Phrase {
    case signInFailed, sessionOver, accountDisabled, tooManyRequests, invalidRequest, notFound, methodNotAllowed,
        contentTooLarge, unsupportedMediaType, formExpected
    case unavailable, internalError
    case reauthenticationRequired, deletedRevokeByHand

    func text(in language: Language) -> String {
        switch language {
        case .spanish: spanish
        case .english: english
        }
    }

    private var spanish: String {
        switch self {
        // RF04, word for word.
        case .signInFailed: "No se pudo iniciar sesión con Apple. Intenta de nuevo."
        case .sessionOver: "La sesión ya no es válida. Inicia sesión de nuevo."
        case .accountDisabled: "Esta cuenta está deshabilitada. Comunícate con soporte."
        case .tooManyRequests: "Demasiados intentos. Espera un momento e intenta de nuevo."
        case .invalidRequest: "La solicitud no es válida. Revisa los campos indicados."
        case .reauthenticationRequired:
            "Para confirmar que eres tú, inicia sesión con Apple otra vez y vuelve a intentarlo."
        case .deletedRevokeByHand:
            """
            Tu cuenta se eliminó. Para que Apple también la olvide, abre en tu iPhone Ajustes › tu nombre › Iniciar sesión con \
            Apple, elige esta app y toca Dejar de usar, o hazlo en account.apple.com.
            """
        case .notFound: "No existe esa ruta."
        case .methodNotAllowed: "Esa ruta no admite este método."
        case .contentTooLarge: "La solicitud es demasiado grande."
        case .unsupportedMediaType: "Envía la solicitud como application/json."
        case .formExpected: "Envía la solicitud como application/x-www-form-urlencoded."
        case .unavailable: "El servicio no está disponible por el momento. Intenta de nuevo en unos segundos."
        case .internalError: "Ocurrió un error de nuestro lado. Intenta de nuevo más tarde."
        }
    }

    private var english: String {
        switch self {
        case .signInFailed: "Could not sign in with Apple. Please try again."
        case .sessionOver: "The session is no longer valid. Please sign in again."
        case .accountDisabled: "This account is disabled. Please contact support."
        case .tooManyRequests: "Too many attempts. Wait a moment and try again."
        case .invalidRequest: "The request is not valid. Check the fields that are named."
        case .reauthenticationRequired: "To confirm that it is you, sign in with Apple again and retry."
        case .deletedRevokeByHand:
            """
            Your account is deleted. To have Apple forget it as well, open Settings › your name › Sign in with Apple on your \
            iPhone, choose this app and tap Stop Using, or do it at account.apple.com.
            """
        case .notFound: "There is no such route."
        case .methodNotAllowed: "That route does not take this method."
        case .contentTooLarge: "The request is too large."
        case .unsupportedMediaType: "Send the request as application/json."
        case .formExpected: "Send the request as application/x-www-form-urlencoded."
        case .unavailable: "The service is not available at the moment. Try again in a few seconds."
        case .internalError: "Something went wrong on our side. Try again later."
        }
    }
}
