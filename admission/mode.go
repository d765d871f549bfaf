package admission

import "errors"

// Mode says what a Gate does with the decisions of its controller. The zero
// value is Enforce.
type Mode uint8

// The modes of a Gate.
const (
	// Enforce obeys the controller.
	Enforce Mode = iota
	// Shadow starts every request at once, and counts what the controller
	// would have done with it.
	Shadow
	// Pause refuses every request, for the reason Paused.
	Pause
)

// ErrUnknownMode is the error of ParseMode.
var ErrUnknownMode = errors.New("unknown admission mode: want enforce, shadow or paused")

// ParseMode returns the mode that String writes as s, or ErrUnknownMode.
func ParseMode(s string) (Mode, error) {
	for _, m := range [...]Mode{Enforce, Shadow, Pause} {
		if m.String() == s {
			return m, nil
		}
	}
	return Enforce, ErrUnknownMode
}

// String returns "enforce", "shadow" or "paused".
func (m Mode) String() string {
	switch m {
	case Enforce:
		return "enforce"
	case Shadow:
		return "shadow"
	case Pause:
		return "paused"
	}
	return "unknown"
}
