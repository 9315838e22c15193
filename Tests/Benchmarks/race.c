/*
 * Starts programs in turn and says how long a whole process takes, from before its start to after its end.
 *
 *   race ROUNDS STATUS -- NAME STORE EVENTS [VARIABLE=VALUE]... PROGRAM [ARGUMENT]... [-- ...]
 *
 * Round by round each program gets its event (EVENTS/0.json, EVENTS/1.json, …; where there is no such file 0.json) on
 * standard input, and AUTH_APPLE_STORE=STORE and its variables in its environment, in which {round} is the round's number. In
 * turn, so that whatever else the machine does falls on all of them. An event file may hold several events, a line each. Unless there
 * are as many answers, all with a "statusCode" that begins with STATUS, the race ends: a program that is wrong is not fast.
 *
 * Writes a line of JSON for each program: its name, its peak of memory in KiB and the milliseconds of every round.
 *
 * It is in C and small because the kernel counts the memory of the process that starts another into the peak of the other.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAXIMUM_PROGRAMS = 16, MAXIMUM_VARIABLES = 16, WARM_UP = 3 };

extern char **environ;

typedef struct {
    const char *name, *events;
    char *store;            /* "AUTH_APPLE_STORE=…" */
    char *variables[MAXIMUM_VARIABLES];
    char **command;         /* ends with NULL */
    double *milliseconds;
    long peak;              /* KiB, the highest seen */
} Runner;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* A variable with the round in the place of {round}. */
static char *for_round(const char *variable, int round) {
    const char *place = strstr(variable, "{round}");
    char *text;
    if (!place) return strdup(variable);
    if (asprintf(&text, "%.*s%d%s", (int)(place - variable), variable, round, place + 7) < 0) fail("asprintf");
    return text;
}

/* Our environment, and what the runner has for itself. The last of a name would not win: ours are left out. */
static char **environment_of(const Runner *runner, int round) {
    static char *entries[1024];
    static size_t first_own, count;
    while (count > first_own) free(entries[--count]);
    count = 0;
    for (char **entry = environ; *entry && count < 900; entry++) {
        size_t name = strcspn(*entry, "=") + 1;
        int is_own = strncmp(*entry, runner->store, name) == 0;
        for (char *const *own = runner->variables; *own; own++) is_own |= strncmp(*entry, *own, name) == 0;
        if (!is_own) entries[count++] = *entry;
    }
    first_own = count;
    entries[count++] = strdup(runner->store);
    for (char *const *own = runner->variables; *own; own++) entries[count++] = for_round(*own, round);
    entries[count] = NULL;
    return entries;
}

static char *contents(int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) fail("fstat");
    char *text = calloc(1, (size_t)status.st_size + 1);
    if (!text || pread(descriptor, text, (size_t)status.st_size, 0) != status.st_size) fail("pread");
    return text;
}

static int count_of(const char *text, const char *wanted) {
    int count = 0;
    while ((text = strstr(text, wanted))) count++, text++;
    return count;
}

/* One process; its wall time in milliseconds. */
static double run(Runner *runner, const char *event, const char *answer, const char *status, int round) {
    int input = open(event, O_RDONLY | O_CLOEXEC);
    int output = open(answer, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (input < 0 || output < 0 || log < 0) fail(event);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, log, 2);
    char **environment = environment_of(runner, round);

    struct timespec began, ended;
    struct rusage usage;
    int ending;
    pid_t child;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (posix_spawn(&child, runner->command[0], &actions, NULL, runner->command, environment) != 0) fail(runner->command[0]);
    if (wait4(child, &ending, 0, &usage) != child) fail("wait4");
    clock_gettime(CLOCK_MONOTONIC, &ended);

    posix_spawn_file_actions_destroy(&actions);
    char wanted[32], *events = contents(input), *answers = contents(output);
    snprintf(wanted, sizeof wanted, "\"statusCode\":%s", status);
    if (ending != 0 || (count_of(answers, wanted) != count_of(events, "\n") && *status)) {
        fprintf(stderr, "race: %s ended with %d and not with status %s: %.200s\n", runner->name, ending, status, answers);
        exit(1);
    }
    free(events);
    free(answers);
    close(input);
    close(output);
    close(log);
    if (usage.ru_maxrss > runner->peak) runner->peak = usage.ru_maxrss;
    return (double)(ended.tv_sec - began.tv_sec) * 1e3 + (double)(ended.tv_nsec - began.tv_nsec) / 1e6;
}

int main(int count, char **arguments) {
    int rounds = count > 3 ? atoi(arguments[1]) : 0, runner_count = 0;
    Runner runners[MAXIMUM_PROGRAMS] = {0};
    for (int at = 3; at < count && rounds > 0;) {
        /* Here stands "--", and a program begins. */
        if (strcmp(arguments[at], "--") != 0 || count - at < 5 || runner_count == MAXIMUM_PROGRAMS) return 64;
        Runner *runner = &runners[runner_count++];
        arguments[at] = NULL;
        runner->name = arguments[at + 1];
        runner->events = arguments[at + 3];
        if (asprintf(&runner->store, "AUTH_APPLE_STORE=%s", arguments[at + 2]) < 0) fail("asprintf");
        at += 4;
        for (int i = 0; at < count && strchr(arguments[at], '='); at++)
            if (i < MAXIMUM_VARIABLES - 1) runner->variables[i++] = arguments[at];
        runner->command = arguments + at;
        while (at < count && strcmp(arguments[at], "--") != 0) at++;
        runner->milliseconds = calloc((size_t)rounds, sizeof(double));
        if (!runner->milliseconds) fail("calloc");
    }
    if (runner_count == 0) {
        fputs("usage: race ROUNDS STATUS -- NAME STORE EVENTS [VARIABLE=VALUE]... PROGRAM [ARGUMENT]... [-- ...]\n", stderr);
        return 64;
    }

    char event[4096], answer[4096];
    for (int round = 0; round < WARM_UP + rounds; round++) {
        /* Who goes first changes with the round. */
        for (int i = 0; i < runner_count; i++) {
            Runner *runner = &runners[(i + round) % runner_count];
            snprintf(event, sizeof event, "%s/%d.json", runner->events, round);
            if (access(event, R_OK) != 0) snprintf(event, sizeof event, "%s/0.json", runner->events);
            snprintf(answer, sizeof answer, "%s/answer", runner->events);
            double milliseconds = run(runner, event, answer, arguments[2], round);
            if (round >= WARM_UP) runner->milliseconds[round - WARM_UP] = milliseconds;
        }
    }

    for (int i = 0; i < runner_count; i++) {
        printf("{\"name\":\"%s\",\"peak_kib\":%ld,\"milliseconds\":[", runners[i].name, runners[i].peak);
        for (int round = 0; round < rounds; round++) printf("%s%.4f", round ? "," : "", runners[i].milliseconds[round]);
        puts("]}");
    }
    return 0;
}
