package namespace

import (
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/skerryhq/skerry/storage"
)

// alarm is the command by which a class's alarm goes off.
type alarm struct{ host *classHost }

// Lane puts expiries before the claims that want what has expired.
func (alarm) Lane() Lane { return LaneFinish }

// Apply spends the alarm and lets the class set the next.
func (a alarm) Apply(t *Turn) (Answer, error) {
	if a.host.alarm.IsZero() || a.host.alarm.After(t.now) {
		return Answer{NoEffect: true}, nil // it was moved meanwhile
	}
	a.host.alarm = time.Time{}
	return Answer{}, a.ring(t)
}

// ring lets the class do its work. A panic in it counts as an error: were it to
// fail the activation, the alarm would go off again in the next one, and the
// namespace could never be used.
func (a alarm) ring(t *Turn) (err error) {
	defer func() {
		if v := recover(); v != nil {
			t.wrote = true
			err = &storage.PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	if a.host.class.Name == coreClass {
		return sweepRecords(t)
	}
	if s, ok := a.host.state.(Alarmer); ok {
		return s.Alarm(t)
	}
	return nil
}

// nextAlarm is when the earliest alarm that is not going off already is due;
// zero if none is.
func (i *instance) nextAlarm() time.Time {
	if len(i.alarming) > 0 {
		return time.Time{}
	}
	due := i.writer.wake()
	if !due.IsZero() && due.Before(i.alarmRetry) {
		return i.alarmRetry
	}
	return due
}

// soundAlarms sends the alarms that are due to the writer.
func (i *instance) soundAlarms(now time.Time) {
	for _, h := range i.writer.hosts {
		i.alarming[h] = true
		c := newCall(Call{Class: h.class.Name, Caller: Caller{Principal: Operator}, Command: alarm{h}})
		c.arrived, c.turn.host = now, h
		i.live[c] = struct{}{}
		i.submit(c, stageRunning)
	}
}

// alarmed notes that an alarm has gone off. If it failed, the alarms are tried
// again after a second.
func (i *instance) alarmed(a alarm, err error) {
	delete(i.alarming, a.host)
	if err == nil {
		return
	}
	i.alarmRetry = i.now().Add(time.Second)
	i.logPanic(err)
	i.runtime.log.Warn("alarm failed, will be tried again", slog.String("namespace", i.name),
		slog.String("class", a.host.class.Name), slog.Any("error", err))
}
