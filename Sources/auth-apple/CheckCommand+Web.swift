internal import Accounts
internal import AuthFunction

extension CheckCommand {
    /// Whether Android and the web have a button; what is wrong with it the configuration has said already.
    static func tellOfWebFlow(_ rooms: Rooms) {
        guard let web = rooms.configuration.web else {
            return off(
                "web flow",
                """
                Android and the web have no button: set AUTH_APPLE_WEB_CLIENT_ID, AUTH_APPLE_WEB_CALLBACK_URL and \
                AUTH_APPLE_RETURN_URLS
                """)
        }
        line(true, "web flow", "on for \(web.id), answers at \(web.callbackURL)")
    }
}
