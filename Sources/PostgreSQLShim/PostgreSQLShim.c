// Without the trait PostgreSQL nothing of libpq is read, not even its header.
#ifdef POSTGRESQL_SHIM

#include "PostgreSQLShim.h"

#include <dlfcn.h>

bool postgresql_shim_open(PostgreSQLShimLibrary *library) {
    // RTLD_NOW: a library that lacks something is refused here and does not end the process later.
    void *file = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (file == NULL) return false;

// POSIX makes the conversion from an object pointer to a function pointer valid for dlsym.
#define FIND(name) ((library->name = (__typeof__(name) *)dlsym(file, #name)) != NULL)
    return FIND(PQconnectStartParams) && FIND(PQconnectPoll) && FIND(PQstatus) && FIND(PQsocket) && FIND(PQfinish)
        && FIND(PQerrorMessage) && FIND(PQpass) && FIND(PQparameterStatus) && FIND(PQsslInUse)
        && FIND(PQsslAttribute) && FIND(PQsetNoticeProcessor) && FIND(PQsetnonblocking)
        && FIND(PQenterPipelineMode) && FIND(PQsendQueryParams) && FIND(PQsendPrepare)
        && FIND(PQsendDescribePrepared) && FIND(PQpipelineSync) && FIND(PQflush) && FIND(PQconsumeInput)
        && FIND(PQisBusy) && FIND(PQgetResult) && FIND(PQresultStatus) && FIND(PQresultErrorField)
        && FIND(PQclear) && FIND(PQntuples) && FIND(PQnfields) && FIND(PQfname) && FIND(PQftype)
        && FIND(PQnparams) && FIND(PQparamtype) && FIND(PQgetisnull) && FIND(PQgetvalue) && FIND(PQgetlength) && FIND(PQcmdTuples);
#undef FIND
}

static void say_nothing(void *context, const char *message) {
    (void)context;
    (void)message;
}

void postgresql_shim_silence(const PostgreSQLShimLibrary *library, PGconn *connection) {
    library->PQsetNoticeProcessor(connection, say_nothing, NULL);
}

#else

// A C file must declare something (C11 §6.9).
extern int postgresql_shim_is_absent;

#endif
