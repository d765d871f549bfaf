package storage

import (
	"testing"
	"time"
)

func TestWaits(t *testing.T) { newRetry().wait(time.Now(), 0) }
