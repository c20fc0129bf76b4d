package budget

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// sample returns about 8,000 bytes of one class of text, the same each time.
func sample(tb testing.TB, class string) string {
	tb.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(len(class))))
	var b strings.Builder
	switch class {
	case "prose":
		return fill(proseText)
	case "markdown":
		return fill(markdownText)
	case "german":
		return fill(germanText)
	case "japanese":
		return fill(japaneseText)
	case "chinese":
		return fill(chineseText)
	case "go":
		return fill(strings.Join(ourSource(tb), "\n"))
	case "python":
		return fill(pythonText)
	case "typescript":
		return fill(typescriptText)
	case "json compact", "json pretty":
		return jsonSample(rng, class == "json pretty")
	case "diff":
		return diffSample(tb)
	case "log":
		for b.Len() < 8000 {
			fmt.Fprintf(&b, "2026-11-%02dT%02d:%02d:%02d.%03dZ %s worker-%d request_id=%08x path=/api/v1/%s status=%s duration_ms=%d\n",
				1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60), rng.IntN(1000), pick(rng, "INFO", "WARN", "ERROR"),
				rng.IntN(16), rng.Uint32(), pick(rng, "orders", "users", "sessions", "invoices"), pick(rng, "200", "404", "503"), rng.IntN(4000))
		}
	case "ls":
		for b.Len() < 8000 {
			fmt.Fprintf(&b, "-rw-r--r--  1 build  staff %8d Nov %2d %02d:%02d %s_%s.%s\n", rng.IntN(1<<20), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60),
				pick(rng, "planner", "journal", "index", "server"), pick(rng, "test", "bench", "util", "types"), pick(rng, "go", "ts", "md", "json"))
		}
	case "csv":
		for b.Len() < 8000 {
			fmt.Fprintf(&b, "%d,%.4f,%.2f,%d,%.6f\n", rng.IntN(100000), rng.Float64()*100, rng.Float64()*1e4, rng.IntN(1000), rng.Float64())
		}
	case "uuid":
		for b.Len() < 8000 {
			fmt.Fprintf(&b, "%08x-%04x-4%03x-a%03x-%012x\n", rng.Uint32(), rng.IntN(1<<16), rng.IntN(1<<12), rng.IntN(1<<12), rng.Uint64()>>16)
		}
	case "hex":
		for b.Len() < 8000 {
			b.WriteString(hex.EncodeToString(randomBytes(rng, 32)) + "\n")
		}
	case "base64":
		for b.Len() < 8000 {
			b.WriteString(base64.StdEncoding.EncodeToString(randomBytes(rng, 57)) + "\n")
		}
	default:
		tb.Fatalf("no sample of class %q", class)
	}
	return b.String()
}

func fill(text string) string {
	return strings.ToValidUTF8(strings.Repeat(text, 8000/len(text)+1)[:8000], "")
}

func pick(rng *rand.Rand, of ...string) string { return of[rng.IntN(len(of))] }

func randomBytes(rng *rand.Rand, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = byte(rng.Uint32())
	}
	return out
}

func jsonSample(rng *rand.Rand, pretty bool) string {
	type row struct {
		ID        int      `json:"id"`
		Name      string   `json:"name"`
		Path      string   `json:"file_path"`
		Tags      []string `json:"tags"`
		Score     float64  `json:"score"`
		Active    bool     `json:"is_active"`
		CreatedAt string   `json:"created_at"`
	}
	var rows []row
	for len(rows) < 60 {
		rows = append(rows, row{
			rng.IntN(10000), pick(rng, "context planner", "session journal", "prompt cache", "retrieval index"),
			"internal/" + pick(rng, "plan", "cut", "store") + "/" + pick(rng, "reader", "writer", "types") + ".go",
			[]string{pick(rng, "alpha", "beta"), pick(rng, "stable", "draft", "deprecated")},
			float64(rng.IntN(1000)) / 1000, rng.IntN(2) == 0, fmt.Sprintf("2026-11-%02dT08:00:00Z", 1+rng.IntN(28)),
		})
	}
	data, _ := json.Marshal(rows)
	if pretty {
		data, _ = json.MarshalIndent(rows, "", "  ")
	}
	return string(data[:min(len(data), 8000)])
}

// diffSample is a unified diff of our own source, with made-up changes.
func diffSample(tb testing.TB) string {
	var b strings.Builder
	lines := strings.Split(strings.Join(ourSource(tb), "\n"), "\n")
	for i := 0; b.Len() < 8000; i += 12 {
		fmt.Fprintf(&b, "diff --git a/budget/file%d.go b/budget/file%d.go\nindex %07x..%07x 100644\n@@ -%d,7 +%d,8 @@\n", i, i, i*7919, i*104729, i+10, i+11)
		for k, line := range lines[i+200 : i+212] {
			b.WriteString([]string{" ", " ", "-", "+", "+", " "}[k%6] + line + "\n")
		}
	}
	return b.String()[:8000]
}

const proseText = `A context window is a shared desk. Everything that the model should look at has to lie on it at the same moment: the rules of the house, the description of each tool, the conversation so far, the file that was just read, and the question that was asked a second ago. The desk is large nowadays, but it is not free, and whoever pays for it notices quickly that most of the paper on it has not been touched for an hour.

The obvious answer is to throw away old paper. That works badly, because the provider remembers the desk as it was, from the left edge on, and charges very little for the part that has not changed. Remove one sheet near the left edge and everything to the right of it has to be laid out again at the full price. A tidy desk that is tidied after each sentence therefore costs more than an untidy one, which surprises people who have only ever looked at the number of sheets.

A better habit is to leave everything where it lies until there is a good reason, and then to tidy once and thoroughly. Good reasons are rare but easy to name: the desk is nearly full, the price jumps at a certain size, or the memory of the provider has expired anyway because nobody spoke for a while. In between, new sheets go to the right, and nothing else moves. Measured over long working days this simple habit saves a third of the bill and, more importantly, keeps the answers consistent, since the model sees the same words at the same place each time.

What leaves the desk is not lost. It goes into a drawer with a label, and the label stays. If the label is good, the model can ask for the sheet when it turns out to be needed after all, and most of the time it never is. `

const markdownText = "# Planning a prompt\n\nThe planner takes a **state** and a **request** and returns a plan. It never writes.\n\n## Usage\n\n```sh\nmemkernel plan --transcript session.jsonl --context-window 200000 --explain\n```\n\n| flag | default | meaning |\n|---|---|---|\n| `--reserve` | 20 % | tokens kept free for the answer |\n| `--model` | last used | decides the tokenizer and the prices |\n| `--json` | off | print one document with a `schema` field |\n\n- Regions add up to the planned input.\n- Each cut names its reason: `high_water`, `price_cliff`, `cold`.\n- See [the layout](doc/layout.md) for breakpoints.\n\n1. Count the fixed part.\n2. Align the request with the projection.\n3. Append what is new.\n\n> **Note:** a window smaller than the fixed part is an error that says by how much.\n\n"

const germanText = `Der Kontext eines Sprachmodells ist ein knappes Gut, auch wenn die Fenster heute sehr groß geworden sind. Jede Werkzeugbeschreibung, jede Systemanweisung und jedes gelesene Dokument belegt Platz, der anschließend für die eigentliche Unterhaltung fehlt. Wer die Zwischenspeicherung des Anbieters berücksichtigt, verändert den Anfang der Anfrage möglichst selten, denn eine einzige Änderung entwertet alles, was danach folgt. Größere Aufräumarbeiten werden deshalb gesammelt und nur dann durchgeführt, wenn der Speicher ohnehin abgelaufen ist oder die Obergrenze erreicht wird. Verlorengegangene Einzelheiten lassen sich über einen Verweis wiederherstellen, solange die ursprünglichen Daten unverändert aufbewahrt werden. `

const japaneseText = `文脈の窓は共有の机のようなものです。規則、道具の説明、これまでの会話、読んだばかりのファイル、そして今の質問が同時に並びます。机は広くなりましたが、無料ではありません。古い紙を捨てるだけではうまくいきません。提供者は左端から変わっていない部分を覚えていて、そこだけ安く計算するからです。途中の一枚を動かすと、右側のすべてを並べ直すことになります。だから普段は何も動かさず、理由があるときに一度だけ、まとめて片付けます。捨てたものには札が残り、必要になれば元のまま取り出せます。`

const chineseText = `上下文窗口就像一张共用的桌子。规则、工具说明、到目前为止的对话、刚刚读取的文件以及眼前的问题,都要同时摆在上面。桌子变大了,但并不免费。简单地扔掉旧纸张效果很差,因为服务商会记住从左边开始没有变化的部分,并且只收取很低的费用。移动其中一张,右边的全部内容就要按原价重新摆放。更好的习惯是平时保持不动,等到有充分的理由时再彻底整理一次。离开桌面的东西不会丢失,标签仍然保留,需要时可以原样取回。`

const pythonText = `import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Session:
    """A conversation and what is known about its cost."""

    key: str
    messages: list[dict] = field(default_factory=list)
    cache_read_tokens: int = 0

    def append(self, role: str, text: str) -> None:
        if not text.strip():
            raise ValueError(f"empty message from {role!r}")
        self.messages.append({"role": role, "content": text})

    @property
    def total_length(self) -> int:
        return sum(len(message["content"]) for message in self.messages)


def load_sessions(directory: Path) -> dict[str, Session]:
    sessions = {}
    for path in sorted(directory.glob("*.jsonl")):
        with path.open(encoding="utf-8") as handle:
            records = [json.loads(line) for line in handle if line.strip()]
        session = Session(key=path.stem)
        for record in records:
            session.append(record["role"], record.get("content", ""))
        sessions[session.key] = session
    return sessions


`

const typescriptText = `import { readFile } from "node:fs/promises";

export interface PlanRequest {
  sessionKey: string;
  contextWindow: number;
  reserveTokens?: number;
  messages: ReadonlyArray<Message>;
}

export async function planContext(request: PlanRequest): Promise<ContextPlan> {
  const { contextWindow, reserveTokens = Math.floor(contextWindow * 0.2) } = request;
  const budget = contextWindow - reserveTokens;
  const included: Message[] = [];
  let usedTokens = 0;
  for (const message of [...request.messages].reverse()) {
    const cost = await countTokens(message.content);
    if (usedTokens + cost > budget) {
      break;
    }
    included.unshift(message);
    usedTokens += cost;
  }
  return { included, usedTokens, excludedCount: request.messages.length - included.length };
}

const defaultOptions: Partial<PlanRequest> = {
  contextWindow: 200_000,
};

`
