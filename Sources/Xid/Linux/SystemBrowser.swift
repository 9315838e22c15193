#if os(Linux)
package import FoundationEssentials
@unsafe @preconcurrency internal import Glibc

/// The person's own browser, by xdg-open (freedesktop.org's xdg-utils), which may go on as long as the browser does.
package enum SystemBrowser {
    package static func open(_ url: URL) throws {
        // What the browser has to say belongs on no terminal of ours.
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for descriptor in Int32(0)...2 {
            unsafe posix_spawn_file_actions_addopen(
                &actions, descriptor, "/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY, 0)
        }
        // The child gets no signal mask of ours and no signal that we ignore: it would keep both.
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("xdg-open"), strdup(url.absoluteString), nil]
        defer {
            unsafe free(arguments[0])
            unsafe free(arguments[1])
        }
        var process: pid_t = 0
        guard unsafe posix_spawnp(&process, "xdg-open", &actions, &attributes, &arguments, environ) == 0 else {
            throw XidError(.cannotStartBrowser)
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else { return }
        }
        guard status == 0 else { throw XidError(.cannotStartBrowser) }
    }
}
#endif
