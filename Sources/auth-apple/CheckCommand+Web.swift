internal import Accounts
internal import AuthFunction

extension CheckCommand {
    /// Whether Android and the web have a button; what is wrong with it the configuration has said already.
    static func tellOfWebFlow(_ rooms: Rooms) {
        guard let web = rooms.configuration.web else {
            return line(
                true, "web flow",
                "off, so Android and the web have no button: set AUTH_APPLE_WEB_CLIENT_ID, _WEB_CALLBACK_URL and _RETURN_URLS"
            )
        }
        line(true, "web flow", "on for \(web.id), answers at \(web.callbackURL)")
    }
}
