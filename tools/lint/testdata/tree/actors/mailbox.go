package actors

import "time"

func pause() { time.Sleep(time.Second) } // want `time.Sleep reads the wall clock`
