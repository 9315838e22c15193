#if SQLite
import Foundation
import TestSupport
import Testing

/// A machine that lacks space, rights or file descriptors: what is answered is right, what cannot be done is 5xx or not
/// answered, and when the fault is mended the next request works and nothing is lost or there by half.
@Suite(.serialized) struct MachineFaultTests {
    /// Sign-ins of new and known people, refreshes and a logout under one fault, each mended and asked again.
    private func live(_ ledger: inout Ledger, under fault: [String], _ function: ConfinedFunction, _ number: Int) throws
    {
        function.wrapper = fault
        try ledger.signIn("001.fault.\(number)", function)
        try ledger.signIn("001.fault.0", function)
        try ledger.refresh(function)
        if number.isMultiple(of: 4) { try ledger.logOut(function) }
    }

    private func remove(_ name: String, of function: ConfinedFunction) {
        try? FileManager.default.removeItem(at: function.site.folder.appending(path: name))
    }

    @Test(arguments: KilledStore.all) func withoutFileDescriptorsNothingIsLost(_ store: KilledStore) throws {
        let function = try ConfinedFunction()
        var ledger = Ledger()
        try store.serve(function.site) {
            for limit in store.isFile ? 3...14 : 3...6 {
                let fault = ["/usr/bin/prlimit", "--nofile=\(limit)"]
                if limit.isMultiple(of: 2) { remove("cache", of: function) }
                if store.isFile {
                    try live(&ledger, under: fault, function, limit)
                } else {
                    // One request, which may wait for as long as its patience lasts.
                    function.wrapper = fault
                    try ledger.signIn("001.fault.\(limit % 2)", function)
                }
            }
            try ledger.check(function)
        }
        // A connection to PostgreSQL needs one, which its libraries have needed before.
        #expect(function.outcomes.keys.count == (store.name == "PostgreSQL" ? 2 : 3), "\(function.outcomes)")
    }

    /// Sixteen processes at once, and no file yet: one was told that there is none to write to, and then found one to read.
    @Test func aDatabaseThatAnotherProcessCreatesMeanwhileIsWrittenTo() throws {
        let preload = try Preload(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <fcntl.h>
            #include <stdarg.h>
            #include <string.h>
            #include <unistd.h>
            static int opened(const char *name, const char *path, int flags, va_list more) {
                static int isThere;
                int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, name);
                int mode = flags & O_CREAT ? va_arg(more, int) : 0;
                if (isThere || !strstr(path, "accounts.sqlite") || (flags & (O_ACCMODE | O_CREAT)) != O_RDWR)
                    return next(path, flags, mode);
                isThere = 1;
                close(next(path, O_RDWR | O_CREAT | O_EXCL, 0600));
                errno = ENOENT;
                return -1;
            }
            #define OPEN(name) \\
                int name(const char *path, int flags, ...) { \\
                    va_list more; \\
                    va_start(more, flags); \\
                    int file = opened(#name, path, flags, more); \\
                    va_end(more); \\
                    return file; \\
                }
            OPEN(open)
            OPEN(open64)
            """)
        let function = try ConfinedFunction()
        let folder = function.site.folder.appending(path: "state")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        function.site.environment["AUTH_APPLE_STORE"] = "sqlite:\(folder.appending(path: "accounts.sqlite").path())"
        let event = try function.site.event(token: function.site.token())
        let answer = try function.answer(event, under: [], adding: ["LD_PRELOAD": preload.path])
        #expect(answer?.status == 201)
    }

    /// So PostgreSQL is asked where the whole system has none left.
    @Test(arguments: KilledStore.all.filter { $0.name == "PostgreSQL" })
    func withoutASocketNothingIsLost(_ store: KilledStore) throws {
        let preload = try Preload(
            """
            #include <errno.h>
            int socket(int domain, int type, int protocol) {
                errno = ENFILE;
                return -1;
            }
            """)
        let function = try ConfinedFunction()
        var ledger = Ledger()
        try store.serve(function.site) {
            try live(&ledger, under: [], function, 0)
            function.variables = ["LD_PRELOAD": preload.path]
            try live(&ledger, under: [], function, 1)
            try ledger.check(function)
        }
        #expect(function.outcomes == [.answered: 4, .unavailable: 3] && function.refusals == [503])
    }

    /// Neither cache nor database is there.
    @Test func withoutFileDescriptorsNothingIsMadeByHalf() throws {
        for limit in 5...12 {
            let function = try ConfinedFunction()
            var ledger = Ledger()
            function.wrapper = ["/usr/bin/prlimit", "--nofile=\(limit)"]
            try ledger.signIn("001.first", function)
            try ledger.check(function)
        }
    }

    /// No file may grow beyond so many bytes: what a full disk looks like where no small one can be mounted.
    @Test func filesThatMayNotGrowLoseNothing() throws {
        let sizes = [0, 1, 512, 1024, 4096, 8192, 16_384, 32_768, 65_536, 131_072]
        let function = try ConfinedFunction()
        var ledger = Ledger()
        for (number, size) in sizes.enumerated() {
            if number.isMultiple(of: 2) { remove("cache", of: function) }
            try live(&ledger, under: ["/usr/bin/prlimit", "--fsize=\(size)", "--"], function, number)
        }
        try ledger.check(function)
        // The limit's signal does not end it: who asks is told to ask again.
        #expect(function.outcomes[.unavailable] ?? 0 > 0 && function.outcomes[.silent] == nil, "\(function.outcomes)")
        for size in sizes[2...] {
            let function = try ConfinedFunction()
            var ledger = Ledger()
            function.wrapper = ["/usr/bin/prlimit", "--fsize=\(size)", "--"]
            try ledger.signIn("001.first", function)
            try ledger.check(function)
            #expect(function.outcomes[.silent] == nil)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: function.site.folder.path() + "/cache").allSatisfy {
                    !$0.hasSuffix(".new")
                })
        }
    }

    /// The answer, or the log, goes where nothing can be written.
    @Test func anAnswerThatCannotBeWrittenIsGivenAgain() throws {
        let function = try ConfinedFunction()
        var ledger = Ledger()
        for (number, device) in [">/dev/full", "2>/dev/full", ">&-", "2>&-"].enumerated() {
            try live(&ledger, under: ["/bin/sh", "-c", "exec \"$@\" \(device)", "sh"], function, number)
        }
        try ledger.check(function)
        #expect(function.outcomes[.answered] == 6 && function.outcomes[.silent] == 7, "\(function.outcomes)")
    }

    @Test func whatMayNotBeWrittenLosesNothing() throws {
        let function = try ConfinedFunction()
        // Root passes over modes, unless it gives up that right.
        let fault =
            geteuid() == 0
            ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"] : ["/usr/bin/env"]
        var ledger = Ledger()
        try live(&ledger, under: [], function, 0)
        let closed: [(String, Int)] = [
            ("state", 0o500), ("state/accounts.sqlite", 0o400), ("state", 0), ("cache", 0o500), ("cache", 0),
            ("cache/apple-keys.json", 0),
        ]
        for (number, (name, mode)) in closed.enumerated() {
            let path = function.site.folder.appending(path: name).path()
            let before = try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions])
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            function.wrapper = fault
            function.mend = {
                try FileManager.default.setAttributes([.posixPermissions: before], ofItemAtPath: path)
            }
            try ledger.signIn("001.closed.\(number)", function)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            try ledger.refresh(function)
            function.mend = nil
        }
        try ledger.check(function)
        #expect(function.outcomes[.unavailable] ?? 0 >= 2, "\(function.outcomes)")
    }

    /// A small disk that fills up, and that the system then makes read-only.
    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func aDiskThatIsFullOrReadOnlyLosesNothing() throws {
        let function = try ConfinedFunction()
        guard let disk = try SmallDisk(megabytes: 2) else { return }
        function.site.environment["AUTH_APPLE_STORE"] = "sqlite:\(disk.path)/state/accounts.sqlite"
        function.site.environment["AUTH_APPLE_KEY_CACHE"] = "\(disk.path)/cache/apple-keys.json"
        var ledger = Ledger()
        function.mend = { disk.empty() }
        // From nothing, and with all there but the keys, which are fetched again; with ever more pages left.
        for pages in 0..<8 {
            try? FileManager.default.removeItem(atPath: "\(disk.path)/cache")
            try disk.fill(leaving: pages)
            try ledger.signIn("001.full.\(pages)", function)
            try disk.fill(leaving: pages)
            try ledger.refresh(function)
        }
        #expect(function.outcomes[.unavailable] ?? 0 > 3, "\(function.outcomes)")

        function.mend = { disk.makeReadOnly(false) }
        let before = function.outcomes[.unavailable] ?? 0
        for isSignIn in [false, true] {
            disk.makeReadOnly(true)
            if isSignIn { try ledger.signIn("001.read-only", function) } else { try ledger.refresh(function) }
        }
        #expect(function.outcomes[.unavailable] == before + 2)
        try ledger.check(function)
    }
}
#endif
