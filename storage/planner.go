package storage

/*
#cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
#include "planner.h"
*/
import "C"

import (
	"fmt"
	"sync"
)

// stablePlans makes SQLite keep the plan of a prepared statement.
//
// Without its planner stability guarantee SQLite looks at the values that are
// bound, and parses and plans a cached statement anew whenever they might allow
// a better plan: "id = ?" beside a partial index is enough. That costs far more
// than running the statement. With the guarantee, the text alone decides the
// plan, once.
//
// The driver has no call for it, so a hook of SQLite's that runs at the end of
// every open sets it, on the connections to files of a [Store] and on no others
// that the process may have. It is installed once, before the first is opened.
var stablePlans = sync.OnceValue(func() error {
	if code := C.skerry_stable_plans(); code != 0 {
		return fmt.Errorf("%w: install planner hook: SQLite code %d", ErrUnavailable, int(code))
	}
	return nil
})
