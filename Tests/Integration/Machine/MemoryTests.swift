#if SQLite
import Foundation
import TestSupport
import Testing

/// A machine without memory: an answer is a right one or 5xx, or the process ends without; never is the token blamed for it.
@Suite(.serialized) struct MemoryTests {
    /// So many attempts, or as many as `Tests/kills.sh` asks for.
    private static func attempts(_ few: Int) -> Int { KilledStore.asked ?? few }

    /// Once libcrypto, refused a few bytes, said that the signature was not valid, and that was 401.
    @Test(arguments: KilledStore.all, ["ALLOCATION_REFUSED", "ALLOCATIONS_REFUSED_AFTER"])
    func anAllocationThatIsRefusedIsNeverTheTokensFault(_ store: KilledStore, _ refusal: String) throws {
        let function = try ConfinedFunction()
        let preload = try OutOfMemory.preload.get().path
        let counter = function.site.folder.appending(path: "count")
        // Anywhere, and as often while the signature is verified, or the store's library at work.
        let places = ["start", store.isFile ? "key" : "library"]
        var ledger = Ledger()
        try store.serve(function.site) {
            try ledger.signIn("001.memory", function)
            var counts = try places.map { place in
                function.variables = [
                    "LD_PRELOAD": preload, "ALLOCATIONS_COUNTED": counter.path(), "ALLOCATIONS_FROM": place,
                ]
                try ledger.signIn("001.memory", function)
                return try #require(Int(String(contentsOf: counter, encoding: .utf8)))
            }
            // Of those from the key, the verification's.
            if store.isFile { counts[1] = 300 }
            for number in 0..<Self.attempts(store.isFile ? 30 : 12) {
                function.variables = [
                    "LD_PRELOAD": preload, refusal: "\(Int.random(in: 1...counts[number % 2]))",
                    "ALLOCATIONS_FROM": places[number % 2],
                ]
                if number.isMultiple(of: 3) {
                    try ledger.refresh(function)
                } else {
                    try ledger.signIn("001.memory", function)
                }
            }
            try ledger.check(function)
        }
        #expect(function.outcomes.keys.count > 1, "\(function.outcomes)")
    }

    #if PostgreSQL
    /// A word of the connection's that there was no memory for ended the list of them: without `sslmode` an impostor was asked as well.
    @Test(arguments: ["sslmode", "verify-full", "sslrootcert", "host"])
    func aConnectionIsMadeAsItIsSaidOrNotAtAll(_ word: String) throws {
        let preload = try Preload(
            """
            #include <stdlib.h>
            #include <string.h>
            char *strdup(const char *text) {
                if (strcmp(text, "\(word)") == 0) return NULL;
                size_t size = strlen(text) + 1;
                char *copy = malloc(size);
                return copy ? memcpy(copy, text, size) : NULL;
            }
            """)
        let server = PostgreSQLServer.shared
        let role = PostgreSQLServer.newSchema()
        try server.psql("CREATE ROLE \(role) LOGIN PASSWORD 'right'; GRANT CREATE ON DATABASE postgres TO \(role)")
        let function = try ConfinedFunction()
        let url =
            "postgres:host=localhost port=\(server.port) user=\(role) password=right dbname=postgres schema=\(role)"
        let event = try function.site.event(token: function.site.token())
        let ask = { (authority: String) throws in
            function.site.environment["AUTH_APPLE_STORE"] = "\(url) sslmode=verify-full sslrootcert=\(authority)"
            return try function.answer(event, under: [], adding: ["LD_PRELOAD": preload.path])
        }
        #expect(try ask("/etc/ssl/certs/ca-certificates.crt")?.status == 503)
        #expect(try ask(server.authority)?.status == 503)
    }
    #endif

    /// The same at one place: what libcrypto does when the first few bytes for a verification are refused.
    @Test func aVerificationThatFailsOnceIsTriedAgain() throws {
        let preload = try Preload(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            int EVP_DigestVerifyInit(void *context, void **key, const void *digest, void *engine, void *with) {
                static int calls;
                int (*next)(void *, void **, const void *, void *, void *) = dlsym(RTLD_NEXT, "EVP_DigestVerifyInit");
                return calls++ == 0 ? 0 : next(context, key, digest, engine, with);
            }
            """)
        let function = try ConfinedFunction()
        let event = try function.site.event(token: function.site.token())
        let answer = try function.answer(event, under: [], adding: ["LD_PRELOAD": preload.path])
        #expect(answer?.status == 201)
    }

    /// An error that somebody else left in libcrypto's queue was taken for the cause of a no, and a forged token ended the process.
    @Test func anErrorOfBeforeIsNotTheCauseOfANo() throws {
        let preload = try Preload(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            int RAND_set_rand_method(const void *method) {
                int (*next)(const void *) = dlsym(RTLD_NEXT, "RAND_set_rand_method");
                int done = next(method);
                ((void (*)(void))dlsym(RTLD_NEXT, "ERR_new"))();
                /* ERR_LIB_EVP */
                ((void (*)(int, int, const char *, ...))dlsym(RTLD_NEXT, "ERR_set_error"))(6, 1, 0);
                return done;
            }
            """)
        let function = try ConfinedFunction()
        let forged = try function.site.event(token: function.site.token("--bad", "bad-signature"))
        let answer = try function.answer(forged, under: [], adding: ["LD_PRELOAD": preload.path])
        #expect(answer?.status == 401)
    }

    /// The whole address space, from far too little to enough.
    @Test(arguments: KilledStore.all) func anAddressSpaceThatIsTooSmallLosesNothing(_ store: KilledStore) throws {
        let function = try ConfinedFunction()
        var ledger = Ledger()
        try store.serve(function.site) {
            try ledger.signIn("001.memory", function)
            // The least with which it answers, to 64 KiB.
            var (least, enough) = (0, 1 << 20)
            while enough - least > 64 {
                let middle = (least + enough) / 2
                function.wrapper = ["/usr/bin/prlimit", "--as=\(middle << 10)"]
                let before = function.outcomes[.answered]
                try ledger.signIn("001.memory", function)
                if function.outcomes[.answered] == before { least = middle } else { enough = middle }
            }
            try #require(enough < 1 << 20, "nothing was ever answered")
            for number in 0..<Self.attempts(store.isFile ? 24 : 8) {
                // Most of the room is for the program's own text; what is asked for comes last.
                let space = Int.random(in: (enough - 4096)...(enough + 256))
                function.wrapper = ["/usr/bin/prlimit", "--as=\(space << 10)"]
                if number.isMultiple(of: 4) {
                    try? FileManager.default.removeItem(at: function.site.folder.appending(path: "cache"))
                }
                if number.isMultiple(of: 3) {
                    try ledger.refresh(function)
                } else {
                    try ledger.signIn("001.new.\(number)", function)
                }
            }
            try ledger.check(function)
        }
    }
}
#endif
