package claims

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Bounds of verbs.
const (
	maxInputs            = 64
	maxGroup             = 64
	maxMaxAttempts       = 10_000
	defaultMaxAttempts   = 5
	maxBriefBytes        = 256 << 10
	maxBriefVersionRunes = 64
	maxMetadataBytes     = 16 << 10
	maxBatch             = 1000

	// maxTime is the last moment of the year 9999, which still can be written as
	// RFC 3339.
	maxTime = 253_402_300_799_999
)

// plan is a checked request for a verb or a group of them.
type plan struct {
	kind         string
	artifact     string
	brief        string
	briefVersion string
	metadata     string // JSON, empty for none
	inputs       []input
	// attempts is how many make the group; 0 is a verb without one.
	attempts    int
	leaseMs     int64 // 0: not the verb's to say
	maxAttempts int64
	notBefore   int64
}

// count is how many verbs the plan makes.
func (p *plan) count() int { return max(p.attempts, 1) }

// planVerb checks a verb's spec as far as that needs no namespace.
func planVerb(spec api.VerbSpec) (*plan, error) {
	p := &plan{kind: spec.Kind, artifact: spec.Artifact, briefVersion: spec.BriefVersion}
	if err := checkKind("kind", spec.Kind); err != nil {
		return nil, err
	}
	var err error
	if p.attempts, err = optional("attempts", spec.Attempts, 0, 1, maxGroup); err != nil {
		return nil, err
	}
	room := 0
	if p.attempts > 0 {
		room = len(attemptKey("", p.attempts))
	}
	if err := checkKey("artifact", spec.Artifact, room); err != nil {
		return nil, err
	}
	if p.brief, err = checkBrief(spec.Brief); err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(spec.BriefVersion); n > maxBriefVersionRunes || !utf8.ValidString(spec.BriefVersion) {
		return nil, api.Invalid("brief_version", "brief_version must be at most %d characters", maxBriefVersionRunes).
			With("limit", maxBriefVersionRunes).With("actual", n)
	}
	if p.inputs, err = checkInputs(spec.Inputs); err != nil {
		return nil, err
	}
	if p.metadata, err = checkMetadata(spec.Metadata); err != nil {
		return nil, err
	}
	return p, p.checkTimes(spec)
}

func (p *plan) checkTimes(spec api.VerbSpec) (err error) {
	if p.leaseMs, err = optional("lease_ms", spec.LeaseMs, 0, minLeaseMs, maxLeaseMs); err != nil {
		return err
	}
	attempts, err := optional("max_attempts", spec.MaxAttempts, defaultMaxAttempts, 1, maxMaxAttempts)
	if err != nil {
		return err
	}
	p.maxAttempts = int64(attempts)
	if spec.NotBefore == nil {
		return nil
	}
	// Never early: a part of a millisecond counts as a whole one.
	p.notBefore = max(millis(spec.NotBefore.Add(time.Millisecond-1)), 0)
	if p.notBefore > maxTime {
		return api.Invalid("not_before", "not_before must lie before the year 10000")
	}
	return nil
}

// attemptKey is the artifact key of one of a group's attempts.
func attemptKey(artifact string, attempt int) string { return fmt.Sprintf("%s/%d", artifact, attempt) }

func checkBrief(brief []byte) (string, error) {
	if len(brief) == 0 || string(brief) == "null" {
		return "{}", nil
	}
	if len(brief) > maxBriefBytes {
		return "", api.Invalid("brief", "the brief is too large").With("limit", maxBriefBytes).With("actual", len(brief))
	}
	var document map[string]jsontext.Value
	if err := namespace.Decode(brief, &document); err != nil {
		e := api.Errorf(api.BadRequest, "brief must be a JSON object")
		e.Field = "brief"
		return "", e.Wrapping(err)
	}
	compact := jsontext.Value(append([]byte(nil), brief...))
	if err := compact.Compact(); err != nil {
		return "", fmt.Errorf("compact brief: %w", err)
	}
	return string(compact), nil
}

func checkMetadata(metadata map[string]string) (string, error) {
	if len(metadata) == 0 {
		return "", nil
	}
	doc, err := namespace.Encode(metadata)
	if err != nil {
		return "", api.Invalid("metadata", "metadata must be UTF-8").Wrapping(err)
	}
	if len(doc) > maxMetadataBytes {
		return "", api.Invalid("metadata", "metadata is too large").With("limit", maxMetadataBytes).With("actual", len(doc))
	}
	return string(doc), nil
}

func checkInputs(specs []api.Input) ([]input, error) {
	if len(specs) > maxInputs {
		return nil, api.Invalid("inputs", "too many inputs").With("limit", maxInputs).With("actual", len(specs))
	}
	inputs := make([]input, len(specs))
	for i, spec := range specs {
		field := fmt.Sprintf("inputs[%d]", i)
		if spec.Group == nil {
			ref, err := parseRef(field, spec.Key)
			if err != nil {
				return nil, err
			}
			inputs[i].ref = ref
			continue
		}
		id, ok := parseID(groupPrefix, spec.Group.Group)
		if !ok {
			return nil, errNoGroup(field)
		}
		least, err := optional(field+".min", spec.Group.Min, 1, 1, maxGroup)
		if err != nil {
			return nil, err
		}
		inputs[i].group, inputs[i].min = id, int64(least)
	}
	return inputs, nil
}

func errNoGroup(field string) error {
	return api.Invalid(field+".group", "there is no such group of attempts")
}

// optional is the value of a field, or its default if it is absent.
func optional[T int | int64](field string, value *T, otherwise, least, most T) (T, error) {
	if value == nil {
		return otherwise, nil
	}
	return *value, within(field, *value, least, most)
}

func within[T int | int64](field string, n, least, most T) error {
	if n < least || n > most {
		limit := most
		if n < least {
			limit = least
		}
		return api.Invalid(field, "%s must be between %d and %d", field, least, most).With("limit", limit).With("actual", n)
	}
	return nil
}
