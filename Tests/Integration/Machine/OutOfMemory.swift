import TestSupport

/// An allocator that refuses once, or from then on: it gives nothing at the allocation that `ALLOCATION_REFUSED` names, counted
/// from the place `ALLOCATIONS_FROM`, and with `ALLOCATIONS_REFUSED_AFTER` at none that follows. The places are `start`, the program's;
/// `key`, where libcrypto is first given one: Apple's, to verify a token by; and `library`, where libpq or libcurl is opened, whose
/// own are counted then and no others. Into the file `ALLOCATIONS_COUNTED` it writes how many there were.
enum OutOfMemory {
    static let preload = Result { try Preload(source) }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        void *__libc_malloc(size_t);
        void *__libc_calloc(size_t, size_t);
        void *__libc_realloc(void *, size_t);
        void *__libc_memalign(size_t, size_t);
        static long count, refused = -1, after = -1;
        static const char *counted, *from;
        static int library;
        static void reached(const char *place) {
            if (!from || strcmp(from, place)) return;
            library = strcmp(from, "library") == 0;
            from = NULL;
            count = 0;
        }
        __attribute__((constructor)) static void begin(void) {
            const char *one = getenv("ALLOCATION_REFUSED"), *all = getenv("ALLOCATIONS_REFUSED_AFTER");
            counted = getenv("ALLOCATIONS_COUNTED");
            from = getenv("ALLOCATIONS_FROM");
            reached("start");
            if (one) refused = atol(one);
            if (all) after = atol(all);
        }
        __attribute__((destructor)) static void end(void) {
            char text[32];
            if (!counted) return;
            int file = open(counted, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            if (write(file, text, snprintf(text, sizeof text, "%ld", count)) < 0) _exit(99);
            close(file);
        }
        void *EVP_PKEY_CTX_new_from_name(void *context, const char *name, const char *properties) {
            void *(*next)(void *, const char *, const char *) = dlsym(RTLD_NEXT, "EVP_PKEY_CTX_new_from_name");
            reached("key");
            return next(context, name, properties);
        }
        void *dlopen(const char *file, int mode) {
            void *(*next)(const char *, int) = dlsym(RTLD_NEXT, "dlopen");
            if (file && (!strncmp(file, "libpq.", 6) || !strncmp(file, "libcurl.", 8))) reached("library");
            return next(file, mode);
        }
        /* Whether the store's library asks. */
        static int counts(void *caller) {
            Dl_info place;
            return dladdr(caller, &place) && (strstr(place.dli_fname, "/libpq.") || strstr(place.dli_fname, "/libcurl."));
        }
        static int refuses(void *caller) {
            if (from || (library && !counts(caller))) return 0;
            long number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
            if (number != refused && (after < 0 || number <= after)) return 0;
            errno = ENOMEM;
            return 1;
        }
        #define CALLER __builtin_return_address(0)
        void *malloc(size_t size) { return refuses(CALLER) ? NULL : __libc_malloc(size); }
        void *calloc(size_t number, size_t size) { return refuses(CALLER) ? NULL : __libc_calloc(number, size); }
        void *realloc(void *old, size_t size) { return refuses(CALLER) ? NULL : __libc_realloc(old, size); }
        char *strdup(const char *text) {
            size_t size = strlen(text) + 1;
            void *copy = refuses(CALLER) ? NULL : __libc_malloc(size);
            return copy ? memcpy(copy, text, size) : NULL;
        }
        void *memalign(size_t alignment, size_t size) { return refuses(CALLER) ? NULL : __libc_memalign(alignment, size); }
        void *aligned_alloc(size_t alignment, size_t size) { return refuses(CALLER) ? NULL : __libc_memalign(alignment, size); }
        int posix_memalign(void **place, size_t alignment, size_t size) {
            if (refuses(CALLER)) return ENOMEM;
            *place = __libc_memalign(alignment, size);
            return *place ? 0 : ENOMEM;
        }
        """
}
