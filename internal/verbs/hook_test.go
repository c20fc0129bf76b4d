package verbs

import "testing"

func TestOnThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"http://localhost:11434/v1": true, "http://LOCALHOST": true, "http://127.0.0.1:1": true, "http://127.9.9.9": true, "http://[::1]:80/v1": true,
		"": false, "https://api.openai.com/v1": false, "http://192.168.0.2": false, "http://localhost.example.com": false, "http://localhost@example.com": false,
		"http://127.0.0.1.example.com": false, "http://0.0.0.0": false, "http://[::ffff:8.8.8.8]": false, "http://example.com/localhost": false, "://": false,
	} {
		if got := onThisMachine(address); got != want {
			t.Errorf("onThisMachine(%q) = %v", address, got)
		}
	}
}

func TestStartBehindRefusesLargeEvents(t *testing.T) {
	if _, err := StartBehind("memkernel", nil, make([]byte, maxPipe+1)); err == nil {
		t.Error("an event that no pipe takes was handed over")
	}
}
