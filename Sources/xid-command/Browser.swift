internal import FoundationEssentials
internal import Xid

/// Shows the person where to go: the address is printed, and opened unless that is not wanted.
///
/// It is one on this machine that leads on to the provider, once. So nothing of the sign-in is in it.
struct Browser {
    let isOpened: Bool

    init(_ options: Options) {
        isOpened = !options.has("no-browser") && Terminal.environment("XID_NO_BROWSER") != "1"
    }

    /// The system that Xid runs on, with this browser.
    var platform: Platform {
        var platform = Platform.current
        let isOpened = isOpened
        platform.agent = LoopbackAgent { url in
            guard isOpened else {
                Terminal.say("Open this address in a browser on this machine:\n  \(url.absoluteString)")
                return
            }
            Terminal.say("Opening the browser. If none opens, go to:\n  \(url.absoluteString)")
            do {
                try SystemBrowser.open(url)
            } catch {
                Terminal.say("xdg-open could not open a browser; the address above is still good.")
            }
        }
        return platform
    }
}
