package bucket

import (
	"time"

	"github.com/minio/minio-go/v7"
)

// NoPauses has requests sent again at once.
func NoPauses() { minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, time.Millisecond }
