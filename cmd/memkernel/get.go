package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/kernel"
)

func newGet(a *app) *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "get PAGE-ID",
		Short: "print what a pointer stands for, byte for byte",
		Long: `get prints the content of a page, of a span that left the prompt, or of a blob, as
it was stored. Secrets that were masked when it was stored stay masked.`,
		Example: `  memkernel get ev-0123456789abcdef --session build-42`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("get takes one page id, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.runGet(cmd.Context(), session, args[0]) },
	}
	cmd.Flags().StringVarP(&session, "session", "s", kernel.DefaultSession, "`key` of the session")
	return cmd
}

type getJSON struct {
	Schema     string `json:"schema"`
	SessionKey string `json:"session_key"`
	ID         string `json:"id"`
	Reason     string `json:"reason"`
	Bytes      int    `json:"bytes"`
	// Encoding is utf-8, or base64 for content that is no text.
	Encoding string   `json:"encoding"`
	Text     string   `json:"text"`
	Pages    []string `json:"pages"`
}

func (a *app) runGet(ctx context.Context, session, id string) error {
	k, err := a.kernel(ctx, nil)
	if err != nil {
		return err
	}
	defer k.Close()
	c, err := k.Get(ctx, session, id)
	if err != nil {
		return hint(err, "run 'memkernel check' to see what else is damaged")
	}
	if a.json {
		doc := getJSON{Schema: "memkernel/get/v1", SessionKey: session, ID: c.ID, Reason: c.Reason, Bytes: len(c.Text), Encoding: "utf-8", Text: c.Text, Pages: list(c.Pages)}
		if !utf8.ValidString(c.Text) {
			doc.Encoding, doc.Text = "base64", base64.StdEncoding.EncodeToString([]byte(c.Text))
		}
		return a.writeJSON(doc)
	}
	if c.Reason != kernel.ReasonOK {
		return hint(fmt.Errorf("get %s: %s in session %s", printable(id), c.Reason, printable(session)),
			"name the session with --session; a plan's pointers resolve once it was made with --commit or observed")
	}
	_, err = io.WriteString(a.out, c.Text)
	return err
}
