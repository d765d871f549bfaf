#ifndef STORAGETEST_SHIM_H
#define STORAGETEST_SHIM_H

#include <stdatomic.h>

#define SHIM_RULES 8

/* What happens to the files whose path holds the pattern. */
typedef struct shim_rule {
	char *pattern;
	atomic_llong sync_delay; /* microseconds */
	atomic_llong fail_sync;  /* the sync that fails, counted down; 0: none, -1: all */
	atomic_int full;         /* writes that make a file longer fail */
	atomic_llong syncs;      /* tried so far */
} shim_rule;

typedef struct shim shim;

shim *shim_new(const char *name);
void shim_free(shim *);

/* Returns a new rule, or NULL if there are too many. */
shim_rule *shim_add_rule(shim *, const char *pattern);

void shim_set_sync_delay(shim_rule *, long long microseconds);
void shim_set_fail_sync(shim_rule *, long long nth);
void shim_set_full(shim_rule *, int full);
long long shim_syncs(shim_rule *);

#endif
