package main

import (
	"fmt"
	"strings"
)

// typeFile is <pkg>.go: the noun, its states and its rules.
func typeFile(e *entity) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Package %s holds %s.\npackage %s\n\nimport (\n", e.pkg, e.doc, e.pkg)
	imports := append([]string{"errors", "time"}, e.imports...)
	for _, i := range sorted(imports) {
		fmt.Fprintf(&b, "\t%q\n", i)
	}
	fmt.Fprintf(&b, ")\n\n// Status is where %s stands in its life.\ntype Status string\n\nconst (\n", article(e.name))
	for _, st := range e.statuses {
		fmt.Fprintf(&b, "\tStatus%s Status = %q\n", st, snake(st))
	}
	fmt.Fprintf(&b, ")\n\n// %s is one row of the table %s.\ntype %s struct {\n\tID string\n", e.name, e.plural, e.name)
	for _, f := range e.fields {
		fmt.Fprintf(&b, "\t// %s\n\t%s %s\n", f.doc, f.name, f.typ)
	}
	fmt.Fprintf(&b, "\tStatus    Status\n\tCreatedAt time.Time\n\tUpdatedAt time.Time\n}\n\n")
	writeErrors(&b, e)
	fmt.Fprintf(&b, "\n// Validate refuses %s that must not reach the database.\nfunc (x *%s) Validate() error {\n", article(e.name), e.name)
	for _, f := range e.fields {
		if f.rule != "" {
			fmt.Fprintf(&b, "\tif %s {\n\t\treturn Err%s\n\t}\n", f.rule, f.name)
		}
	}
	b.WriteString("\treturn nil\n}\n")
	if e.special != "" {
		b.WriteString("\n" + e.special)
	}
	return b.String()
}

func writeErrors(b *strings.Builder, e *entity) {
	b.WriteString("var (\n")
	fmt.Fprintf(b, "\tErrNotFound = errors.New(\"%s not found\")\n", strings.ToLower(e.name))
	for _, f := range e.fields {
		if f.rule != "" {
			fmt.Fprintf(b, "\tErr%s = errors.New(%q)\n", f.name, f.message)
		}
	}
	b.WriteString(")\n")
}

// storeFile is the SQL side.
func storeFile(r *rng, e *entity) string {
	cols := []string{"id"}
	scan := []string{"&x.ID"}
	args := []string{"x.ID"}
	for _, f := range e.fields {
		cols = append(cols, f.column)
		scan = append(scan, "&x."+f.name)
		args = append(args, "x."+f.name)
	}
	cols = append(cols, "status", "created_at", "updated_at")
	scan = append(scan, "&x.Status", "&x.CreatedAt", "&x.UpdatedAt")
	marks := make([]string, len(cols))
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", i+1)
	}
	list := strings.Join(cols, ", ")
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"context\"\n\t\"database/sql\"\n\t\"errors\"\n\t\"fmt\"\n\t\"time\"\n)\n\n", e.pkg)
	fmt.Fprintf(&b, "// Store keeps %s in Postgres.\ntype Store struct {\n\tdb *sql.DB\n}\n\n// NewStore wraps a pool. The caller closes it.\nfunc NewStore(db *sql.DB) *Store { return &Store{db: db} }\n\n", e.plural)
	fmt.Fprintf(&b, "const columns = `%s`\n\n", wrapColumns(list))
	fmt.Fprintf(&b, "func scan(row interface{ Scan(...any) error }) (*%s, error) {\n\tvar x %s\n\terr := row.Scan(%s)\n\tif errors.Is(err, sql.ErrNoRows) {\n\t\treturn nil, ErrNotFound\n\t}\n\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"scan %s: %%w\", err)\n\t}\n\treturn &x, nil\n}\n\n",
		e.name, e.name, strings.Join(scan, ", "), strings.ToLower(e.name))
	fmt.Fprintf(&b, "// Get reads one by id.\nfunc (s *Store) Get(ctx context.Context, id string) (*%s, error) {\n\treturn scan(s.db.QueryRowContext(ctx, `SELECT `+columns+` FROM %s WHERE id = $1`, id))\n}\n\n", e.name, e.plural)
	fmt.Fprintf(&b, "// Insert adds a row; a second insert of the same id is an error.\nfunc (s *Store) Insert(ctx context.Context, x *%s) error {\n\tif err := x.Validate(); err != nil {\n\t\treturn fmt.Errorf(\"insert %s: %%w\", err)\n\t}\n\tx.CreatedAt = time.Now().UTC()\n\tx.UpdatedAt = x.CreatedAt\n\t_, err := s.db.ExecContext(ctx, `INSERT INTO %s (`+columns+`)\n\t\tVALUES (%s)`,\n\t\t%s, x.Status, x.CreatedAt, x.UpdatedAt)\n\tif err != nil {\n\t\treturn fmt.Errorf(\"insert %s %%s: %%w\", x.ID, err)\n\t}\n\treturn nil\n}\n\n",
		e.name, strings.ToLower(e.name), e.plural, strings.Join(marks, ", "), strings.Join(args, ", "), strings.ToLower(e.name))
	by := e.fields[r.n(min(3, len(e.fields)))]
	fmt.Fprintf(&b, "// ListBy%s reads a page of rows, newest first.\nfunc (s *Store) ListBy%s(ctx context.Context, v %s, limit int) ([]*%s, error) {\n\trows, err := s.db.QueryContext(ctx, `SELECT `+columns+` FROM %s\n\t\tWHERE %s = $1 ORDER BY created_at DESC LIMIT $2`, v, limit)\n\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"list %s: %%w\", err)\n\t}\n\tdefer rows.Close()\n\tvar out []*%s\n\tfor rows.Next() {\n\t\tx, err := scan(rows)\n\t\tif err != nil {\n\t\t\treturn nil, err\n\t\t}\n\t\tout = append(out, x)\n\t}\n\treturn out, rows.Err()\n}\n\n",
		by.name, by.name, by.typ, e.name, e.plural, by.column, e.plural, e.name)
	fmt.Fprintf(&b, "// SetStatus moves a row from one state to another, and fails if it is no\n// longer in the first.\nfunc (s *Store) SetStatus(ctx context.Context, id string, from, to Status) error {\n\tres, err := s.db.ExecContext(ctx, `UPDATE %s SET status = $3, updated_at = now()\n\t\tWHERE id = $1 AND status = $2`, id, from, to)\n\tif err != nil {\n\t\treturn fmt.Errorf(\"set status of %s %%s: %%w\", id, err)\n\t}\n\tif n, _ := res.RowsAffected(); n == 0 {\n\t\treturn ErrNotFound\n\t}\n\treturn nil\n}\n",
		e.plural, strings.ToLower(e.name))
	return b.String()
}

func wrapColumns(list string) string {
	if i := strings.Index(list, ", status"); i > 50 {
		return list[:i+1] + "\n\t" + list[i+2:]
	}
	return list
}

// serviceFile is the use-case side: it differs from entity to entity in what it
// does around the store.
func serviceFile(r *rng, e *entity) string {
	low := strings.ToLower(e.name)
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"log/slog\"\n\t\"time\"\n)\n\n", e.pkg)
	fmt.Fprintf(&b, "// Service is what handlers and jobs call.\ntype Service struct {\n\tstore *Store\n\tlog   *slog.Logger\n\tnow   func() time.Time\n")
	knobs := []struct{ name, typ, doc, def string }{
		{"hold", "time.Duration", "hold is how long an unpaid one keeps its place", "15 * time.Minute"},
		{"batch", "int", "batch is how many rows a sweep touches at once", "250"},
		{"retries", "int", "retries counts attempts against a flaky dependency", "3"},
		{"grace", "time.Duration", "grace is added to every deadline", "90 * time.Second"},
	}
	knob := knobs[r.n(len(knobs))]
	fmt.Fprintf(&b, "\t// %s.\n\t%s %s\n}\n\n// NewService wires a service with its defaults.\nfunc NewService(store *Store, log *slog.Logger) *Service {\n\treturn &Service{store: store, log: log, now: time.Now, %s: %s}\n}\n\n", knob.doc, knob.name, knob.typ, knob.name, knob.def)
	first, last := e.statuses[0], e.statuses[len(e.statuses)-1]
	fmt.Fprintf(&b, "// Create validates and stores a new %s in state %s.\nfunc (s *Service) Create(ctx context.Context, x *%s) error {\n\tx.Status = Status%s\n\tif err := s.store.Insert(ctx, x); err != nil {\n\t\ts.log.WarnContext(ctx, \"%s refused\", \"id\", x.ID, \"err\", err)\n\t\treturn err\n\t}\n\ts.log.InfoContext(ctx, \"%s created\", \"id\", x.ID, \"%s\", x.%s)\n\treturn nil\n}\n\n",
		low, snake(first), e.name, first, low, low, e.fields[0].column, e.fields[0].name)
	for i := 0; i+1 < len(e.statuses); i++ {
		from, to := e.statuses[i], e.statuses[i+1]
		fmt.Fprintf(&b, "// Mark%s moves a %s on from %s.\nfunc (s *Service) Mark%s(ctx context.Context, id string) error {\n\tif err := s.store.SetStatus(ctx, id, Status%s, Status%s); err != nil {\n\t\treturn fmt.Errorf(\"mark %s %%s %s: %%w\", id, err)\n\t}\n", to, low, snake(from), to, from, to, low, snake(to))
		if r.chance(50) {
			fmt.Fprintf(&b, "\ts.log.InfoContext(ctx, \"%s %s\", \"id\", id, \"at\", s.now().UTC())\n", low, snake(to))
		}
		b.WriteString("\treturn nil\n}\n\n")
	}
	switch r.n(3) {
	case 0:
		fmt.Fprintf(&b, "// Sweep moves rows that were forgotten to %s. It is safe to run twice.\nfunc (s *Service) Sweep(ctx context.Context, before time.Time) (int, error) {\n\tmoved := 0\n\tfor {\n\t\tids, err := s.store.stale(ctx, before, 100)\n\t\tif err != nil || len(ids) == 0 {\n\t\t\treturn moved, err\n\t\t}\n\t\tfor _, id := range ids {\n\t\t\tif err := s.store.SetStatus(ctx, id, Status%s, Status%s); err == nil {\n\t\t\t\tmoved++\n\t\t\t}\n\t\t}\n\t}\n}\n", snake(last), first, last)
	case 1:
		fmt.Fprintf(&b, "// Touch refreshes the row and reports how old it had become.\nfunc (s *Service) Touch(ctx context.Context, id string) (time.Duration, error) {\n\tx, err := s.store.Get(ctx, id)\n\tif err != nil {\n\t\treturn 0, err\n\t}\n\tage := s.now().Sub(x.UpdatedAt)\n\tif age < 0 {\n\t\tage = 0\n\t}\n\treturn age, s.store.SetStatus(ctx, id, x.Status, x.Status)\n}\n")
	default:
		fmt.Fprintf(&b, "// Count says how many %s stand in each state.\nfunc (s *Service) Count(ctx context.Context) (map[Status]int, error) {\n\tout := make(map[Status]int, %d)\n\tfor _, st := range []Status{%s} {\n\t\tn, err := s.store.countStatus(ctx, st)\n\t\tif err != nil {\n\t\t\treturn nil, fmt.Errorf(\"count %s: %%w\", err)\n\t\t}\n\t\tout[st] = n\n\t}\n\treturn out, nil\n}\n", e.plural, len(e.statuses), statusList(e), e.plural)
	}
	return b.String()
}

func statusList(e *entity) string {
	var out []string
	for _, s := range e.statuses {
		out = append(out, "Status"+s)
	}
	return strings.Join(out, ", ")
}

// handlerFile is the HTTP side.
func handlerFile(r *rng, e *entity) string {
	low := strings.ToLower(e.name)
	var b strings.Builder
	fmt.Fprintf(&b, "package httpapi\n\nimport (\n\t\"encoding/json\"\n\t\"errors\"\n\t\"net/http\"\n\n\t%q\n)\n\n", module+"/internal/"+e.pkg)
	fmt.Fprintf(&b, "// %sView is the public shape of a %s.\ntype %sView struct {\n\tID string `json:\"id\"`\n", low, low, low)
	for _, f := range e.fields {
		fmt.Fprintf(&b, "\t%s %s `json:%q`\n", f.name, strings.ReplaceAll(f.typ, "time.Time", "string"), f.column)
	}
	fmt.Fprintf(&b, "\tStatus string `json:\"status\"`\n}\n\n")
	fmt.Fprintf(&b, "func (a *API) get%s(w http.ResponseWriter, r *http.Request) {\n\tx, err := a.%s.Get(r.Context(), r.PathValue(\"id\"))\n\tswitch {\n\tcase errors.Is(err, %s.ErrNotFound):\n\t\ta.problem(w, r, http.StatusNotFound, \"no such %s\")\n\tcase err != nil:\n\t\ta.fail(w, r, err)\n\tdefault:\n\t\ta.json(w, r, http.StatusOK, view%s(x))\n\t}\n}\n\n", e.name, e.plural, e.pkg, low, e.name)
	limit := pick(r, []string{"16 << 10", "32 << 10", "64 << 10"})
	fmt.Fprintf(&b, "func (a *API) create%s(w http.ResponseWriter, r *http.Request) {\n\tvar in %sView\n\tdec := json.NewDecoder(http.MaxBytesReader(w, r.Body, %s))\n\tdec.DisallowUnknownFields()\n\tif err := dec.Decode(&in); err != nil {\n\t\ta.problem(w, r, http.StatusBadRequest, err.Error())\n\t\treturn\n\t}\n\tx := in.model()\n\tif err := a.%s.Create(r.Context(), x); err != nil {\n\t\ta.refuse(w, r, err)\n\t\treturn\n\t}\n\tw.Header().Set(\"Location\", \"/v1/%s/\"+x.ID)\n\ta.json(w, r, http.StatusCreated, view%s(x))\n}\n\n", e.name, low, limit, e.plural, e.plural, e.name)
	fmt.Fprintf(&b, "func view%s(x *%s.%s) %sView {\n\treturn %sView{\n\t\tID: x.ID,\n", e.name, e.pkg, e.name, low, low)
	for _, f := range e.fields {
		v := "x." + f.name
		if f.typ == "time.Time" {
			v = "stamp(" + v + ")"
		}
		fmt.Fprintf(&b, "\t\t%s: %s,\n", f.name, v)
	}
	b.WriteString("\t\tStatus: string(x.Status),\n\t}\n}\n")
	return b.String()
}

// testFile is the table test of Validate and of the special code.
func testFile(r *rng, e *entity) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"errors\"\n\t\"testing\"\n\t\"time\"\n)\n\n", e.pkg)
	fmt.Fprintf(&b, "// valid is %s that passes every rule.\nfunc valid() *%s {\n\treturn &%s{\n\t\tID: %q,\n", article(e.name), e.name, e.name, e.pkg[:2]+"_"+r.hex(10))
	for _, f := range e.fields {
		fmt.Fprintf(&b, "\t\t%s: %s,\n", f.name, sampleValue(r, f))
	}
	fmt.Fprintf(&b, "\t}\n}\n\nfunc Test%sValidate(t *testing.T) {\n\ttests := []struct {\n\t\tname   string\n\t\tmutate func(*%s)\n\t\twant   error\n\t}{\n\t\t{\"valid\", func(x *%s) {}, nil},\n", e.name, e.name, e.name)
	for _, c := range e.cases {
		fmt.Fprintf(&b, "\t\t{%q, func(x *%s) { %s }, %s},\n", c.name, e.name, c.mutate, c.want)
	}
	b.WriteString("\t}\n\tfor _, tt := range tests {\n\t\tt.Run(tt.name, func(t *testing.T) {\n\t\t\tx := valid()\n\t\t\ttt.mutate(x)\n\t\t\tif err := x.Validate(); !errors.Is(err, tt.want) {\n\t\t\t\tt.Errorf(\"Validate() = %v, want %v\", err, tt.want)\n\t\t\t}\n\t\t})\n\t}\n}\n")
	return b.String()
}

func sampleValue(r *rng, f field) string {
	switch f.typ {
	case "int", "int64":
		return fmt.Sprint(r.between(2, 4800))
	case "time.Time":
		return fmt.Sprintf("time.Date(2026, %d, %d, %d, %d, 0, 0, time.UTC)", r.between(4, 9), r.between(1, 28), r.between(5, 22), 5*r.n(12))
	case "bool":
		return "true"
	case "float64":
		return fmt.Sprintf("%d.%d", r.between(1, 40), r.n(10))
	}
	return fmt.Sprintf("%q", strings.ToUpper(f.column[:2])+"-"+r.hex(6))
}

func article(noun string) string {
	low := strings.ToLower(noun)
	if strings.ContainsAny(low[:1], "aeio") {
		return "an " + low
	}
	return "a " + low
}
