// Package window holds tests only: the window of memkernel ui in a real browser. They run if
// there is a Chromium and MEMKERNEL_UI=1 is set (make test-ui), and skip with a message
// elsewhere.
package window
