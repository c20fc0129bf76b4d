package kernel

import "github.com/memkernel/memkernel/markdownstore"

// PrivateStore is the workspace as private sessions write to it.
func PrivateStore(k *Kernel) *markdownstore.Store { return k.memory.Private }
