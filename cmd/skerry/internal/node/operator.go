package node

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/skerryhq/skerry/cmd/skerry/internal/config"
)

// KeyFile is the name of the file in the data directory that holds the
// operator's key.
const KeyFile = "operator.key"

// operatorKey is the configured key, or that of the key file, which is written
// at the first start. It is never logged.
func operatorKey(c config.Config, log *slog.Logger) (string, error) {
	if c.OperatorKey != "" {
		return c.OperatorKey, nil
	}
	path := filepath.Join(c.Data, KeyFile)
	written, err := os.ReadFile(path)
	if err == nil {
		if key := strings.TrimSpace(string(written)); key != "" {
			return key, nil
		}
		return "", fmt.Errorf("read operator key: %s is empty; remove it to have a new one written", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read operator key: %w", err)
	}
	var random [32]byte
	rand.Read(random[:]) // never fails
	key := "skerry_operator_" + base64.RawURLEncoding.EncodeToString(random[:])
	if err := writeKey(path, key); err != nil {
		return "", fmt.Errorf("write operator key: %w", err)
	}
	log.Info("operator key written", slog.String("file", path))
	return key, nil
}

// writeKey makes the file whole or not at all, readable by its owner only.
func writeKey(path, key string) error {
	file, err := os.CreateTemp(filepath.Dir(path), KeyFile+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.WriteString(key + "\n")
	if err == nil {
		err = file.Sync()
	}
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
