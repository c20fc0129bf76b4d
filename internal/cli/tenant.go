package cli

import "fmt"

// Tenant returns the settings of a tenant's workspace. The tenant has a state folder of its own,
// and a root of its own in the database if the state is kept there. The tenant's configuration is
// a copy of the configuration in s. A configuration in the tenant's workspace has no effect.
func (s *Settings) Tenant(name, workspace, state string) (*Settings, error) {
	own := &Settings{TenantName: name, Databases: s.Databases, Workspace: workspace, StateDir: state, ConfigPath: s.ConfigPath}
	if err := own.read(s.StateDir); err != nil {
		return nil, err
	}
	return own, CheckTenants(own)
}

// CheckTenants returns an error for settings that would lead all tenants to one place.
func CheckTenants(s *Settings) error {
	c := s.Config
	for key, shared := range map[string]bool{"index.folders": len(c.Index.Folders) > 0, "retrieval.sessions.folders": len(c.Retrieval.Sessions.Folders) > 0,
		"index.backend": c.Index.Backend != "sqlite"} {
		if shared {
			return Hint(fmt.Errorf("%s: %s: all tenants would find the same there", c.Origin(key), key), "take it out: tenants share nothing, and each has an index of its own on every machine")
		}
	}
	return nil
}
