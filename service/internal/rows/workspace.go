package rows

type Workspace struct{}
