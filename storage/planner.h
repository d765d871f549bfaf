/* The hook of planner.go, linked with the SQLite that the driver brings. */
int skerry_stable_plans(void);
