package cli

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// testNode is a node with one namespace and a key that may do everything in it.
type testNode struct {
	vars   map[string]string
	client *client.Client
}

// newNode starts a node with so many ready verbs of the kind k.
func newNode(t *testing.T, verbs int) testNode {
	t.Helper()
	rt, err := skerry.Open(t.Context(), t.TempDir(), skerry.Options{OperatorKey: operatorKey})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(rt.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	o, err := client.NewOperator(server.URL, operatorKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if _, err := o.CreateNamespace(t.Context(), "demo"); err != nil {
		t.Fatal(err)
	}
	key, err := o.CreateKey(t.Context(), "demo", api.KeySpec{Principal: "a", Roles: []api.Role{api.RoleAdmin}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.URL+"/ns/demo", key.Secret, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for i := range verbs {
		if _, err := c.CreateVerb(t.Context(), api.VerbSpec{Kind: "k", Artifact: fmt.Sprint("out/", i)}); err != nil {
			t.Fatal(err)
		}
	}
	return testNode{map[string]string{"SKERRY_SERVER": server.URL, "SKERRY_NS": "demo", "SKERRY_KEY": key.Secret}, c}
}
