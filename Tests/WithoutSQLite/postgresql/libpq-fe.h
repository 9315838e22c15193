#error "libpq-fe.h was read by a build that is to do without PostgreSQL"
