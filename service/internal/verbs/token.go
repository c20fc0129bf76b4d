package verbs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/token"
)

// tokenJSON is a token that was made or revoked.
type tokenJSON struct {
	Schema string `json:"schema"`
	tokenRow
	// Secret is the token that its bearer must send. It is shown once, when it is made.
	Secret string `json:"token,omitempty"`
}

// tokensJSON is the list of all tokens.
type tokensJSON struct {
	Schema string     `json:"schema"`
	Tokens []tokenRow `json:"tokens"`
}

type tokenRow struct {
	token.Token
	State string `json:"state"`
}

func tokenDocument(t *token.Token, secret string, now time.Time) tokenJSON {
	return tokenJSON{"memkernel/token/v1", tokenRow{*t, t.State(now)}, secret}
}

// Token is the verb token.
func Token(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Long: `token makes, lists and revokes the tokens by which programs on other machines reach
'memkernel-server serve --listen' (doc/service.md). A token is for one tenant, or for the
workspace of a server without tenants, and for an agent and a beginning of session keys
where it names them. What is kept with the state is its SHA-256 alone: in the
state folder, or in the database that all machines share.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return cli.UnknownVerb(cmd, args[0])
		},
	}
	cmd.AddCommand(newTokenCreate(a), newTokenList(a), newTokenRevoke(a))
	return cmd
}

func newTokenCreate(a *cli.App) *cobra.Command {
	var r token.Rights
	access := cli.Choice{Value: string(token.Read), Of: []string{string(token.Read), string(token.Write)}}
	var expires span
	cmd := &cobra.Command{
		Use:   "create",
		Short: "make a token, and print it this once",
		Long: `create makes a token and prints it; nothing can print it again. A running server takes
it from its next request on.

--session-prefix is compared byte for byte: end it where a name ends, as in support/, so
that it does not let in support2. What is remembered is the whole tenant's: whoever may
write can add to it, and all of its sessions find it.`,
		Example: `  memkernel-server token create --access write --expires 90d
  memkernel-server token create --tenant acme --session-prefix support/ --access write`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.Access = token.Access(access.Value)
			now := time.Now()
			if cmd.Flags().Changed("expires") {
				if expires.Duration <= 0 {
					return cli.Usagef("--expires: give how long it is good for, such as 90d")
				}
				r.Expires = now.Add(time.Duration(expires.Duration)).UTC().Truncate(time.Second)
			}
			return createToken(cmd.Context(), a, r, now)
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.Tenant, "tenant", "", "`name` of the tenant whose workspace it is for, with serve --tenants")
	f.StringVar(&r.Agent, "agent", "", "`name` of the only agent whose sessions it reaches, as in agent:NAME:REST")
	f.StringVar(&r.Prefix, "session-prefix", "", "`beginning` of the keys of the sessions that it reaches")
	f.StringVar(&r.Note, "note", "", "`text` that list shows")
	f.Var(&access, "access", "what it may do")
	f.Var(&expires, "expires", "how long it is good for, such as 90d (default for ever)")
	for _, name := range []string{"agent", "session-prefix", "tenant", "note"} {
		cli.Must(f.SetAnnotation(name, cli.OwnFlag, []string{"yes"}))
	}
	cli.CompleteWords(cmd, "access", access.Of)
	return cmd
}

// span is a length of time, in the form that settings use.
type span struct{ config.Duration }

// Type returns the name of the type in help.
func (*span) Type() string { return "duration" }

// tokens returns the tokens, which are kept with the state. They are in the state's folder, or in
// the database that all machines share.
func tokens(ctx context.Context, a *cli.App) (*token.Tokens, error) {
	state, err := a.Stored(ctx)
	if err != nil {
		return nil, err
	}
	return token.In(state), nil
}

func createToken(ctx context.Context, a *cli.App, r token.Rights, now time.Time) error {
	all, err := tokens(ctx, a)
	if err != nil {
		return err
	}
	if a.Config.Store.Backend == "files" {
		if err := store.KeepOutOfGit(store.Files(a.StateDir)); err != nil {
			return fmt.Errorf("make state folder: %w", err)
		}
	}
	made, secret, err := all.Create(r, now)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(tokenDocument(made, secret, now))
	}
	if _, err := fmt.Fprintln(a.Data(), secret); err != nil {
		return err
	}
	a.Tip("this is the only time that the token is shown; its id is %s", made.ID)
	return nil
}

func newTokenList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "list the tokens, by their ids",
		Args:  cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			kept, err := tokens(cmd.Context(), a)
			if err != nil {
				return err
			}
			all, bad := kept.List()
			doc := tokensJSON{Schema: "memkernel/tokens/v1", Tokens: []tokenRow{}}
			for _, t := range all {
				doc.Tokens = append(doc.Tokens, tokenRow{t, t.State(now)})
			}
			if a.JSON {
				err = a.WriteJSON(doc)
			} else {
				err = printTokens(a, doc.Tokens)
			}
			return errors.Join(err, bad)
		},
	}
}

func printTokens(a *cli.App, rows []tokenRow) error {
	if len(rows) == 0 {
		a.Tip("there are none; 'memkernel-server token create' makes one")
		return nil
	}
	var b strings.Builder
	for _, t := range rows {
		words := []string{t.ID, fmt.Sprintf("%-7s", t.State), fmt.Sprintf("%-5s", t.Access), "since " + t.Created.Format(time.DateOnly)}
		for _, w := range []struct{ name, value string }{{"tenant", t.Tenant}, {"agent", t.Agent}, {"sessions", t.Prefix}, {"note", t.Note}} {
			if w.value != "" {
				words = append(words, fmt.Sprintf("%s %q", w.name, w.value))
			}
		}
		if !t.Expires.IsZero() {
			words = append(words, "until "+t.Expires.Format(time.DateOnly))
		}
		b.WriteString(strings.Join(words, "  ") + "\n")
	}
	_, err := display.Bare(a.Out).Write([]byte(b.String()))
	return err
}

func newTokenRevoke(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "end a token; a running server refuses it from its next request on",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("token revoke takes one id, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			kept, err := tokens(cmd.Context(), a)
			if err != nil {
				return err
			}
			t, err := kept.Revoke(args[0], now)
			if errors.Is(err, token.ErrNone) {
				return cli.Hint(err, "'memkernel-server token list' has the ids")
			}
			if err != nil {
				return err
			}
			if a.JSON {
				return a.WriteJSON(tokenDocument(t, "", now))
			}
			a.Tip("token %s lets nobody in any more", t.ID)
			return nil
		},
	}
}
