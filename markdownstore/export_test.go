package markdownstore

// OpenFolder is the keeper of files behind Open.
func OpenFolder(dir string) (Files, error) { return openFolder(dir, "") }
