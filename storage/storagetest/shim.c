#include "shim.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sqlite_vfs.h"

struct shim {
	sqlite3_vfs vfs; /* first, so that SQLite's pointer is ours */
	sqlite3_vfs *real;
	atomic_int rules;
	shim_rule rule[SHIM_RULES];
};

/* The file of the real VFS follows directly. */
typedef struct shim_file {
	sqlite3_file base;
	shim *shim;
	const char *path; /* SQLite keeps it valid until xClose */
} shim_file;

#define REAL_VFS(v) (((shim *)(v))->real)
#define REAL(f) ((sqlite3_file *)((shim_file *)(f) + 1))
#define CALL(f, method, ...) REAL(f)->pMethods->method(REAL(f), ##__VA_ARGS__)

static int applies(const shim_rule *r, const shim_file *f) {
	return f->path != NULL && strstr(f->path, r->pattern) != NULL;
}

static int file_close(sqlite3_file *f) { return CALL(f, xClose); }

static int file_read(sqlite3_file *f, void *buf, int n, sqlite3_int64 at) { return CALL(f, xRead, buf, n, at); }

static int file_write(sqlite3_file *file, const void *buf, int n, sqlite3_int64 at) {
	shim_file *f = (shim_file *)file;
	for (int i = 0; i < atomic_load(&f->shim->rules); i++) {
		shim_rule *r = &f->shim->rule[i];
		sqlite3_int64 size = 0;
		if (applies(r, f) && atomic_load(&r->full) && CALL(file, xFileSize, &size) == SQLITE_OK && at + n > size) {
			return SQLITE_FULL;
		}
	}
	return CALL(file, xWrite, buf, n, at);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size) { return CALL(f, xTruncate, size); }

/* Whether this sync is one that fails. */
static int sync_fails(shim_rule *r) {
	long long nth = atomic_load(&r->fail_sync);
	while (nth > 0) {
		if (atomic_compare_exchange_weak(&r->fail_sync, &nth, nth - 1)) {
			return nth == 1;
		}
	}
	return nth < 0;
}

static int file_sync(sqlite3_file *file, int flags) {
	shim_file *f = (shim_file *)file;
	int fails = 0;
	for (int i = 0; i < atomic_load(&f->shim->rules); i++) {
		shim_rule *r = &f->shim->rule[i];
		if (!applies(r, f)) {
			continue;
		}
		atomic_fetch_add(&r->syncs, 1);
		long long delay = atomic_load(&r->sync_delay);
		if (delay > 0) {
			usleep((useconds_t)delay);
		}
		fails |= sync_fails(r);
	}
	return fails ? SQLITE_IOERR_FSYNC : CALL(file, xSync, flags);
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size) { return CALL(f, xFileSize, size); }
static int file_lock(sqlite3_file *f, int level) { return CALL(f, xLock, level); }
static int file_unlock(sqlite3_file *f, int level) { return CALL(f, xUnlock, level); }
static int file_check_reserved(sqlite3_file *f, int *out) { return CALL(f, xCheckReservedLock, out); }
static int file_control(sqlite3_file *f, int op, void *arg) { return CALL(f, xFileControl, op, arg); }
static int file_sector_size(sqlite3_file *f) { return CALL(f, xSectorSize); }
static int file_characteristics(sqlite3_file *f) { return CALL(f, xDeviceCharacteristics); }

static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
	return CALL(f, xShmMap, page, size, extend, out);
}

static int file_shm_lock(sqlite3_file *f, int offset, int n, int flags) { return CALL(f, xShmLock, offset, n, flags); }
static void file_shm_barrier(sqlite3_file *f) { CALL(f, xShmBarrier); }
static int file_shm_unmap(sqlite3_file *f, int delete) { return CALL(f, xShmUnmap, delete); }
static int file_fetch(sqlite3_file *f, sqlite3_int64 at, int n, void **out) { return CALL(f, xFetch, at, n, out); }
static int file_unfetch(sqlite3_file *f, sqlite3_int64 at, void *p) { return CALL(f, xUnfetch, at, p); }

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
    .xFetch = file_fetch,
    .xUnfetch = file_unfetch,
};

static int vfs_open(sqlite3_vfs *v, const char *path, sqlite3_file *file, int flags, int *out) {
	shim_file *f = (shim_file *)file;
	f->shim = (shim *)v;
	f->path = path;
	f->base.pMethods = NULL;
	int rc = REAL_VFS(v)->xOpen(REAL_VFS(v), path, REAL(file), flags, out);
	if (REAL(file)->pMethods != NULL) {
		f->base.pMethods = &methods;
	}
	return rc;
}

static int vfs_delete(sqlite3_vfs *v, const char *path, int sync) { return REAL_VFS(v)->xDelete(REAL_VFS(v), path, sync); }
static int vfs_access(sqlite3_vfs *v, const char *p, int flags, int *out) { return REAL_VFS(v)->xAccess(REAL_VFS(v), p, flags, out); }
static int vfs_full_path(sqlite3_vfs *v, const char *p, int n, char *out) { return REAL_VFS(v)->xFullPathname(REAL_VFS(v), p, n, out); }
static int vfs_randomness(sqlite3_vfs *v, int n, char *out) { return REAL_VFS(v)->xRandomness(REAL_VFS(v), n, out); }
static int vfs_sleep(sqlite3_vfs *v, int us) { return REAL_VFS(v)->xSleep(REAL_VFS(v), us); }
static int vfs_time(sqlite3_vfs *v, double *out) { return REAL_VFS(v)->xCurrentTime(REAL_VFS(v), out); }
static int vfs_last_error(sqlite3_vfs *v, int n, char *out) { return REAL_VFS(v)->xGetLastError(REAL_VFS(v), n, out); }
static int vfs_time64(sqlite3_vfs *v, sqlite3_int64 *out) { return REAL_VFS(v)->xCurrentTimeInt64(REAL_VFS(v), out); }

shim *shim_new(const char *name) {
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);
	shim *s = calloc(1, sizeof(shim));
	if (real == NULL || s == NULL) {
		free(s);
		return NULL;
	}
	s->real = real;
	s->vfs = (sqlite3_vfs){
	    .iVersion = 2, /* no loading of libraries, no replacing of system calls */
	    .szOsFile = (int)sizeof(shim_file) + real->szOsFile,
	    .mxPathname = real->mxPathname,
	    .zName = strdup(name),
	    .xOpen = vfs_open,
	    .xDelete = vfs_delete,
	    .xAccess = vfs_access,
	    .xFullPathname = vfs_full_path,
	    .xRandomness = vfs_randomness,
	    .xSleep = vfs_sleep,
	    .xCurrentTime = vfs_time,
	    .xGetLastError = vfs_last_error,
	    .xCurrentTimeInt64 = vfs_time64,
	};
	sqlite3_vfs_register(&s->vfs, 0);
	return s;
}

void shim_free(shim *s) {
	sqlite3_vfs_unregister(&s->vfs);
	for (int i = 0; i < atomic_load(&s->rules); i++) {
		free(s->rule[i].pattern);
	}
	free((char *)s->vfs.zName);
	free(s);
}

shim_rule *shim_add_rule(shim *s, const char *pattern) {
	int n = atomic_load(&s->rules);
	if (n == SHIM_RULES) {
		return NULL;
	}
	s->rule[n].pattern = strdup(pattern);
	atomic_store(&s->rules, n + 1);
	return &s->rule[n];
}

void shim_set_sync_delay(shim_rule *r, long long microseconds) { atomic_store(&r->sync_delay, microseconds); }
void shim_set_fail_sync(shim_rule *r, long long nth) { atomic_store(&r->fail_sync, nth); }
void shim_set_full(shim_rule *r, int full) { atomic_store(&r->full, full); }
long long shim_syncs(shim_rule *r) { return atomic_load(&r->syncs); }
