package rows

import (
	"math"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
)

// now reads the server's clock, in microseconds since 1970.
const now = `(extract(epoch FROM clock_timestamp())*1000000)::bigint`

// marks is the largest number of marks in a trail. The SQL function grown keeps as many.
const marks = 64

// after returns a folder's newest mark after a write. before is the newest mark before the write,
// and mark is the write's random number. If a statement reaches two servers because an answer was
// lost, both servers have the same mark only if they had the same writes before.
func after(before, mark int64) int64 { return (before<<1&math.MaxInt64 | before>>62) ^ mark }

// news reads the state of a folder at one moment: its row, the documents that were written after a
// rev ($4), and the records after a number ($5). If the trail lacks the known mark ($3), it reads
// all documents and records. $6 are the logs to read, and $7 says whether to read documents. Of
// new documents of up to 32 KiB it also reads the content.
var news = statement{"read", `WITH f AS MATERIALIZED (SELECT *, $3::bigint=ANY(trail) AS same FROM $S.folders WHERE tenant=$1::bigint AND folder=$2::text)
	SELECT 0, moving, ARRAY[rev, seq, turns, CASE WHEN same THEN 1 ELSE 0 END, CASE WHEN same AND removed<=$4::bigint THEN 1 ELSE 0 END]||counts::bigint[]||sizes||trail, times, '', '', NULL::bytea, '', written FROM f
	UNION ALL
	SELECT 1, d.name, ARRAY[length(d.data), d.mark]::bigint[], NULL, '', '', CASE WHEN length(d.data) <= 32768 AND (NOT f.same OR d.rev > $4::bigint) THEN d.data END, '', d.written
	FROM f JOIN $S.documents AS d ON d.tenant=$1::bigint AND d.folder=f.folder AND $7::boolean WHERE NOT f.same OR f.removed > $4::bigint OR d.rev > $4::bigint
	UNION ALL
	SELECT 2, '', ARRAY[l.seq, l.n, l.log, l.zone, l.time]::bigint[], NULL, l.kind, l.id, NULL, l.body::text, NULL
	FROM f JOIN $S.log AS l ON l.tenant=$1::bigint AND l.session=f.folder AND l.log=ANY($6::int[]) AND l.seq > CASE WHEN f.same THEN $5::bigint ELSE 0 END`}

// commit makes all writes of a unit. Each connection of the server plans the function once. The
// statements that read can't be functions, because a function's result needs room on the server's
// disk.
var commit = statement{"write", `SELECT free, ok FROM $S.write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`}

// stands waits until a folder is as durable as after a synchronous commit, because its own commit
// waits for all earlier commits. It reports whether the folder's trail has a mark, and whether that
// mark is the newest.
var stands = statement{"wait for", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	f AS (UPDATE $S.folders SET written=written FROM how WHERE tenant=$1::bigint AND folder=$2::text RETURNING trail)
	SELECT coalesce(bool_or($3::bigint=ANY(trail)), false), coalesce(bool_or(trail[cardinality(trail)]=$3::bigint), false) FROM f`}

// get reads a document or a blob ($4).
var get = statement{"read", `SELECT data, written, mark FROM $S.documents WHERE tenant=$1::bigint AND folder=$2::text AND name=$3::text AND $4::text=''
	UNION ALL SELECT data, written, 0 FROM $S.blobs WHERE tenant=$1::bigint AND hash=$4::text`}

// list describes a path ($2) and the entries below it. The path is the name $4 in the folder $3. $5
// is the path's index in logs, and $6 its hash if it is that of a blob. The documents below the
// path have names from $7 up to $8, without $8.
var list = statement{"list", `WITH x AS (
		SELECT '' AS path, length(data)::bigint AS size, written FROM $S.documents WHERE tenant=$1::bigint AND folder=$3::text AND name=$4::text
		UNION ALL SELECT '', sizes[$5::int+1], times[$5::int+1] FROM $S.folders WHERE tenant=$1::bigint AND folder=$3::text AND counts[$5::int+1]>0
		UNION ALL SELECT '', size, written FROM $S.blobs WHERE tenant=$1::bigint AND hash=$6::text
		UNION ALL SELECT '/', 0, written FROM $S.folders WHERE tenant=$1::bigint AND folder=$2::text
		UNION ALL SELECT substr(name, length($7::text)+1), length(data)::bigint, written FROM $S.documents WHERE tenant=$1::bigint AND folder=$3::text AND name>=$7::text AND name<$8::text
		UNION ALL SELECT l.name||'.jsonl', l.size, l.time FROM $S.folders AS f, unnest('{` + strings.Join(logs[:], ",") + `}'::text[], f.counts, f.sizes, f.times) AS l(name, n, size, time) WHERE tenant=$1::bigint AND folder=$3::text AND $2::text=$3::text AND l.n>0
		UNION ALL SELECT CASE $2::text WHEN '' THEN folder ELSE substr(folder, length($2::text)+2) END||'/', 0, written FROM $S.folders
			WHERE tenant=$1::bigint AND folder<>'' AND folder NOT LIKE '/%' AND ($2::text='' OR folder>=$2::text||'/' AND folder<$2::text||'0')
		UNION ALL SELECT DISTINCT 'blobs/', 0, 'epoch'::timestamptz FROM $S.blobs WHERE tenant=$1::bigint AND $2::text=''
		UNION ALL SELECT DISTINCT left(hash, 2)||'/', 0, 'epoch'::timestamptz FROM $S.blobs WHERE tenant=$1::bigint AND $2::text='blobs'
		UNION ALL SELECT hash, size, written FROM $S.blobs WHERE tenant=$1::bigint AND $2::text LIKE 'blobs/__' AND hash>=right($2::text, 2) AND hash<right($2::text, 2)||'g')
	SELECT split_part(path, '/', 1), bool_or(strpos(path, '/')>0), max(size), max(written) FROM x GROUP BY 1`}

// journals describes the journals of the project and of all sessions.
var journals = statement{"list", `SELECT folder, sizes[1], times[1] FROM $S.folders WHERE tenant=$1::bigint AND counts[1]>0 AND (folder='project' OR folder>='sessions/' AND folder<'sessions0')`}

// remove removes folders and blobs.
var remove = statement{"remove", `SELECT held, removed FROM $S.remove($1, $2, $3, $4, $5)`}

// move renames a folder.
var move = statement{"move", `SELECT moved, source, target FROM $S.move($1, $2, $3, $4, $5)`}

// take gives a lock ($2) to a holder ($3) for a time ($5), alone if $4 is true and shared otherwise.
// It does not give the lock while another holder, whose lease has not ended, does not share it. For
// a holder that takes the lock of blobs alone, it also returns the newest mark of every folder that
// has a journal.
var take = statement{"take", `WITH t AS (INSERT INTO $S.holds AS h(tenant, name, alone, holders) VALUES($1::bigint, $2::text, $4::boolean, jsonb_build_object($3::text, ` + now + `+$5::bigint))
		ON CONFLICT(tenant, name) DO UPDATE SET alone=excluded.alone, holders=excluded.holders || coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(h.holders) WHERE value::bigint > ` + now + ` AND key<>$3::text), '{}')
		WHERE NOT (h.alone OR excluded.alone) OR NOT EXISTS(SELECT FROM jsonb_each(h.holders) WHERE value::bigint > ` + now + ` AND key<>$3::text) RETURNING 1)
	SELECT EXISTS(SELECT FROM t), coalesce((SELECT min(key) FROM $S.holds AS h, jsonb_each(h.holders) AS e WHERE h.tenant=$1::bigint AND h.name=$2::text), ''),
		coalesce((SELECT jsonb_object_agg(folder, trail[cardinality(trail)]) FROM $S.folders WHERE tenant=$1::bigint AND counts[1]>0 AND (folder='project' OR folder>='sessions/' AND folder<'sessions0') AND $4::boolean AND $2::text='` + store.BlobsLock + `'), '{}')`}

// renew extends the lease of a holder ($3) by a time ($4), if the holder still has the lock ($2).
var renew = statement{"renew", `WITH r AS (UPDATE $S.holds SET holders=holders || jsonb_build_object($3::text, ` + now + `+$4::bigint) WHERE tenant=$1::bigint AND name=$2::text AND holders ? $3::text RETURNING 1)
	SELECT EXISTS(SELECT FROM r)`}

// release takes a lock ($2) from its holder ($3).
var release = statement{"release", `UPDATE $S.holds SET holders=holders-$3::text WHERE tenant=$1::bigint AND name=$2::text AND holders ? $3::text`}

// moving marks the workspace ($2) as the target of a move from a place ($3). An empty place removes
// this mark. $4 is the folder's new mark.
var moving = statement{"mark", `INSERT INTO $S.folders AS f(tenant, folder, rev, trail, moving) VALUES($1::bigint, $2::text, 1, ARRAY[$4::bigint], $3::text)
	ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, trail=$S.grown(f.trail, $4::bigint), moving=excluded.moving`}
