package namespace

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// secretPrefix marks an API key, so that a leaked one is recognised by people
// and scanners.
const secretPrefix = "skerry_"

// keyring holds the live keys of one activation by the hash of their secret.
// Because it is a secret's hash that is looked up, the time a look-up takes says
// nothing about a secret. It is safe for concurrent use.
type keyring struct {
	mu     sync.RWMutex
	byHash map[[32]byte]api.Key
	byID   map[string][32]byte
}

func newKeyring() *keyring {
	return &keyring{byHash: map[[32]byte]api.Key{}, byID: map[string][32]byte{}}
}

// find gives the key with the secret.
func (k *keyring) find(secret string) (api.Key, bool) {
	hash := sha256.Sum256([]byte(secret))
	k.mu.RLock()
	defer k.mu.RUnlock()
	key, ok := k.byHash[hash]
	return key, ok
}

func (k *keyring) add(hash [32]byte, key api.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byHash[hash], k.byID[key.ID] = key, hash
}

func (k *keyring) revoke(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byHash, k.byID[id])
	delete(k.byID, id)
}

// admits reports that the caller's key, if one gave it, has not been revoked.
func (k *keyring) admits(c Caller) bool {
	if c.key == "" {
		return true
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	_, live := k.byID[c.key]
	return live
}

// readKeys reads the live keys of a file.
func readKeys(tx *storage.Tx) (*keyring, error) {
	rows, err := tx.Query(sqlReadKeys)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	defer rows.Close()
	ring := newKeyring()
	for rows.Next() {
		var hash []byte
		key, err := scanKey(rows, &hash)
		if err != nil {
			return nil, err
		}
		ring.add([32]byte(hash), key)
	}
	return ring, rows.Err()
}

// scanKey reads a row of id, then more, then the key's other columns.
func scanKey(rows *storage.Rows, more ...any) (api.Key, error) {
	var id, created int64
	var key api.Key
	var roles string
	dest := append([]any{&id}, more...)
	if err := rows.Scan(append(dest, &key.Principal, &key.Tenant, &roles, &created)...); err != nil {
		return key, fmt.Errorf("read key: %w", err)
	}
	key.ID, key.CreatedAt = ID("key_", id), time.UnixMilli(created).UTC()
	for r := range strings.SplitSeq(roles, ",") {
		key.Roles = append(key.Roles, api.Role(r))
	}
	return key, nil
}

// createKey is the command that stores a new key.
type createKey struct {
	spec   api.KeySpec
	secret string
	hash   [32]byte
	made   api.Key
}

// newCreateKey checks the request and draws the secret.
func newCreateKey(spec api.KeySpec) (*createKey, error) {
	if err := checkName("principal", spec.Principal); err != nil {
		return nil, err
	}
	if spec.Tenant == "" {
		spec.Tenant = spec.Principal
	}
	if err := checkName("tenant", spec.Tenant); err != nil {
		return nil, err
	}
	if len(spec.Roles) == 0 {
		return nil, api.Invalid("roles", "a key needs at least one role: worker, producer, admin")
	}
	for n, r := range spec.Roles {
		if r != api.RoleWorker && r != api.RoleProducer && r != api.RoleAdmin {
			return nil, api.Invalid(fmt.Sprintf("roles[%d]", n), "a role is one of worker, producer, admin")
		}
	}
	spec.Roles = slices.Clone(spec.Roles)
	slices.Sort(spec.Roles)
	spec.Roles = slices.Compact(spec.Roles)
	var random [32]byte
	rand.Read(random[:]) // never fails
	secret := secretPrefix + base64.RawURLEncoding.EncodeToString(random[:])
	return &createKey{spec: spec, secret: secret, hash: sha256.Sum256([]byte(secret))}, nil
}

// checkName holds principals and tenants to names that are safe to show.
func checkName(field, s string) error {
	if s == Anonymous || s == Operator {
		return api.Invalid(field, "%s is a reserved name", s)
	}
	if s == "" || len(s) > 128 || !printable(s) {
		return api.Invalid(field, "%s must be 1 to 128 characters of printable ASCII without spaces", field)
	}
	return nil
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Apply stores the key, unless it would put a principal under a second tenant.
func (c *createKey) Apply(t *Turn) (Answer, error) {
	var tenant string
	found, err := t.QueryRow(sqlTenantOf, []any{c.spec.Principal}, &tenant)
	if err != nil {
		return Answer{}, fmt.Errorf("find tenant: %w", err)
	}
	if found && tenant != c.spec.Tenant {
		e := api.Errorf(api.Conflict, "the principal belongs to another tenant")
		e.Field = "tenant"
		return Answer{}, e.With("tenant", tenant)
	}
	roles := make([]string, len(c.spec.Roles))
	for n, r := range c.spec.Roles {
		roles[n] = string(r)
	}
	var id int64
	_, err = t.QueryRow(sqlWriteKey, []any{
		c.hash[:], c.spec.Principal, c.spec.Tenant,
		strings.Join(roles, ","), t.now.UnixMilli(),
	}, &id)
	if err != nil {
		return Answer{}, fmt.Errorf("store key: %w", err)
	}
	c.made = api.Key{
		ID: ID("key_", id), Principal: c.spec.Principal, Tenant: c.spec.Tenant,
		Roles: c.spec.Roles, CreatedAt: t.now,
	}
	shown := c.made
	shown.Secret = c.secret
	return Answer{Status: 201, Body: shown}, nil
}

// turned lets the key in.
func (c *createKey) turned(i *instance) { i.keys.Load().add(c.hash, c.made) }

// revokeKey is the command that ends a key.
type revokeKey struct {
	id  string
	row int64
}

// Apply marks the key revoked.
func (c revokeKey) Apply(t *Turn) (Answer, error) {
	n, err := t.Exec(sqlRevoke, t.now.UnixMilli(), c.row)
	if err != nil {
		return Answer{}, fmt.Errorf("revoke key: %w", err)
	}
	if n == 0 {
		return Answer{}, api.Errorf(api.NotFound, "there is no such key")
	}
	return Answer{Body: api.Revoked{ID: c.id, Revoked: true}}, nil
}

// turned shuts the key out, and what waits under it: nothing is granted to a key
// once its revocation has been answered.
func (c revokeKey) turned(i *instance) {
	i.keys.Load().revoke(c.id)
	for k := range i.live {
		if k.Caller.key == c.id {
			i.withdraw(k, errUnauthorized())
		}
	}
}
