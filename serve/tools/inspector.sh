#!/bin/sh
# Calls every tool of a memkernel binary through the official MCP
# inspector. Without npx, or where the inspector can't be had, it says so and is done.
#   inspector.sh BINARY
set -eu
bin=$1
inspector=@modelcontextprotocol/inspector@0.15.0
if ! command -v npx >/dev/null; then
	echo "skipped: there is no npx; install Node.js to run the inspector"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! npx --yes "$inspector" --cli --help >"$dir/help" 2>&1; then
	echo "skipped: npx can't run $inspector: $(tail -n 1 "$dir/help")"
	exit 0
fi
mkdir -p "$dir/project/memory"
printf '# Memory\n\nThe deploy window is Tuesday at nine.\n' >"$dir/project/MEMORY.md"
printf '# Deploys\n\nThe ledger is deployed by Kim.\n' >"$dir/project/memory/deploys.md"
"$bin" reindex --quiet --workspace "$dir/project" >/dev/null

# inspect WANT ARGUMENT...: what the inspector prints has WANT in it.
inspect() {
	want=$1
	shift
	if ! npx --yes "$inspector" --cli "$bin" mcp --private --all-tools --workspace "$dir/project" "$@" >"$dir/out" 2>"$dir/err" ||
		! grep -q -- "$want" "$dir/out"; then
		echo "failed: $*: no $want in"
		cat "$dir/out" "$dir/err"
		exit 1
	fi
	echo "ok: $*"
}
inspect '"outputSchema"' --method tools/list
inspect 'deployed by Kim' --method tools/call --tool-name memory_search --tool-arg query=ledger
inspect 'Tuesday at nine' --method tools/call --tool-name memory_get --tool-arg path=MEMORY.md
inspect '"reason": "NO_MATCH"' --method tools/call --tool-name memory_get --tool-arg path=ev-0123456789abcdef
inspect '"reason": "OK"' --method tools/call --tool-name memory_append --tool-arg 'text=Kim owns the ledger.'
