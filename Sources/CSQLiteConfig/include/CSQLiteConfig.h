// sqlite3_config() and sqlite3_db_config() are variadic, which Swift cannot call.
#pragma once

/// Sets SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, SQLITE_DBCONFIG_DEFENSIVE and SQLITE_DBCONFIG_TRUSTED_SCHEMA=0 on a
/// connection (an `sqlite3 *`). Returns SQLITE_OK, or the first result code that is not.
/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html
///
/// SQLite before 3.41 mistakes its own JSON functions for unsafe ones ("unsafe use of json_valid()") when the schema is
/// not trusted, and the tables' CHECKs are made of them: there the schema stays trusted.
int cameo_sqlite_harden(void *connection);

/// Lets file names that begin with `file:` be URIs (SQLITE_CONFIG_URI), which `immutable=1` needs and GRDB does not ask
/// for. To be called once, before the first connection is opened. Returns SQLITE_OK or a result code.
int cameo_sqlite_enable_uris(void);
