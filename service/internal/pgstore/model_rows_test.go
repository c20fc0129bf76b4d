package pgstore

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"
)

// textRow is a file of a workspace, workspaceRow a workspace.
type textRow struct {
	version, mark int64
	data          []byte // not changed but replaced
	time          time.Time
}

type workspaceRow struct {
	version, removed int64
	moving           string
}

// rowStatements are those about a workspace's files.
var rowStatements = []statement{
	{"changed", changedRows, reads, false, func(m *Model, t *tables, _ bool, a args) (out answer) {
		root, since := a.int(1), a.int(2)
		w, there := t.workspaces[root]
		if !there || w.version == since {
			return out
		}
		whole := w.removed > since || w.version < since
		from := since
		if whole {
			from = 0
		}
		for _, at := range t.textsIn(root, "", "\xff") {
			f := t.texts[key{root, at}]
			if f.version <= from {
				continue
			}
			var data []byte
			if len(f.data) <= 32768 && f.version > w.version-64 {
				data = f.data
			}
			out.rows = append(out.rows, []any{w.version, w.moving, whole, at, f.version, len(f.data), f.time, data})
		}
		if out.rows == nil {
			return one(w.version, w.moving, whole, "", int64(0), 0, time.Time{}, []byte(nil))
		}
		return out
	}},
	{"text", "SELECT version, time, data FROM workspace", reads, false, func(m *Model, t *tables, _ bool, a args) answer {
		f, there := t.texts[key{a.int(1), a.str(2)}]
		if !there {
			return answer{}
		}
		return one(f.version, f.time, f.data)
	}},
	{"write text", "cur AS MATERIALIZED (SELECT version, mark, length", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		root, k := a.int(1), key{a.int(1), a.str(5)}
		before, data, mark := a.int(6), a.at(7).([]byte), a.int(9)
		cur, there := t.texts[k]
		other := ""
		if before == 0 {
			for _, at := range append(slices.Clone(a.strs(10)), t.textsIn(root, a.str(11), a.str(12))...) {
				if _, is := t.texts[key{root, at}]; is && other == "" {
					other = at
				}
			}
		}
		switch {
		case ok && (cur.version == before && (before != 0 || t.workspaces[root].removed <= a.int(13)) || m.Break == BrokenRows) && other == "":
			w := t.workspaces[root]
			w.version++
			t.workspaces[root] = w
			if a.at(8).(bool) {
				data = append(bytes.Clone(cur.data), data...)
			}
			cur = textRow{w.version, mark, bytes.Clone(data), m.Now()}
			t.texts[k] = cur
			return one(ok, cur.version, len(cur.data), cur.time, other)
		case there && cur.mark == mark:
			return one(ok, cur.version, len(cur.data), cur.time, other)
		}
		return one(ok, int64(0), 0, time.Time{}, other)
	}},
	{"remove text", "cur AS MATERIALIZED (SELECT version FROM workspace", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		k := key{a.int(1), a.str(5)}
		cur, there := t.texts[k]
		if !ok || !there || cur.version != a.int(6) {
			return one(ok, false, there, int64(0))
		}
		w := t.workspaces[k.root]
		w.version++
		w.removed = w.version
		t.workspaces[k.root] = w
		delete(t.texts, k)
		return one(ok, true, true, w.version)
	}},
	{"move texts", "m AS (INSERT INTO workspaces AS w", commits, true, func(m *Model, t *tables, ok bool, a args) answer {
		if ok {
			w := t.workspaces[a.int(1)]
			w.version++
			w.moving = a.str(5)
			t.workspaces[a.int(1)] = w
		}
		return one(ok, true)
	}},
}

// textsIn are the paths of a workspace in bounds, sorted.
func (t *tables) textsIn(root int64, lo, hi string) []string {
	var out []string
	for k := range t.texts {
		if k.root == root && strings.Compare(k.path, lo) >= 0 && k.path < hi {
			out = append(out, k.path)
		}
	}
	slices.Sort(out)
	return out
}

func (t *tables) cloneRows() {
	t.texts, t.workspaces = maps.Clone(t.texts), maps.Clone(t.workspaces)
}
