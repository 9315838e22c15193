// The program's arguments for Swift's library, in place of its own two functions (CommandLine.cpp in its stdlib/public/stubs), which
// read and parse /proc/self/maps to find them, and that whenever a program starts: a thirtieth of the time of a sign-in. glibc hands
// the arguments to every constructor.

static int count;
static char **arguments;

__attribute__((constructor)) static void remember(int argc, char **argv) {
    count = argc;
    arguments = argv;
}

char **_swift_stdlib_getUnsafeArgvArgc(int *argc) {
    *argc = count;
    return arguments;
}

void _swift_stdlib_overrideUnsafeArgvArgc(char **argv, int argc) {
    count = argc;
    arguments = argv;
}
