package service_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/serve"
)

// tenantRounds is how many rounds without and with an attack take turns, each of tenantCalls plans
// and as many searches. A round under attack ends after tenantRound, too.
const (
	tenantRounds = 4
	tenantCalls  = 130
	tenantRound  = 10 * time.Second
)

// BenchmarkTenantUnderAttack runs `memkernel-server serve --tenants` and times the plans and searches of one
// tenant while the bearer of a token of another tenant attacks the service, each attack by itself.
// Metrics: the median and the 99th percentile as multiples of those without the attack in the same
// run, and how many requests the attack made a second. A call of the first tenant that is refused or
// fails is an error.
func BenchmarkTenantUnderAttack(b *testing.B) {
	s := newTenantService(b)
	for _, a := range attacks {
		b.Run(a.name, func(b *testing.B) {
			for b.Loop() {
				s.compare(b, a)
			}
		})
	}
}

// tenantService is a running service with two tenants.
type tenantService struct {
	address             string
	attacker, bystander string
	calls               int
}

func newTenantService(b *testing.B) *tenantService {
	b.Helper()
	bin, root := program(b), b.TempDir()
	for _, tenant := range []string{"attacker", "bystander"} {
		if err := os.CopyFS(filepath.Join(root, "state", "tenants", tenant, "workspace"), os.DirFS("../testdata/workspace")); err != nil {
			b.Fatal(err)
		}
	}
	where := []string{"--workspace", root, "--state-dir", filepath.Join(root, "state")}
	token := func(tenant string) string {
		out, err := exec.Command(bin, append([]string{"token", "create", "--access", "write", "--quiet", "--tenant", tenant}, where...)...).Output()
		if err != nil {
			b.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	s := &tenantService{attacker: token("attacker"), bystander: token("bystander")}
	cmd := exec.Command(bin, append([]string{"serve", "--listen", "127.0.0.1:0", "--tenants"}, where...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	s.address = strings.TrimPrefix(strings.TrimSpace(line), "http://")
	return s
}

// compare reports how much longer the bystander's calls take under an attack.
func (s *tenantService) compare(b *testing.B, a attack) {
	var alone, attacked []time.Duration
	requests := 0
	var spent time.Duration
	s.round(b) // opens the tenant
	for range tenantRounds {
		alone = append(alone, s.round(b)...)
		end := s.begin(b, a)
		began := time.Now()
		attacked = append(attacked, s.round(b)...)
		spent += time.Since(began)
		requests += end()
	}
	slices.Sort(alone)
	slices.Sort(attacked)
	at := func(d []time.Duration, part float64) float64 { return float64(d[int(part*float64(len(d)-1))]) }
	b.ReportMetric(at(attacked, 0.5)/at(alone, 0.5), "p50-ratio")
	b.ReportMetric(at(attacked, 0.99)/at(alone, 0.99), "p99-ratio")
	b.ReportMetric(float64(requests)/spent.Seconds(), "attacks/s")
	b.Logf("alone %.1f ms, %.1f ms; attacked %.1f ms, %.1f ms; %d calls", at(alone, 0.5)/1e6, at(alone, 0.99)/1e6, at(attacked, 0.5)/1e6, at(attacked, 0.99)/1e6, len(attacked))
}

// BenchmarkTenantGrowth plans ever new conversations of one session through `memkernel-server serve --tenants`,
// whose index comes to hold them all. x-first is the median time of the last 50 of 1,000 plans as a
// multiple of the median of 50 plans after the first 50.
func BenchmarkTenantGrowth(b *testing.B) {
	s := newTenantService(b)
	for b.Loop() {
		var took []time.Duration
		for range 1000 {
			s.calls++
			call := planCall("grows", s.calls, 11, 500)
			began := time.Now()
			s.well(b, call)
			took = append(took, time.Since(began))
			time.Sleep(5 * time.Millisecond)
		}
		middle := func(d []time.Duration) float64 {
			slices.Sort(d)
			return float64(d[len(d)/2])
		}
		b.ReportMetric(middle(took[950:])/middle(took[50:100]), "x-first")
	}
}

// attackEnv is the address, the token and the attack of a process that attacks.
const attackEnv = "MEMKERNEL_BENCH_ATTACK"

// begin starts an attack from a process of its own, which gets the processors that nobody else needs:
// attackers have their own machines. end returns how many requests it made.
func (s *tenantService) begin(b *testing.B, a attack) (end func() int) {
	b.Helper()
	words := []string{os.Args[0], "-test.run", "^TestTenantAttack$", "-test.v"}
	if nice, err := exec.LookPath("nice"); err == nil {
		words = append([]string{nice, "-n", "19"}, words...)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), strings.Join([]string{attackEnv + "=" + s.address, s.attacker, a.name}, " "))
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	said := func(prefix string) (rest string) {
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return rest
			}
		}
		b.Fatalf("the process that attacks ended: %v", cmd.Wait())
		return ""
	}
	said("attacking")
	return func() int {
		in.Close()
		n, err := strconv.Atoi(said("requests: "))
		if err = errors.Join(err, cmd.Wait()); err != nil {
			b.Fatal(err)
		}
		return n
	}
}

// TestTenantAttack is the process that attacks, until its input ends.
func TestTenantAttack(t *testing.T) {
	words := strings.Fields(os.Getenv(attackEnv))
	if len(words) != 3 {
		t.Skip("BenchmarkTenantUnderAttack runs this in a process of its own")
	}
	s := &tenantService{address: words[0], attacker: words[1]}
	a := attacks[slices.IndexFunc(attacks, func(a attack) bool { return a.name == words[2] })]
	ctx, cancel := context.WithCancel(context.Background())
	var requests atomic.Int64
	var wg sync.WaitGroup
	for n := range a.clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				s.attack(ctx, a, n)
				requests.Add(1)
				idle(ctx, a.pause)
			}
		})
	}
	idle(ctx, time.Second)
	fmt.Println("attacking")
	_, _ = io.Copy(io.Discard, os.Stdin)
	cancel()
	wg.Wait()
	fmt.Printf("requests: %d\n", requests.Load())
}

func idle(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// round returns how long the bystander's calls took.
func (s *tenantService) round(b *testing.B) (out []time.Duration) {
	b.Helper()
	end := time.Now().Add(tenantRound)
	for range tenantCalls {
		// Sessions grow and end: the plans of one that never ends take longer and longer.
		s.calls++
		for _, call := range []string{planCall(fmt.Sprint("bystander", s.calls/10), s.calls/10, 1+2*(s.calls%10), 500),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"which runbook covers the deploy window of week %d"}}`, s.calls)} {
			began := time.Now()
			s.well(b, call)
			out = append(out, time.Since(began))
		}
		if time.Now().After(end) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return out
}

func (s *tenantService) well(b *testing.B, call string) {
	b.Helper()
	r, err := http.NewRequest(http.MethodPost, "http://"+s.address+"/rpc", strings.NewReader(call))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.bystander)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	var m struct{ Error *serve.Error }
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil || res.StatusCode != http.StatusOK || m.Error != nil {
		b.Fatalf("the bystander's call: status %d, %v, %v", res.StatusCode, err, m.Error)
	}
}

// planCall is a plan of a conversation of messages of a size.
func planCall(session string, n, messages, bytes int) string {
	return conversationCall("plan", session, n, messages, bytes, "")
}

func conversationCall(method, session string, n, messages, bytes int, more string) string {
	var text strings.Builder
	fmt.Fprintf(&text, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"session_key":%q,"model":"claude-sonnet-4-6"%s,"conversation":{"dialect":"anthropic","messages":[`, method, session, more)
	for i := range messages {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"role":%q,"content":"part %d of call %d: %s"}`, role, i, n, strings.Repeat("what does the harbour say of it ", bytes/32))
	}
	text.WriteString(`]}}}`)
	return text.String()
}

// attack is a way to keep a service from others. Each of its clients makes a request again and again,
// a pause after the last one has ended.
type attack struct {
	name    string
	clients int
	pause   time.Duration
	// headers are added to those of the request.
	headers func(n int) string
	// token is sent in place of the attacker's.
	token string
	// body is the body, length what is said of its size in place of that.
	body   func(n int) string
	length int
	// trickle sends one byte a second, and slow reads one.
	trickle, slow bool
}

var attackCount atomic.Int64

// large returns a body that is made once.
func large(make func() string) func(int) string {
	once := sync.OnceValue(make)
	return func(int) string { return once() }
}

var attacks = []attack{
	{name: "idle-sockets", clients: 8, pause: time.Second / 10, length: 60 << 20},
	{name: "trickled-bodies", clients: 300, pause: time.Second, body: func(n int) string { return planCall("a", n, 11, 500) }, trickle: true},
	{name: "queries-of-16MB", clients: 4, body: large(func() string {
		return `{"jsonrpc":"2.0","id":1,"method":"search","params":{"query":"` + strings.Repeat("which runbook covers the deploy window ", 16<<20/39) + `"}}`
	})},
	{name: "wrong-tokens", clients: 16, token: "mkt_" + strings.Repeat("x", 43), body: func(n int) string { return planCall("a", n, 1, 100) }},
	{name: "new-sessions", clients: 16, body: func(int) string {
		n := int(attackCount.Add(1))
		return conversationCall("observe_turn", fmt.Sprint("new", n), n, 2, 500, "")
	}},
	{name: "small-plans", clients: 64, body: func(n int) string { return planCall(fmt.Sprint("small", n), int(attackCount.Add(1)), 11, 500) }},
	{name: "slow-readers", clients: 64, pause: time.Second, slow: true, body: large(func() string { return conversationCall("peek", "slow", 1, 41, 100_000, `,"form":"body"`) })},
	{name: "turns-of-40MB", clients: 2, body: large(func() string { return conversationCall("observe_turn", "large", 1, 40, 1_000_000, "") })},
	{name: "deep-JSON", clients: 4, body: large(func() string {
		return `{"jsonrpc":"2.0","id":1,"method":"plan","params":{"x":` + strings.Repeat(`{"a":[`, 3<<20) + strings.Repeat(`]}`, 3<<20) + `}}`
	})},
	{name: "long-headers", clients: 16, headers: func(int) string { return "X-Long: " + strings.Repeat("x", 1<<20) + "\r\n" }},
}

// attack makes one request.
func (s *tenantService) attack(ctx context.Context, a attack, n int) {
	nc, err := net.Dial("tcp", s.address)
	if err != nil {
		return
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { nc.Close() })
	defer stop()
	body, headers := "", ""
	if a.body != nil {
		body = a.body(n)
	}
	if a.headers != nil {
		headers = a.headers(n)
	}
	token := s.attacker
	if a.token != "" {
		token = a.token
	}
	fmt.Fprintf(nc, "POST /rpc HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n", token, max(a.length, len(body)), headers)
	if a.trickle {
		for i := 0; i < len(body) && ctx.Err() == nil; i++ {
			if _, err := io.WriteString(nc, body[i:i+1]); err != nil {
				return
			}
			idle(ctx, time.Second)
		}
	} else if _, err := io.WriteString(nc, body); err != nil {
		return
	}
	var one [1]byte
	for a.slow && ctx.Err() == nil {
		if _, err := nc.Read(one[:]); err != nil {
			return
		}
		idle(ctx, time.Second)
	}
	_, _ = io.Copy(io.Discard, bufio.NewReader(nc))
}

// program builds the server in a temporary folder.
func program(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "memkernel-server")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/memkernel-server").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return bin
}
