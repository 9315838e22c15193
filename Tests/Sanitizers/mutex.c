// Tells the thread sanitizer when a Mutex of Swift's was waited for.
//
// Mutex is locked and unlocked inline, which the sanitizer sees; but a thread that has to wait does so inside
// libswiftSynchronization, which is not sanitized (it spins, then asks the kernel: FUTEX_LOCK_PI). So the sanitizer takes two holders
// after one another for two at once: of a program that does nothing but count under one Mutex it says so too. Nothing is suppressed
// here: these two calls are seen, and every real race still is. The linker puts them in the place of the library's (--wrap).
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// Synchronization._MutexHandle._lockSlow(UInt32) and ._unlockSlow()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define METHOD __attribute__((swiftcall)) void
#define SELF __attribute__((swift_context)) void *self

// Weak, for a program that has no Mutex does not link the library.
__attribute__((weak)) METHOD real_lock(uint32_t thread, SELF) __asm__("__real_" LOCK);
__attribute__((weak)) METHOD real_unlock(SELF) __asm__("__real_" UNLOCK);
METHOD seen_lock(uint32_t thread, SELF) __asm__("__wrap_" LOCK);
METHOD seen_unlock(SELF) __asm__("__wrap_" UNLOCK);

METHOD seen_lock(uint32_t thread, SELF) {
    real_lock(thread, self);
    __tsan_acquire(self);
}

METHOD seen_unlock(SELF) {
    __tsan_release(self);
    real_unlock(self);
}
