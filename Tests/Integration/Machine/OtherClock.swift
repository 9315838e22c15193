import TestSupport
import Testing

/// Another time of day for a program that is started with it: the machine's, moved, or one that begins where it is said.
enum OtherClock {
    enum Setting: Hashable, CustomTestStringConvertible {
        case moved(Int)
        case from(Int)

        var testDescription: String {
            switch self {
            case .moved(let seconds): "moved by \(seconds) s"
            case .from(let seconds): "from \(seconds) s after 1970"
            }
        }

        /// What the clock says when it is really `now`.
        func time(at now: Int) -> Int {
            switch self {
            case .moved(let seconds): now + seconds
            case .from(let seconds): seconds
            }
        }
    }

    private static let preload = Result { try Preload(source) }

    static func variables(_ setting: Setting) throws -> [String: String] {
        let (name, seconds) =
            switch setting {
            case .moved(let seconds): ("CLOCK_MOVED", seconds)
            case .from(let seconds): ("CLOCK_FROM", seconds)
            }
        return ["LD_PRELOAD": try preload.get().path, name: "\(seconds)"]
    }

    private static let source = """
        #define _GNU_SOURCE
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>
        static long shift;
        __attribute__((constructor)) static void begin(void) {
            const char *moved = getenv("CLOCK_MOVED"), *from = getenv("CLOCK_FROM");
            struct timespec now;
            syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
            if (moved) shift = atol(moved);
            if (from) shift = atol(from) - now.tv_sec;
        }
        int clock_gettime(clockid_t clock, struct timespec *time) {
            int result = syscall(SYS_clock_gettime, clock, time);
            if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += shift;
            return result;
        }
        time_t time(time_t *place) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (place) *place = now.tv_sec;
            return now.tv_sec;
        }
        int gettimeofday(struct timeval *restrict time, void *restrict zone) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            time->tv_sec = now.tv_sec;
            time->tv_usec = now.tv_nsec / 1000;
            return 0;
        }
        """
}
