package ui

// Documents returns a value of the type of every document of /api/ that is this package's own, by
// name.
func Documents() map[string][]any {
	return map[string][]any{
		"memkernel/ui_find/v1":     {findJSON{}},
		"memkernel/ui_page/v1":     {pageJSON{}},
		"memkernel/ui_session/v1":  {sessionJSON{}},
		"memkernel/ui_sessions/v1": {sessionsJSON{}},
		"memkernel/ui_talk/v1":     {talkJSON{}},
		"memkernel/ui_timeline/v1": {timelineJSON{}},
	}
}
