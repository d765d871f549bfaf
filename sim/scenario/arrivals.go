package scenario

import "reflect"

// arrivalsKeys stands alone, for its kinds are the most.
func arrivalsKeys() *document {
	rated := []string{"poisson", "bursty", "ramp", "onoff", "flash", "even"}
	peaked := []string{"bursty", "ramp", "onoff", "flash"}
	bursty, onoff, closed := []string{"bursty"}, []string{"onoff"}, []string{"closed"}
	bounded := []string{"poisson", "bursty", "closed", "ramp", "onoff", "flash", "even"}
	return entry(reflect.TypeFor[Arrivals](), "arrivals", "When a principal asks. All but even, closed and trace are Poisson processes, of rates that change or do not.", "kind",
		key{name: "kind", about: "poisson: one rate. bursty: two states, of random lengths. closed: each of its clients asks, waits for the answer, thinks. ramp: from one rate to another. onoff: two rates, in turn. flash: a crowd for a time. even: at even distances. trace: at the times of a CSV file.", example: "poisson", required: true, words: []string{"poisson", "bursty", "closed", "ramp", "onoff", "flash", "even", "trace"}},
		key{name: "rate", about: "Requests a second: of bursty in the quiet state, of ramp at the beginning, of onoff when off, of flash outside the crowd. 0 is none; of poisson and even it is above 0.", example: "12.5", fallback: "0", of: rated, needed: []string{"poisson", "bursty", "ramp", "even"}, most: maxRate},
		key{name: "peak", about: "Requests a second: of bursty in the burst, of ramp at the end, of onoff when on, of flash in the crowd.", example: "200", of: peaked, needed: peaked, most: maxRate},
		key{name: "quiet", about: "The mean length of the quiet state.", example: "10s", of: bursty, needed: bursty, least: millisecond, most: day},
		key{name: "burst", about: "The mean length of a burst.", example: "1s", of: bursty, needed: bursty, least: millisecond, most: day},
		key{name: "on", about: "The length of a time that is on; the first begins at from.", example: "5s", of: onoff, needed: onoff, least: millisecond, most: day},
		key{name: "off", about: "The length of a time that is off.", example: "25s", of: onoff, needed: onoff, least: millisecond, most: day},
		key{name: "from", about: "When it begins to ask; of flash, when the crowd comes.", example: "30s", fallback: "0s", of: bounded, needed: []string{"flash"}, most: day},
		key{name: "to", about: "When it asks no more; of flash, when the crowd is gone. 0 is the end.", example: "4m", fallback: "0s", of: bounded, most: day},
		key{name: "clients", about: "How many clients each principal has.", example: "10", of: closed, needed: closed, least: 1, most: 100_000},
		key{name: "think", about: "What a client thinks before it asks again.", of: closed, needed: closed},
		key{name: "zipf", about: "Above 0, arrivals are drawn once for all of count and each goes to one of them, by a Zipf law of this exponent; 0 gives each its own.", example: "1.1", fallback: "0", of: append([]string{"trace"}, rated...), most: maxZipf},
		key{name: "file", about: "A CSV file beside the scenario or in a folder below it. Its first line is at or at,cost; at counts in seconds and never falls, cost multiplies the service time.", example: "traces/monday.csv", of: []string{"trace"}, needed: []string{"trace"}},
	)
}
