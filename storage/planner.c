#include "planner.h"

#include <string.h>

/* From SQLite's public interface, which is stable. */
typedef struct sqlite3 sqlite3;
int sqlite3_db_config(sqlite3 *, int op, ...);
int sqlite3_auto_extension(void (*entry)(void));
const char *sqlite3_db_filename(sqlite3 *, const char *name);
#define SQLITE_OK 0
#define SQLITE_DBCONFIG_ENABLE_QPSG 1007

/* ours reports whether a path is that of a Store's file: .../ns-NAME.sqlite, or
** .../ns-NAME.sqlite.new while it is made. */
static int ours(const char *path) {
	const char *base = path ? strrchr(path, '/') : 0;
	return base && strncmp(base, "/ns-", 4) == 0;
}

static int stable_plans(sqlite3 *db, char **error, const void *api) {
	(void)error;
	(void)api;
	if (!ours(sqlite3_db_filename(db, "main"))) {
		return SQLITE_OK;
	}
	return sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, (int *)0);
}

int skerry_stable_plans(void) {
	return sqlite3_auto_extension((void (*)(void))stable_plans);
}
