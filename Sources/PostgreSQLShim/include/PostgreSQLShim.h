// libpq, opened when it is first needed.
//
// Linking Debian's libpq costs 4 to 5 ms at every start (it brings LDAP, Kerberos and TLS), called or not, and a request that
// is refused never calls it. So nothing here links it: only its header is used, and from it the type of every function is
// taken.

#ifndef POSTGRESQL_SHIM_H
#define POSTGRESQL_SHIM_H

// Debian has the header in a folder of its own, others have not.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif
#include <stdbool.h>

/// A pointer to the libpq function of that name, with the type that its own header declares.
#define POSTGRESQL_SHIM_FUNCTION(name) __typeof__(name) *_Nonnull name

/// libpq's functions, found in the library. Pipelining asks for libpq 14 or newer.
typedef struct {
    POSTGRESQL_SHIM_FUNCTION(PQconnectStartParams);
    POSTGRESQL_SHIM_FUNCTION(PQconnectPoll);
    POSTGRESQL_SHIM_FUNCTION(PQstatus);
    POSTGRESQL_SHIM_FUNCTION(PQsocket);
    POSTGRESQL_SHIM_FUNCTION(PQfinish);
    POSTGRESQL_SHIM_FUNCTION(PQerrorMessage);
    POSTGRESQL_SHIM_FUNCTION(PQpass);
    POSTGRESQL_SHIM_FUNCTION(PQparameterStatus);
    POSTGRESQL_SHIM_FUNCTION(PQsslInUse);
    POSTGRESQL_SHIM_FUNCTION(PQsslAttribute);
    POSTGRESQL_SHIM_FUNCTION(PQsetNoticeProcessor);
    POSTGRESQL_SHIM_FUNCTION(PQsetnonblocking);
    POSTGRESQL_SHIM_FUNCTION(PQenterPipelineMode);
    POSTGRESQL_SHIM_FUNCTION(PQsendQueryParams);
    POSTGRESQL_SHIM_FUNCTION(PQsendPrepare);
    POSTGRESQL_SHIM_FUNCTION(PQsendDescribePrepared);
    POSTGRESQL_SHIM_FUNCTION(PQpipelineSync);
    POSTGRESQL_SHIM_FUNCTION(PQflush);
    POSTGRESQL_SHIM_FUNCTION(PQconsumeInput);
    POSTGRESQL_SHIM_FUNCTION(PQisBusy);
    POSTGRESQL_SHIM_FUNCTION(PQgetResult);
    POSTGRESQL_SHIM_FUNCTION(PQresultStatus);
    POSTGRESQL_SHIM_FUNCTION(PQresultErrorField);
    POSTGRESQL_SHIM_FUNCTION(PQclear);
    POSTGRESQL_SHIM_FUNCTION(PQntuples);
    POSTGRESQL_SHIM_FUNCTION(PQnfields);
    POSTGRESQL_SHIM_FUNCTION(PQfname);
    POSTGRESQL_SHIM_FUNCTION(PQftype);
    POSTGRESQL_SHIM_FUNCTION(PQnparams);
    POSTGRESQL_SHIM_FUNCTION(PQparamtype);
    POSTGRESQL_SHIM_FUNCTION(PQgetisnull);
    POSTGRESQL_SHIM_FUNCTION(PQgetvalue);
    POSTGRESQL_SHIM_FUNCTION(PQgetlength);
    POSTGRESQL_SHIM_FUNCTION(PQcmdTuples);
} PostgreSQLShimLibrary;

/// Opens libpq.so.5 and finds every function of `library`. False when the library, or a function in it, is missing;
/// `library` must not be used then. The library stays open until the process ends.
bool postgresql_shim_open(PostgreSQLShimLibrary *_Nonnull library);

/// Lets a connection say nothing on standard error, where libpq writes a server's notices: they are no log lines of ours.
void postgresql_shim_silence(const PostgreSQLShimLibrary *_Nonnull library, PGconn *_Nonnull connection);

#endif
