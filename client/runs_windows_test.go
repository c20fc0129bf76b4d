package client

import "os"

// runs reports whether a process has not ended: who finds it no more can't ask.
func runs(p *os.Process) bool {
	q, err := os.FindProcess(p.Pid)
	if err == nil {
		q.Release()
	}
	return err == nil
}
