// sqlite3_config() and sqlite3_db_config() are variadic, which Swift cannot call.
#pragma once

/// Sets SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, SQLITE_DBCONFIG_DEFENSIVE and SQLITE_DBCONFIG_TRUSTED_SCHEMA=0 on a
/// connection (an `sqlite3 *`). Returns SQLITE_OK, or the first result code that is not.
/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html
///
/// SQLite before 3.41 treats its own JSON functions as unsafe in an untrusted schema ("unsafe use of json_valid()"),
/// and the tables' CHECKs use them, so there the schema stays trusted.
int cameo_sqlite_harden(void *connection);

/// Configures the library for the whole process, if SQLite has not been used in it before; otherwise the settings stay
/// as they are, and Cameo works with them. Nothing that other connections of the process may rely on changes.
///
/// SQLITE_CONFIG_URI allows URIs as file names: `immutable=1` needs that and GRDB does not request it.
/// SQLITE_CONFIG_STMTJRNL_SPILL keeps savepoint journals in memory; by default they spill to a temporary file beyond
/// 64 KiB, which nearly every group of writes exceeds.
/// https://www.sqlite.org/c3ref/c_config_covering_index_scan.html
void cameo_sqlite_configure(void);
