/*
 * Starts programs in turn and says how long a whole process takes, from before its start to after its end.
 *
 *   race ROUNDS STATUS EVENTS NAME=PROGRAM=STORE...
 *
 * Round by round each program gets the same event (EVENTS/0.json, EVENTS/1.json, …; with only 0.json always that one) on
 * standard input, and AUTH_APPLE_STORE=STORE in its environment. In turn, so that whatever else the machine does falls on
 * all of them. An answer without "statusCode":STATUS ends the race: a program that is wrong is not fast.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAXIMUM_PROGRAMS = 8, WARM_UP = 5 };

extern char **environ;

typedef struct {
    const char *name, *program;
    char *store;            /* "AUTH_APPLE_STORE=…" */
    double *milliseconds;
    long peak;              /* KiB, the highest seen */
} Runner;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* The environment with the runner's store in the place of ours. */
static char **environment_of(const Runner *runner) {
    static char *entries[1024];
    size_t count = 0;
    for (char **entry = environ; *entry && count < 1022; entry++)
        if (strncmp(*entry, "AUTH_APPLE_STORE=", 17) != 0) entries[count++] = *entry;
    entries[count++] = runner->store;
    entries[count] = NULL;
    return entries;
}

/* One process; its wall time in milliseconds. */
static double run(Runner *runner, const char *event, const char *answer, const char *status) {
    int input = open(event, O_RDONLY | O_CLOEXEC);
    int output = open(answer, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (input < 0 || output < 0 || log < 0) fail(event);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, log, 2);
    char *arguments[] = {(char *)runner->program, NULL};
    char **environment = environment_of(runner);

    struct timespec began, ended;
    struct rusage usage;
    int ending;
    pid_t child;
    clock_gettime(CLOCK_MONOTONIC, &began);
    if (posix_spawn(&child, runner->program, &actions, NULL, arguments, environment) != 0) fail(runner->program);
    if (wait4(child, &ending, 0, &usage) != child) fail("wait4");
    clock_gettime(CLOCK_MONOTONIC, &ended);

    posix_spawn_file_actions_destroy(&actions);
    char text[16384], wanted[32];
    ssize_t count = pread(output, text, sizeof text - 1, 0);
    text[count < 0 ? 0 : count] = '\0';
    snprintf(wanted, sizeof wanted, "\"statusCode\":%s,", status);
    if (ending != 0 || !strstr(text, wanted)) {
        fprintf(stderr, "race: %s ended with %d and not with status %s: %.200s\n", runner->name, ending, status, text);
        exit(1);
    }
    close(input);
    close(output);
    close(log);
    if (usage.ru_maxrss > runner->peak) runner->peak = usage.ru_maxrss;
    return (double)(ended.tv_sec - began.tv_sec) * 1e3 + (double)(ended.tv_nsec - began.tv_nsec) / 1e6;
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int count, char **arguments) {
    if (count < 5 || count > 4 + MAXIMUM_PROGRAMS) {
        fputs("usage: race ROUNDS STATUS EVENTS NAME=PROGRAM=STORE...\n", stderr);
        return 64;
    }
    int rounds = atoi(arguments[1]);
    if (rounds < 1) return 64;
    Runner runners[MAXIMUM_PROGRAMS] = {0};
    int runner_count = count - 4;
    for (int i = 0; i < runner_count; i++) {
        runners[i].name = strtok(arguments[i + 4], "=");
        runners[i].program = strtok(NULL, "=");
        const char *store = strtok(NULL, "");
        if (!runners[i].program || !store) return 64;
        if (asprintf(&runners[i].store, "AUTH_APPLE_STORE=%s", store) < 0) fail("asprintf");
        runners[i].milliseconds = calloc((size_t)rounds, sizeof(double));
        if (!runners[i].milliseconds) fail("calloc");
    }

    char event[4096], answer[4096];
    snprintf(answer, sizeof answer, "%s/answer", arguments[3]);
    for (int round = -WARM_UP; round < rounds; round++) {
        snprintf(event, sizeof event, "%s/%d.json", arguments[3], round + WARM_UP);
        if (access(event, R_OK) != 0) snprintf(event, sizeof event, "%s/0.json", arguments[3]);
        /* Who goes first changes with the round. */
        for (int i = 0; i < runner_count; i++) {
            Runner *runner = &runners[(i + round + WARM_UP) % runner_count];
            double milliseconds = run(runner, event, answer, arguments[2]);
            if (round >= 0) runner->milliseconds[round] = milliseconds;
        }
    }

    for (int i = 0; i < runner_count; i++) qsort(runners[i].milliseconds, (size_t)rounds, sizeof(double), compare);
    printf("  %-12s %9s %9s %9s %9s %11s\n", "ms", "p10", "median", "p90", "ratio", "peak MiB");
    for (int i = 0; i < runner_count; i++) {
        const double *sorted = runners[i].milliseconds;
        printf("  %-12s %9.2f %9.2f %9.2f %9.2f %11.1f\n", runners[i].name, sorted[rounds / 10], sorted[rounds / 2],
               sorted[rounds * 9 / 10], sorted[rounds / 2] / runners[0].milliseconds[rounds / 2],
               (double)runners[i].peak / 1024);
    }
    return 0;
}
