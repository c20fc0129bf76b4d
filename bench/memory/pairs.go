package main

import (
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/health"
)

// The forms from which the pairs are made. The comment in each file describes the format of a form.
var (
	//go:embed testdata/pairs-open.txt
	openForms string
	//go:embed testdata/pairs-sealed.txt
	sealedForms string
)

// pair is two statements that contradict each other, or that only seem to.
type pair struct {
	lang, kind    string
	contradictory bool
	first, second string
}

// language has the names of subjects and people in a language.
type language struct {
	first, second []string
	join          string
	people        []string
}

var languages = map[string]language{
	"en": {join: " ", first: []string{"harbour", "ferry", "lantern", "orchard", "granite", "velvet", "copper", "meadow", "thistle", "falcon", "ember", "willow"},
		second: []string{"importer", "gateway", "mailer", "indexer", "billing", "scheduler", "archive", "portal", "relay", "crawler"}, people: []string{"Ana", "Boris", "Clara", "Dmitri", "Edda", "Farid"}},
	"de": {join: "-", first: []string{"Hafen", "Linden", "Kupfer", "Wiesen", "Falken", "Granit", "Amsel", "Mühlen", "Ufer", "Distel", "Glut", "Nebel"},
		second: []string{"Import", "Tor", "Versand", "Katalog", "Abrechnung", "Planer", "Archiv", "Portal", "Relais", "Sammler"}, people: []string{"Anja", "Bernd", "Clara", "Dirk", "Edda", "Falk"}},
	"es": {join: "-", first: []string{"Puerto", "Faro", "Cobre", "Prado", "Halcón", "Granito", "Mirlo", "Molino", "Ribera", "Cardo", "Brasa", "Niebla"},
		second: []string{"Carga", "Pagos", "Correo", "Índice", "Cuentas", "Agenda", "Archivo", "Portal", "Relevo", "Sondeo"}, people: []string{"Ana", "Bruno", "Clara", "Diego", "Elisa", "Fermín"}},
	"zh": {first: []string{"港口", "渡轮", "灯塔", "果园", "花岗", "铜山", "草甸", "猎鹰", "柳岸", "晨雾", "银杏", "青石"},
		second: []string{"导入器", "网关", "邮件服务", "索引器", "账单系统", "调度器", "档案库", "门户", "中继站", "爬虫"}, people: []string{"老周", "阿梅", "小林", "大刘", "陈姐", "吴工"}},
}

// pairsPerForm is the number of pairs that are made from a form.
const pairsPerForm = 2

// pairs makes the pairs from the open or the sealed forms, always the same ones.
func pairs(sealed bool) ([]pair, error) {
	forms, seed := openForms, uint64(1)
	if sealed {
		forms, seed = sealedForms, 2
	}
	rng := rand.New(rand.NewPCG(seed, 20))
	names := map[string][]string{}
	for _, lang := range []string{"de", "en", "es", "zh"} {
		l := languages[lang]
		for _, a := range l.first {
			for _, b := range l.second {
				names[lang] = append(names[lang], a+l.join+b)
			}
		}
		rng.Shuffle(len(names[lang]), func(i, j int) { names[lang][i], names[lang][j] = names[lang][j], names[lang][i] })
	}
	take := func(lang string) (name string) {
		name, names[lang] = names[lang][0], names[lang][1:]
		return name
	}
	var out []pair
	for n, line := range strings.Split(forms, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, ";;")
		if len(f) != 6 {
			return nil, fmt.Errorf("forms:%d: %d fields, want 6", n+1, len(f))
		}
		for i := range f {
			f[i] = strings.TrimSpace(f[i])
		}
		values := strings.Split(f[5], ";")
		for i := range pairsPerForm {
			a, b, _ := strings.Cut(strings.TrimSpace(values[i%len(values)]), "/")
			who := rng.Perm(len(languages[f[0]].people))
			s, t := take(f[0]), ""
			if strings.Contains(f[4], "{t}") {
				t = take(f[0])
			}
			people := languages[f[0]].people
			fill := strings.NewReplacer("{s}", s, "{t}", t, "{p}", people[who[0]], "{q}", people[who[1]], "{a}", strings.TrimSpace(a), "{b}", strings.TrimSpace(b), `\n`, "\n")
			out = append(out, pair{lang: f[0], contradictory: f[1] == "+", kind: f[2], first: fill.Replace(f[3]), second: fill.Replace(f[4])})
		}
	}
	return out, nil
}

// planted is a pair with the places of its statements.
type planted struct {
	pair
	at [2]health.Place
}

// plant writes the pairs of one language into a workspace. It writes the two statements of a pair
// into two of the files MEMORY.md, a topic and the newest log. Statements about progress go into two
// logs, and never contradict each other.
func plant(ps []pair, lang string) (fstest.MapFS, []planted) {
	const memory, topic, older, newest = "MEMORY.md", "memory/services.md", "memory/2026-03-10.md", "memory/2026-03-20.md"
	text := map[string]*strings.Builder{}
	lines := map[string]int{}
	write := func(file, block string) health.Place {
		b := text[file]
		if b == nil {
			b = &strings.Builder{}
			fmt.Fprintf(b, "# Notes\n\n")
			text[file], lines[file] = b, 2
		}
		if !strings.HasPrefix(block, "|") {
			block = "- " + block
		}
		n := strings.Count(block, "\n") + 1
		at := health.Lines(file, lines[file]+1, lines[file]+n)
		fmt.Fprintf(b, "%s\n\n", block)
		lines[file] += n + 1
		return at
	}
	var out []planted
	for i, p := range ps {
		if p.lang != lang {
			continue
		}
		to := [2]string{memory, topic}
		switch {
		case p.kind == "progress":
			to = [2]string{older, newest}
		case i%4 == 3:
			to[1] = newest
		case i%2 == 1 && p.kind != "superseded" && p.kind != "past":
			to = [2]string{topic, memory}
		}
		out = append(out, planted{p, [2]health.Place{write(to[0], p.first), write(to[1], p.second)}})
	}
	files := fstest.MapFS{}
	for name, b := range text {
		files[name] = &fstest.MapFile{Data: []byte(b.String()), ModTime: time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)}
	}
	return files, out
}

// contradictions counts the planted contradictions that the audit finds, and its findings on
// other statements.
type contradictions struct {
	planted, found, near, alarms int
}

// judgePairs audits workspaces in which the pairs are planted.
func judgePairs(ctx context.Context, sealed bool) (contradictions, error) {
	var c contradictions
	ps, err := pairs(sealed)
	if err != nil {
		return c, err
	}
	for _, lang := range []string{"en", "de", "es", "zh"} {
		files, at := plant(ps, lang)
		snap, err := consolidation.Read(ctx, files, 0, nil)
		if err != nil {
			return c, err
		}
		r, err := consolidation.Audit(ctx, snap, consolidation.Options{Only: []health.Code{health.Contradictions}, Now: time.Date(2026, 3, 21, 8, 0, 0, 0, time.UTC), Timezone: time.UTC})
		if err != nil {
			return c, err
		}
		explained := make([]bool, len(r.Findings))
		for _, p := range at {
			found := false
			for i := range r.Findings {
				if p.between(&r.Findings[i]) {
					found, explained[i] = true, explained[i] || p.contradictory
				}
			}
			if !p.contradictory {
				c.near++
				continue
			}
			c.planted++
			if found {
				c.found++
			}
		}
		for _, ok := range explained {
			if !ok {
				c.alarms++
			}
		}
	}
	return c, nil
}

// between reports whether a finding is about both statements.
func (p *planted) between(f *health.Finding) bool {
	places := append([]health.Place{f.Place}, f.Others...)
	for _, want := range p.at {
		if !slices.ContainsFunc(places, func(at health.Place) bool {
			return at.Path == want.Path && want.StartLine <= at.StartLine && at.StartLine <= want.EndLine
		}) {
			return false
		}
	}
	return true
}
