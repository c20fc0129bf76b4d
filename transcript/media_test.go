package transcript

import "testing"

func TestPixels(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		w, h       int
	}{
		{"webp lossy", "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", 1, 1},
		{"webp extended", "UklGRhYAAABXRUJQVlA4WAoAAAAAAAAAAQAAAgAA", 2, 3},
		{"webp lossless", "UklGRhoAAABXRUJQVlA4TA0AAAAvAUAAAAAAAAAAAAAA", 2, 2},
		{"damaged png", "iVBORw0KGgoAAAAN", 0, 0},
		{"not base64", "iVBORw0KGgo***", 0, 0},
		{"empty", "", 0, 0},
	} {
		if w, h := pixels("", tc.data); w != tc.w || h != tc.h {
			t.Errorf("%s: %dx%d, want %dx%d", tc.name, w, h, tc.w, tc.h)
		}
	}
}
