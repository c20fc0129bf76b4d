package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

func addVerb(a *cli.App) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Long: `add makes the Markdown of another folder part of this project's memory: it is searched,
and never written to. The folder is put down under index.folders in your own
configuration for this project, outside the workspace, or in the file that --config
names; then it is indexed.`,
		Example: `  memkernel add ~/notes
  memkernel add /srv/team/notes --name team`,
		Args: takes(1, 1, "add takes one folder; remember keeps a text"),
		RunE: withArgs(a, &name, runAdd),
	}
	cmd.Flags().StringVar(&name, "name", "", "what search calls the folder, by a `name` (default its own)")
	return cmd
}

func foldersVerb(a *cli.App) *cobra.Command {
	var remove string
	cmd := &cobra.Command{
		Long: `folders prints the folders that are part of this project's memory beside the workspace,
each with the name that search gives it and its number of searched files. --remove takes
a folder out of memory again; its files stay as they are.`,
		Example: `  memkernel folders
  memkernel folders --remove ~/notes`,
		RunE: with(a, &remove, runFolders),
	}
	cmd.Flags().StringVar(&remove, "remove", "", "take this `folder` out of memory, by its path or name")
	return cmd
}

// foldersJSON is the document of folders and add.
type foldersJSON struct {
	Schema  string       `json:"schema"`
	Folders []folderJSON `json:"folders"`
}

// folderJSON is a folder of memory. Files counts its searched files, -1 if it can't be read.
type folderJSON struct {
	Name  string `json:"name"`
	Path  string `json:"path"`
	Files int    `json:"files"`
}

// answerFolders prints folders, a line for each.
func answerFolders(a *cli.App, folders []folderJSON, line func(*display.Sheet, *folderJSON)) error {
	return cli.Answer(a, foldersJSON{"memkernel/folders/v1", folders}, folders, func(s *display.Sheet, folders []folderJSON) {
		for i := range folders {
			line(s, &folders[i])
		}
	})
}

func runAdd(ctx context.Context, a *cli.App, name *string, args []string) error {
	folder := args[0]
	if err := a.MemoryOn(); err != nil {
		return err
	}
	dir, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	switch st, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return cli.Hint(fmt.Errorf("add: there is no folder %s", folder), "name a folder with Markdown files; remember keeps a text")
	case err != nil:
		return err
	case !st.IsDir():
		return cli.Hint(fmt.Errorf("add: %s is a file", folder), "add takes a folder; import brings in a file of sessions")
	}
	if in, err := cli.Within(a.Workspace, dir); err != nil || in {
		return cli.Hint(errors.Join(fmt.Errorf("add: %s is inside the workspace already", folder), err), "index.include says which of its Markdown is memory; doc/config.md has the rules")
	}
	entry := dir
	if *name != "" {
		entry = *name + "=" + dir
	}
	called, _ := config.FolderOf(entry)
	had := a.Config.Index.Folders
	for _, f := range had {
		if in, err := cli.Within(dir, a.FolderPath(f)); err == nil && in {
			if back, err := cli.Within(a.FolderPath(f), dir); err == nil && back {
				return cli.Hint(fmt.Errorf("add: %s is part of this memory already", folder), "'memkernel folders' lists them")
			}
		}
		if other, path := config.FolderOf(f); strings.EqualFold(other, called) {
			return cli.Hint(fmt.Errorf("add: %s is called %s already", path, other), "give another name with --name NAME")
		}
	}
	all := append(slices.Clone(had), entry)
	file, err := a.SetFolders(had, all)
	if err != nil {
		return fmt.Errorf("add: %w", err)
	}
	if err := indexNow(ctx, a); err != nil {
		if _, back := a.SetFolders(all, had); back != nil {
			return cli.Hint(errors.Join(err, back), "%s names the folder, and it isn't indexed: 'memkernel reindex' goes on, 'memkernel folders --remove %s' takes it out", file, called)
		}
		return cli.Hint(fmt.Errorf("add: %s was not added: %w", folder, err), "%s", cmp.Or(cli.HintFor(err), "mend that, and add it again; 'memkernel doctor' looks for what is wrong"))
	}
	err = answerFolders(a, []folderJSON{folderOf(ctx, a, entry)}, func(s *display.Sheet, f *folderJSON) {
		s.Line("{} is part of this memory: {file} searched", dir, f.Files)
	})
	if err != nil || a.JSON {
		return err
	}
	a.Tip("it is in %s; 'memkernel folders --remove %s' takes it out again", file, called)
	return nil
}

// indexNow brings the index up to date.
func indexNow(ctx context.Context, a *cli.App) error {
	_, err := ask(ctx, a, cli.Needs{}, "", (*kernel.Kernel).Reindex, &api.ReindexOptions{Progress: a.IndexProgress()})
	return indexError(err)
}

// folderOf counts the searched files of an entry of index.folders.
func folderOf(ctx context.Context, a *cli.App, entry string) folderJSON {
	name, _ := config.FolderOf(entry)
	f := folderJSON{name, a.FolderPath(entry), -1}
	st, err := markdownstore.Open(f.Path, &markdownstore.Options{Include: markdownstore.Everything(), Exclude: a.Config.Index.Exclude, Private: true})
	if err != nil {
		return f
	}
	defer st.Close()
	if v, err := st.Survey(ctx); err == nil {
		f.Files = v.Searched
	}
	return f
}

// foldersOf counts the searched files of all added folders.
func foldersOf(ctx context.Context, a *cli.App) []folderJSON {
	out := []folderJSON{}
	for _, entry := range a.Config.Index.Folders {
		out = append(out, folderOf(ctx, a, entry))
	}
	return out
}

// text returns the folder with the number of its searched files.
func (f *folderJSON) text() string {
	if f.Files < 0 {
		return display.Say("{}, it can't be read", f.Path)
	}
	return display.Say("{}, {file} searched", f.Path, f.Files)
}

func runFolders(ctx context.Context, a *cli.App, out *string) error {
	all := a.Config.Index.Folders
	if remove := *out; remove != "" {
		dir, err := filepath.Abs(remove)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(f string) bool {
			name, path := config.FolderOf(f)
			return name == remove || path == remove || filepath.Clean(a.FolderPath(f)) == dir
		})
		if i < 0 {
			return cli.Hint(fmt.Errorf("folders: %s is not part of this memory", remove), "'memkernel folders' lists them")
		}
		if _, err := a.SetFolders(all, slices.Delete(slices.Clone(all), i, i+1)); err != nil {
			return err
		}
		if !a.JSON {
			return a.Print(func(s *display.Sheet) { s.Line("{} is no longer part of this memory", a.FolderPath(all[i])) })
		}
	}
	folders := foldersOf(ctx, a)
	if len(folders) == 0 && !a.JSON {
		a.Tip("memory is the workspace alone: 'memkernel add FOLDER' adds a folder")
	}
	return answerFolders(a, folders, func(s *display.Sheet, f *folderJSON) { s.Line("{}  {}", display.Left(f.Name, 16), f.text()) })
}
