package ui

// Documents returns the types of the documents that only this package makes, by the names of the
// documents. Each type is given as a zero value.
func Documents() map[string][]any {
	return map[string][]any{
		"memkernel/ui_call/v1":     {callJSON{}},
		"memkernel/ui_find/v1":     {findJSON{}},
		"memkernel/ui_page/v1":     {pageJSON{}},
		"memkernel/ui_session/v1":  {sessionJSON{}},
		"memkernel/ui_sessions/v1": {sessionsJSON{}},
		"memkernel/ui_talk/v1":     {talkJSON{}},
		"memkernel/ui_timeline/v1": {timelineJSON{}},
	}
}
