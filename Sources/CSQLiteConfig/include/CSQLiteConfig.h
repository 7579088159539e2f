// sqlite3_config() and sqlite3_db_config() are variadic, which Swift cannot call.
#pragma once

/// Sets SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, SQLITE_DBCONFIG_DEFENSIVE and SQLITE_DBCONFIG_TRUSTED_SCHEMA=0 on a
/// connection (an `sqlite3 *`). Returns SQLITE_OK, or the first result code that is not.
/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html
///
/// SQLite before 3.41 mistakes its own JSON functions for unsafe ones ("unsafe use of json_valid()") when the schema is
/// not trusted, and the tables' CHECKs are made of them: there the schema stays trusted.
int cameo_sqlite_harden(void *connection);

/// Sets up the library for the whole process, if nobody in it has used SQLite before; else its settings stay as they are,
/// and Cameo works with them. None of these changes what other connections of the process may rely on.
///
/// File names that begin with `file:` may be URIs (SQLITE_CONFIG_URI), which `immutable=1` needs and GRDB does not ask for.
/// What a savepoint needs to be rolled back stays in memory (SQLITE_CONFIG_STMTJRNL_SPILL): beyond 64 KiB it would be
/// written to a temporary file, and nearly every group of writes has savepoints and is larger.
/// https://www.sqlite.org/c3ref/c_config_covering_index_scan.html
void cameo_sqlite_configure(void);
