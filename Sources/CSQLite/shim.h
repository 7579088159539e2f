// SQLite, whose sqlite3_config() and sqlite3_db_config() are variadic, which Swift cannot call.
#pragma once
#include <sqlite3.h>
#include <stddef.h>

/// Makes a connection heed foreign keys and nothing that only looks like a string, distrust the schema and refuse to rewrite
/// it, and never checkpoint by itself. Returns SQLITE_OK, or the first result code that is not.
/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html
///
/// SQLite before 3.41 treats its own JSON functions as unsafe in an untrusted schema ("unsafe use of json_valid()"),
/// and the tables' CHECKs use them, so there the schema stays trusted.
static inline int cameo_sqlite_harden(sqlite3 *connection) {
    const struct { int option, value; } options[] = {
        {SQLITE_DBCONFIG_ENABLE_FKEY, 1},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, sqlite3_libversion_number() < 3041000},
    };
    int code = SQLITE_OK;
    for (size_t index = 0; code == SQLITE_OK && index < sizeof options / sizeof *options; index++)
        code = sqlite3_db_config(connection, options[index].option, options[index].value, NULL);
    return code;
}

/// Keeps savepoint journals in memory in the whole process, if SQLite has not been used in it before; otherwise the setting
/// stays as it is, and Cameo works with it. By default they spill to a temporary file beyond 64 KiB, which nearly every group
/// of writes exceeds. Nothing that other connections of the process may rely on changes.
/// https://www.sqlite.org/c3ref/c_config_covering_index_scan.html
static inline void cameo_sqlite_configure(void) { sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1); }
