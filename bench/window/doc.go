// Package window holds only tests. They test the window of memkernel ui in a real browser. They
// run if Chromium is installed and MEMKERNEL_UI=1 is set (make test-ui), and are skipped with a
// message otherwise.
package window
