// Package window holds tests only: the window of memkernel ui in a real browser. They run
// where there is a Chromium and MEMKERNEL_UI=1 asks for them (make test-ui), and skip with a
// message elsewhere.
package window
