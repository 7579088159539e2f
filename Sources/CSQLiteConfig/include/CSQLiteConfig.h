// sqlite3_db_config() is variadic, which Swift cannot call.
#pragma once

/// Sets SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, SQLITE_DBCONFIG_DEFENSIVE and SQLITE_DBCONFIG_TRUSTED_SCHEMA=0 on a
/// connection (an `sqlite3 *`). Returns SQLITE_OK, or the first result code that is not.
/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html
int cameo_sqlite_harden(void *connection);
