package httpapi

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

const (
	profilesPath   = "/debug/pprof/"
	mediaProfile   = "application/octet-stream"
	maxProfileTime = 60 // seconds
)

// profileList is the answer of /debug/pprof/.
type profileList struct {
	Profiles []profileInfo `json:"profiles"`
}

// profileInfo is one profile, with how many stacks it holds.
type profileInfo struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// profileRoutes are the operator's profiles, at the paths that people know. They
// are made here because importing net/http/pprof mounts its handlers, open to
// everyone, on the embedder's default mux. The command line is left out: it may
// bear the operator's key.
func (h *handler) profileRoutes() []*route {
	seconds := []namespace.Param{{Name: "seconds", Summary: "how long to record, 1 to 60"}}
	return []*route{
		{
			method: http.MethodGet, path: profilesPath, summary: "List the profiles",
			access: operatorOnly, action: "profile.list", out: profileList{}, serve: h.listProfiles,
		},
		{
			method: http.MethodGet, path: profilesPath + "profile", summary: "Record where CPU time goes",
			access: operatorOnly, action: "profile.cpu", params: seconds, media: mediaProfile,
			serve: recording(pprof.StartCPUProfile, pprof.StopCPUProfile),
		},
		{
			method: http.MethodGet, path: profilesPath + "trace", summary: "Record an execution trace",
			access: operatorOnly, action: "profile.trace", params: seconds, media: mediaProfile,
			serve: recording(trace.Start, trace.Stop),
		},
		{
			method: http.MethodGet, path: profilesPath + "{name}", summary: "A profile as it stands",
			access: operatorOnly, action: "profile.get", media: mediaProfile,
			params: []namespace.Param{{Name: "debug", Summary: "1 or 2 for text"}}, serve: h.profile,
		},
	}
}

func (h *handler) listProfiles(x *exchange, _ *http.Request) error {
	list := profileList{}
	for _, p := range pprof.Profiles() {
		list.Profiles = append(list.Profiles, profileInfo{Name: p.Name(), Count: p.Count()})
	}
	return x.document(http.StatusOK, list)
}

func (h *handler) profile(x *exchange, _ *http.Request) error {
	x.subject = x.path["name"]
	p := pprof.Lookup(x.path["name"])
	if p == nil {
		return api.Errorf(api.NotFound, "there is no such profile")
	}
	debug, err := x.number("debug", 0, 0, 2)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := p.WriteTo(&out, debug); err != nil {
		return err
	}
	media := mediaProfile
	if debug > 0 {
		media = "text/plain; charset=utf-8"
	}
	x.send(http.StatusOK, media, out.Bytes())
	return nil
}

// recording serves what the process does in the seconds asked for, or until the
// client goes away. Only one recording of a sort can run at a time.
func recording(start func(io.Writer) error, stop func()) func(*exchange, *http.Request) error {
	return func(x *exchange, r *http.Request) error {
		seconds, err := x.number("seconds", 10, 1, maxProfileTime)
		if err != nil {
			return err
		}
		var out bytes.Buffer
		if err := start(&out); err != nil {
			return api.Errorf(api.Conflict, "another recording is under way").Wrapping(err)
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Duration(seconds)*time.Second)
		defer cancel()
		<-ctx.Done()
		stop()
		x.send(http.StatusOK, mediaProfile, out.Bytes())
		return nil
	}
}

// number reads a query parameter that is a whole number in a range.
func (x *exchange) number(name string, otherwise, least, most int) (int, error) {
	s := x.params.Get(name)
	if s == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		e := api.Errorf(api.BadRequest, "%s must be a whole number", name)
		e.Field = name
		return 0, e
	}
	if n < least || n > most {
		return 0, api.Invalid(name, "%s must be between %d and %d", name, least, most)
	}
	return n, nil
}
