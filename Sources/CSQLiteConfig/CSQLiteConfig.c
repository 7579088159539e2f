#include "CSQLiteConfig.h"

#include <sqlite3.h>
#include <stddef.h>

int cameo_sqlite_harden(void *connection) {
    int code = sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (code == SQLITE_OK) code = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (code == SQLITE_OK && sqlite3_libversion_number() >= 3041000)
        code = sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return code;
}

void cameo_sqlite_configure(void) {
    sqlite3_config(SQLITE_CONFIG_URI, 1);
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
}
