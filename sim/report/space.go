package report

import "github.com/skerryhq/skerry/sim/figure"

// space is one namespace under all policies: the summary turned round, for that is how
// people compare.
type space struct {
	name     string
	policies []spacePolicy
}

type spacePolicy struct {
	policy string
	// index is the policy's place in the summary, by which it is drawn.
	index int
	figure.Namespace
}

// namespaces are in the order in which the summary has them first.
func namespaces(s figure.Summary) []space {
	var spaces []space
	place := map[string]int{}
	for i, p := range s.Policies {
		for _, n := range p.Namespaces {
			at, found := place[n.Name]
			if !found {
				at = len(spaces)
				place[n.Name] = at
				spaces = append(spaces, space{name: n.Name})
			}
			spaces[at].policies = append(spaces[at].policies, spacePolicy{p.Name, i, n})
		}
	}
	return spaces
}

// parties picks the principals or the tenants of a namespace.
type parties func(*figure.Namespace) []figure.Party

func principals(n *figure.Namespace) []figure.Party { return n.Principals }
func tenants(n *figure.Namespace) []figure.Party    { return n.Tenants }

// partyNames are in the order in which the policies have them first.
func partyNames(s space, of parties) []string {
	var names []string
	seen := map[string]bool{}
	for i := range s.policies {
		for _, p := range of(&s.policies[i].Namespace) {
			if !seen[p.Name] {
				seen[p.Name] = true
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// party finds the figures of one, or nil.
func party(list []figure.Party, name string) *figure.Figures {
	for i := range list {
		if list[i].Name == name {
			return &list[i].Figures
		}
	}
	return nil
}

// measure finds the description of a figure by its name.
func measure(name string) (figure.Measure, bool) {
	for _, m := range figure.Measures() {
		if m.Name == name {
			return m, true
		}
	}
	return figure.Measure{}, false
}
