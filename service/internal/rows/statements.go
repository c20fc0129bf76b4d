package rows

import (
	"math"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
)

// now reads the server's clock, in microseconds since 1970.
const now = `(extract(epoch FROM clock_timestamp())*1000000)::bigint`

// marks bounds a trail, as the function grown does.
const marks = 64

// after returns the newest mark of a folder after a write with a mark, where before was the newest.
// It identifies all writes up to this one. If a lost answer makes a statement reach two servers,
// both have the same mark only if they had the same writes before.
func after(before, mark int64) int64 { return (before<<1&math.MaxInt64 | before>>62) ^ mark }

// news reads a folder in one moment: its row, the documents that were written since a rev ($4), and
// the records after a number ($5). If the known mark ($3) is no longer in the trail, it reads all.
// $6 are the logs to read, and $7 says whether to read documents. It also reads small contents that
// were written since.
var news = statement{"read", `WITH f AS MATERIALIZED (SELECT *, $3::bigint=ANY(trail) AS same FROM $S.folders WHERE tenant=$1::bigint AND folder=$2::text)
	SELECT 0, moving, ARRAY[rev, seq, turns, CASE WHEN same THEN 1 ELSE 0 END, CASE WHEN same AND removed<=$4::bigint THEN 1 ELSE 0 END]||counts::bigint[]||sizes||trail, times, '', '', NULL::bytea, '', written FROM f
	UNION ALL
	SELECT 1, d.name, ARRAY[length(d.data), d.mark]::bigint[], NULL, '', '', CASE WHEN length(d.data) <= 32768 AND (NOT f.same OR d.rev > $4::bigint) THEN d.data END, '', d.written
	FROM f JOIN $S.documents AS d ON d.tenant=$1::bigint AND d.folder=f.folder AND $7::boolean WHERE NOT f.same OR f.removed > $4::bigint OR d.rev > $4::bigint
	UNION ALL
	SELECT 2, '', ARRAY[l.seq, l.n, l.log, l.zone, l.time]::bigint[], NULL, l.kind, l.id, NULL, l.body::text, NULL
	FROM f JOIN $S.log AS l ON l.tenant=$1::bigint AND l.session=f.folder AND l.log=ANY($6::int[]) AND l.seq > CASE WHEN f.same THEN $5::bigint ELSE 0 END`}

// commit writes everything of a unit. The function is planned once by each connection of the
// server. A reader can't be such a function: it would need room on the server's disk.
var commit = statement{"write", `SELECT free, ok FROM $S.write($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)`}

// stands waits until a folder is as durable as a synchronous commit. Its own commit waits for all
// earlier ones. It reports whether the folder has the mark, and whether the mark is its newest.
var stands = statement{"wait for", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	f AS (UPDATE $S.folders SET written=written FROM how WHERE tenant=$1::bigint AND folder=$2::text RETURNING trail)
	SELECT coalesce(bool_or($3::bigint=ANY(trail)), false), coalesce(bool_or(trail[cardinality(trail)]=$3::bigint), false) FROM f`}

// get reads a document or a blob ($4).
var get = statement{"read", `SELECT data, written, mark FROM $S.documents WHERE tenant=$1::bigint AND folder=$2::text AND name=$3::text AND $4::text=''
	UNION ALL SELECT data, written, 0 FROM $S.blobs WHERE tenant=$1::bigint AND hash=$4::text`}

// list describes a path ($2) that is a name ($4) in a folder ($3), the log $5 of it or a blob ($6),
// and what is below it: the documents whose names begin with $7 and end before $8.
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

// take gives a hold ($2) to a holder ($3) alone or shared ($4), for a time ($5), unless another
// holder has it whose lease has not ended and with whom it can't be shared. Whoever takes the lock
// of blobs alone gets the newest mark of every folder that has a journal.
var take = statement{"take", `WITH t AS (INSERT INTO $S.holds AS h(tenant, name, alone, holders) VALUES($1::bigint, $2::text, $4::boolean, jsonb_build_object($3::text, ` + now + `+$5::bigint))
		ON CONFLICT(tenant, name) DO UPDATE SET alone=excluded.alone, holders=excluded.holders || coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(h.holders) WHERE value::bigint > ` + now + ` AND key<>$3::text), '{}')
		WHERE NOT (h.alone OR excluded.alone) OR NOT EXISTS(SELECT FROM jsonb_each(h.holders) WHERE value::bigint > ` + now + ` AND key<>$3::text) RETURNING 1)
	SELECT EXISTS(SELECT FROM t), coalesce((SELECT min(key) FROM $S.holds AS h, jsonb_each(h.holders) AS e WHERE h.tenant=$1::bigint AND h.name=$2::text), ''),
		coalesce((SELECT jsonb_object_agg(folder, trail[cardinality(trail)]) FROM $S.folders WHERE tenant=$1::bigint AND counts[1]>0 AND (folder='project' OR folder>='sessions/' AND folder<'sessions0') AND $4::boolean AND $2::text='` + store.BlobsLock + `'), '{}')`}

// renew extends the lease of a holder ($3) by a time ($4), if it still has its hold ($2).
var renew = statement{"renew", `WITH r AS (UPDATE $S.holds SET holders=holders || jsonb_build_object($3::text, ` + now + `+$4::bigint) WHERE tenant=$1::bigint AND name=$2::text AND holders ? $3::text RETURNING 1)
	SELECT EXISTS(SELECT FROM r)`}

// release takes a hold ($2) from its holder ($3).
var release = statement{"release", `UPDATE $S.holds SET holders=holders-$3::text WHERE tenant=$1::bigint AND name=$2::text AND holders ? $3::text`}

// moving marks the workspace ($2) as the target of a move from a place ($3), ” for none. $4 is
// the new mark.
var moving = statement{"mark", `INSERT INTO $S.folders AS f(tenant, folder, rev, trail, moving) VALUES($1::bigint, $2::text, 1, ARRAY[$4::bigint], $3::text)
	ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, trail=$S.grown(f.trail, $4::bigint), moving=excluded.moving`}
