package namespace

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// signer makes the proofs that ids carry, keyed by a secret in the namespace's
// file.
type signer struct{ secret []byte }

// sign is an HMAC over the parts, each preceded by its length so that no two
// lists of parts are one message.
func (s signer) sign(parts []string) [10]byte {
	mac := hmac.New(sha256.New, s.secret)
	var length [4]byte
	for _, p := range parts {
		binary.BigEndian.PutUint32(length[:], uint32(len(p)))
		mac.Write(length[:])
		mac.Write([]byte(p))
	}
	var sum [sha256.Size]byte
	mac.Sum(sum[:0])
	return [10]byte(sum[:10])
}
