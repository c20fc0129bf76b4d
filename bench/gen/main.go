// Command gen writes the files in budget/tables. It makes one lookup table per vocabulary from
// the ranks that the reference tokenizer embeds. It makes the table of character classes for the
// tokenizer's split patterns from Go's unicode package.
//
// Run it through "go generate ./budget", which passes the folder to write to. It does not use the
// network, and the same inputs give the same bytes. The formats are described in budget/table.go
// and budget/class.go.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

// vocabularies names the rank files and the tables made from them.
var vocabularies = []struct{ source, table string }{
	{"o200k_base.tiktoken", "o200k.bin"},
	{"cl100k_base.tiktoken", "cl100k.bin"},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	if len(os.Args) != 2 {
		log.Fatal("name the folder to write the tables to")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// run writes every table into dir.
func run(dir string) error {
	ld := loader.NewOfflineLoader()
	for _, v := range vocabularies {
		ranks, err := ld.LoadTiktokenBpe(v.source)
		if err != nil {
			return fmt.Errorf("load %s: %w", v.source, err)
		}
		data, err := vocabularyTable(ranks)
		if err != nil {
			return fmt.Errorf("build %s: %w", v.table, err)
		}
		if err := os.WriteFile(filepath.Join(dir, v.table), data, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "classes.bin"), classTable(), 0o644)
}
