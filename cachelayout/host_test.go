package cachelayout

import "testing"

// TestAlone is a host without memkernel, call by call: it sends what it wrote until that is
// over its room, and then what a compaction leaves.
func TestAlone(t *testing.T) {
	const window, fixed = 100_000, 10_000 // 74k of room
	var a Alone
	for i, c := range []struct {
		what string
		r    HostRequest
		want Alone
	}{
		{"the first call", HostRequest{Messages: 20_000, Sent: true}, Alone{Tokens: 30_000, Fresh: 30_000, Sent: true, Same: true}},
		{"it grows", HostRequest{Messages: 60_000, Common: 20_000, Sent: true}, Alone{Tokens: 70_000, Fresh: 40_000, Sent: true, Same: true}},
		{"a cut", HostRequest{Messages: 70_000, Common: 60_000}, Alone{Tokens: 80_000, Fresh: 10_000}},
		{"sent whole, on a prompt that was not", HostRequest{Messages: 71_000, Common: 70_000, Sent: true}, Alone{Tokens: 81_000, Fresh: 1000, Sent: true}},
		{"and again", HostRequest{Messages: 72_000, Common: 71_000, Sent: true}, Alone{Tokens: 82_000, Fresh: 1000, Sent: true, Same: true}},
		{"over its room", HostRequest{Messages: 80_000, Common: 72_000}, Alone{Tokens: 30_500, Fresh: 20_500, Left: 59_500, Summarised: 82_000}},
		{"on the summary", HostRequest{Messages: 81_000, Common: 80_000}, Alone{Tokens: 31_500, Fresh: 1000, Left: 59_500}},
		{"other tools", HostRequest{Messages: 82_000, Common: 81_000, FixedHash: "b"}, Alone{Tokens: 32_500, Fresh: 32_500, Left: 59_500}},
		{"the host took messages back", HostRequest{Messages: 30_000, Common: 29_000, FixedHash: "b"}, Alone{Tokens: 40_000, Fresh: 1000}},
	} {
		if c.r.FixedHash == "" {
			c.r.FixedHash = "a"
		}
		c.r.Fixed, c.r.Window, c.want.FixedHash = fixed, window, c.r.FixedHash
		if a = a.Next(c.r); a != c.want {
			t.Fatalf("call %d, %s: %+v, want %+v", i+1, c.what, a, c.want)
		}
	}
}
