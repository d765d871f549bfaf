package namespace

import "golang.org/x/sys/unix"

const (
	// descriptorsPerNamespace is what an active namespace may hold: database,
	// log and index for the writer, and two for each of two readers.
	descriptorsPerNamespace = 7
	// descriptorReserve is left for connections and everything else.
	descriptorReserve = 1024
	defaultMaxActive  = 10_000
)

// MaxActive is how many namespaces may be active at once in this process: want
// (0 means 10,000), lowered to what the limit of open descriptors allows, but at
// least 1.
func MaxActive(want int) int {
	if want <= 0 {
		want = defaultMaxActive
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return want
	}
	room := int64(min(limit.Cur, 1<<30))
	reserve := min(int64(descriptorReserve), room/4)
	allowed := (room - reserve) / descriptorsPerNamespace
	return max(min(want, int(allowed)), 1)
}
