package contract

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

const module = "github.com/memkernel/memkernel"

// comments holds the doc comments of types by package and name.
type comments struct {
	root     string
	packages map[string]*packageComments
	err      error
}

type packageComments struct {
	types map[string]typeComment
	// consts are the values of a type's constants, in their order.
	consts map[string][]string
	// open holds the types of which some values are constants of other packages.
	open map[string]bool
}

type typeComment struct {
	doc    string
	fields map[string]string
}

func (c *comments) of(t reflect.Type) typeComment {
	name, _, _ := strings.Cut(t.Name(), "[")
	return c.pkg(t).types[name]
}

// words returns the values of the constants of a string type. It returns nil if some values are
// not known.
func (c *comments) words(t reflect.Type) []string {
	if t.PkgPath() == "" || c.pkg(t).open[t.Name()] {
		return nil
	}
	return c.pkg(t).consts[t.Name()]
}

func (c *comments) pkg(t reflect.Type) *packageComments {
	path := t.PkgPath()
	if p := c.packages[path]; p != nil {
		return p
	}
	p := &packageComments{types: map[string]typeComment{}, consts: map[string][]string{}, open: map[string]bool{}}
	if c.packages == nil {
		c.packages = map[string]*packageComments{}
	}
	c.packages[path] = p
	dir, ours := strings.CutPrefix(path, module)
	if !ours {
		return p
	}
	notTests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	pkgs, err := parser.ParseDir(token.NewFileSet(), filepath.Join(c.root, filepath.FromSlash(dir)), notTests, parser.ParseComments)
	if err != nil && c.err == nil {
		c.err = err
	}
	for _, pkg := range pkgs {
		// The order of the files does not matter, because the constants of a type are in one
		// file.
		for _, f := range pkg.Files {
			for _, d := range f.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					p.read(g)
				}
			}
		}
	}
	return p
}

func (p *packageComments) read(g *ast.GenDecl) {
	for _, s := range g.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			doc := s.Doc
			if doc == nil {
				doc = g.Doc
			}
			c := typeComment{plain(doc), map[string]string{}}
			if st, ok := s.Type.(*ast.StructType); ok {
				for _, f := range st.Fields.List {
					for _, name := range f.Names {
						c.fields[name.Name] = plain(f.Doc)
					}
				}
			}
			p.types[s.Name.Name] = c
		case *ast.ValueSpec:
			id, _ := s.Type.(*ast.Ident)
			for _, v := range s.Values {
				switch v := v.(type) {
				case *ast.BasicLit:
					if word, err := strconv.Unquote(v.Value); g.Tok == token.CONST && id != nil && err == nil {
						p.consts[id.Name] = append(p.consts[id.Name], word)
					}
				case *ast.CallExpr: // a constant of another package
					if id, ok := v.Fun.(*ast.Ident); ok && g.Tok == token.CONST {
						p.open[id.Name] = true
					}
				}
			}
		}
	}
}

// plain returns a comment on one line, without the brackets of links.
func plain(g *ast.CommentGroup) string {
	if g == nil {
		return ""
	}
	text := strings.Join(strings.Fields(g.Text()), " ")
	return strings.NewReplacer("[", "", "]", "").Replace(text)
}
