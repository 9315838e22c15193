#include <sqlite3.h>

/* Swift does not import a macro that casts: https://sqlite.org/c3ref/c_static.html */
static inline sqlite3_destructor_type sqlite_shim_transient(void) {
    return SQLITE_TRANSIENT;
}

/* Swift does not import a variadic function: https://sqlite.org/c3ref/db_config.html
   Every option that this program sets takes an int and gives its new value back through a pointer. */
static inline int sqlite_shim_configure(sqlite3 *database, int option, int value) {
    return sqlite3_db_config(database, option, value, (int *)0);
}
