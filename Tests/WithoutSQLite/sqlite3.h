#error "sqlite3.h was read by a build that is to do without SQLite"
