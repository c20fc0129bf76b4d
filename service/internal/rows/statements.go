package rows

import (
	"fmt"
	"math"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
)

// now reads the server's clock, in microseconds since 1970.
const now = `(extract(epoch FROM clock_timestamp())*1000000)::bigint`

// marks bounds a trail. A process that comes back after as many writes of others reads the whole
// folder again.
const marks = 64

// kept are the newest marks of a folder f, with room for one more.
var kept = fmt.Sprintf(`f.trail[greatest(cardinality(f.trail)-%d, 1):]`, marks-2)

// next is the mark of after, where the newest of a folder f was before.
func next(mark string) string {
	return `((((f.trail[cardinality(f.trail)]<<1)&9223372036854775807)|(f.trail[cardinality(f.trail)]>>62))#` + mark + `::bigint)`
}

// grown is the trail of a folder f with one mark more.
func grown(mark string) string { return kept + `||` + next(mark) }

// after returns the newest mark of a folder after a write with a mark, where before was the newest.
// It identifies all writes up to this one. If a lost answer makes a statement reach two servers,
// both have the same mark only if they had the same writes before.
func after(before, mark int64) int64 { return (before<<1&math.MaxInt64 | before>>62) ^ mark }

// statements are all that a store sends.
var statements = []*statement{&news, &commit, &stands, &get, &list, &journals, &remove, &move, &take, &renew, &release, &writeFile, &removeFile, &moving}

// news reads a folder in one moment: its row, the documents that were written since a rev ($4), and
// the records after a number ($5). If the known mark ($3) is no longer in the trail, it reads all.
// $6 are the logs to read, and $7 says whether to read documents. It also reads small contents that
// were written since.
var news = statement{name: "read", text: `WITH f AS MATERIALIZED (SELECT *, $3::bigint=ANY(trail) AS same FROM $S.folders WHERE tenant=$1::bigint AND folder=$2::text)
	SELECT 0, moving, ARRAY[rev, seq, turns, CASE WHEN same THEN 1 ELSE 0 END, CASE WHEN same AND removed<=$4::bigint THEN 1 ELSE 0 END]||counts::bigint[]||sizes||trail, times, '', '', NULL::bytea, '', written FROM f
	UNION ALL
	SELECT 1, d.name, ARRAY[d.rev, length(d.data), d.mark]::bigint[], NULL, '', '', CASE WHEN length(d.data) <= 32768 AND (NOT f.same OR d.rev > $4::bigint) THEN d.data END, '', d.written
	FROM f JOIN $S.documents AS d ON d.tenant=$1::bigint AND d.folder=f.folder AND $7::boolean WHERE NOT f.same OR f.removed > $4::bigint OR d.rev > $4::bigint
	UNION ALL
	SELECT 2, '', ARRAY[l.seq, l.turn, l.n, l.log, l.zone, l.time]::bigint[], NULL, l.kind, l.id, NULL, l.body::text, NULL
	FROM f JOIN $S.log AS l ON l.tenant=$1::bigint AND l.session=f.folder AND l.log=ANY($6::int[]) AND l.seq > CASE WHEN f.same THEN $5::bigint ELSE 0 END`,
	answer: []string{"int", "text", "bigint[]", "timestamptz[]", "text", "text", "bytea", "text", "timestamptz"}}

// commit writes everything of a unit, if the folder ($3) still has the newest mark $4, or does not
// exist for 0. Without a folder (-1) it only writes documents and blobs. The write's mark is $5.
// $6 is the key of the folder's session, ” if it is not written. $7 to $10 are the state of the
// logs, of which $11 lose their records up to $12 and the folder its trail. Records: $13 to $21.
// Documents: $22 to $24, of which those without content are removed first, with everything below.
// Blobs: $25 and $26. It writes no blob while any process removes blobs, this process included. A
// remover whose lease of that lock has ended loses the lock, because its list of needed blobs is
// too old.
var commit = statement{name: "write", text: `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', $2::text, true)),
	hold AS MATERIALIZED (SELECT alone, holders FROM $S.holds WHERE tenant=$1::bigint AND name='` + store.BlobsLock + `' AND cardinality($25::text[])>0 FOR SHARE),
	free AS MATERIALIZED (SELECT NOT EXISTS(SELECT FROM hold, jsonb_each(hold.holders) AS e WHERE hold.alone AND e.value::bigint > ` + now + `) AS ok FROM how),
	docs AS MATERIALIZED (SELECT * FROM unnest($22::text[], $23::text[], $24::bytea[]) AS d(folder, name, data)),
	u AS (UPDATE $S.folders AS f SET rev=rev+1, trail=CASE WHEN cardinality($11::int[])=0 THEN ` + kept + ` END||` + next(`$5`) + `,
			seq=$7::bigint, turns=$8::int, counts=$9::int[], sizes=$10::bigint[], key=coalesce(nullif($6::text, ''), f.key), written=clock_timestamp(),
			times=ARRAY(SELECT CASE WHEN (x.n, x.size)=(x.had, x.was) AND x.i-1<>ALL($11::int[]) THEN x.time ELSE clock_timestamp() END FROM unnest($9::int[], f.counts, $10::bigint[], f.sizes, f.times) WITH ORDINALITY AS x(n, had, size, was, time, i)),
			removed=CASE WHEN EXISTS(SELECT FROM docs WHERE docs.folder=f.folder AND data IS NULL) THEN f.rev+1 ELSE f.removed END
		WHERE f.tenant=$1::bigint AND f.folder=$3::text AND $4::bigint>0 AND f.trail[cardinality(f.trail)]=$4::bigint AND (SELECT ok FROM free) RETURNING folder, rev),
	i AS (INSERT INTO $S.folders(tenant, folder, rev, trail, seq, turns, counts, sizes, times, key)
		SELECT $1::bigint, $3::text, 1, ARRAY[$5::bigint], $7::bigint, $8::int, $9::int[], $10::bigint[], array_fill(clock_timestamp(), ARRAY[4]), nullif($6::text, '')
		FROM free WHERE ok AND $4::bigint=0 ON CONFLICT DO NOTHING RETURNING folder, rev),
	main AS (SELECT folder, rev FROM u UNION ALL SELECT folder, rev FROM i),
	go AS MATERIALIZED (SELECT free.ok AND ($4::bigint<0 OR EXISTS(SELECT FROM main)) AS ok FROM free),
	o AS (INSERT INTO $S.folders AS f(tenant, folder, rev, trail)
		SELECT $1::bigint, docs.folder, 1, ARRAY[$5::bigint] FROM docs, go WHERE go.ok AND ($4::bigint<0 OR docs.folder<>$3::text) GROUP BY docs.folder ORDER BY docs.folder
		ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, trail=` + grown(`$5`) + `, written=excluded.written,
			removed=CASE WHEN EXISTS(SELECT FROM docs WHERE docs.folder=f.folder AND data IS NULL) THEN f.rev+1 ELSE f.removed END RETURNING folder, rev),
	w AS (SELECT folder, rev FROM main UNION ALL SELECT folder, rev FROM o),
	r AS (INSERT INTO $S.log(tenant, session, seq, turn, log, n, kind, id, time, zone, body)
		SELECT $1::bigint, $3::text, x.seq, x.turn, x.log, x.n, x.kind, x.id, x.time, x.zone, nullif(x.body, '')::json
		FROM main, unnest($13::bigint[], $14::int[], $15::int[], $16::int[], $17::text[], $18::text[], $19::bigint[], $20::int[], $21::text[]) AS x(seq, turn, log, n, kind, id, time, zone, body)),
	z AS (DELETE FROM $S.log AS l USING main WHERE l.tenant=$1::bigint AND l.session=$3::text AND l.log=ANY($11::int[]) AND l.seq<=$12::bigint),
	d AS (INSERT INTO $S.documents(tenant, folder, name, rev, mark, data, written) SELECT $1::bigint, docs.folder, docs.name, w.rev, $5::bigint, docs.data, clock_timestamp() FROM docs JOIN w USING(folder) WHERE docs.data IS NOT NULL
		ON CONFLICT(tenant, folder, name) DO UPDATE SET rev=excluded.rev, mark=excluded.mark, data=excluded.data, written=excluded.written),
	g AS (DELETE FROM $S.documents AS d USING docs, w WHERE docs.data IS NULL AND d.tenant=$1::bigint AND d.folder=docs.folder AND w.folder=docs.folder AND (d.name=docs.name OR d.name>=docs.name||'/' AND d.name<docs.name||'0')
		AND NOT EXISTS(SELECT FROM docs AS p WHERE p.data IS NOT NULL AND p.folder=d.folder AND p.name=d.name)),
	b AS (INSERT INTO $S.blobs AS b(tenant, hash, data, size, written) SELECT $1::bigint, x.hash, x.data, length(x.data), clock_timestamp() FROM go, unnest($25::text[], $26::bytea[]) AS x(hash, data) WHERE go.ok ORDER BY x.hash
		ON CONFLICT(tenant, hash) DO UPDATE SET data=excluded.data, size=excluded.size, written=excluded.written WHERE b.size<>excluded.size),
	ended AS (UPDATE $S.holds SET holders='{}' FROM go WHERE go.ok AND tenant=$1::bigint AND name='` + store.BlobsLock + `' AND cardinality($25::text[])>0 AND alone AND holders<>'{}')
	SELECT free.ok, go.ok FROM free, go`, answer: []string{"boolean", "boolean"}}

// stands waits until a folder is as durable as a synchronous commit. Its own commit waits for all
// earlier ones. It reports whether the folder has the mark, and whether the mark is its newest.
var stands = statement{name: "wait for", text: `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	f AS (UPDATE $S.folders SET written=written FROM how WHERE tenant=$1::bigint AND folder=$2::text RETURNING trail)
	SELECT coalesce(bool_or($3::bigint=ANY(trail)), false), coalesce(bool_or(trail[cardinality(trail)]=$3::bigint), false) FROM f`}

// get reads a document, a blob ($4) or the row of neither.
var get = statement{name: "read", text: `SELECT data, rev, written, mark FROM $S.documents WHERE tenant=$1::bigint AND folder=$2::text AND name=$3::text AND $4::text=''
	UNION ALL SELECT data, 0, written, 0 FROM $S.blobs WHERE tenant=$1::bigint AND hash=$4::text`}

// list describes a path ($2) that is a name ($4) in a folder ($3), the log $5 of it or a blob ($6),
// and what is below it: the documents whose names begin with $7 and end before $8.
var list = statement{name: "list", text: `WITH x AS (
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
var journals = statement{name: "list", text: `SELECT folder, sizes[1], times[1] FROM $S.folders WHERE tenant=$1::bigint AND counts[1]>0 AND (folder='project' OR folder>='sessions/' AND folder<'sessions0')`}

// remove removes folders ($2) with all below and blobs ($3), the blobs only if no holder other than
// $4 has the lock of blobs. It removes nothing while somebody writes in one of the folders: what
// this write adds it would not see.
var remove = statement{name: "remove", text: `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	p AS MATERIALIZED (SELECT at FROM unnest($2::text[]) AS p(at), how),
	seen AS MATERIALIZED (SELECT DISTINCT f.folder, f.rev FROM $S.folders AS f JOIN p ON f.folder=p.at OR f.folder>=p.at||'/' AND f.folder<p.at||'0' WHERE f.tenant=$1::bigint),
	now AS MATERIALIZED (SELECT f.folder, f.rev FROM $S.folders AS f WHERE f.tenant=$1::bigint AND f.folder IN (SELECT folder FROM seen) ORDER BY f.folder FOR UPDATE),
	still AS MATERIALIZED (SELECT NOT EXISTS(SELECT folder, rev FROM seen EXCEPT SELECT folder, rev FROM now) AS ok),
	mine AS MATERIALIZED (SELECT FROM $S.holds WHERE tenant=$1::bigint AND name='` + store.BlobsLock + `' AND cardinality($3::text[])>0 AND cardinality($4::text[])>0 AND holders ?| $4::text[] FOR SHARE),
	held AS MATERIALIZED (SELECT cardinality($3::text[])=0 OR cardinality($4::text[])=0 OR EXISTS(SELECT FROM mine) AS ok),
	go AS (SELECT FROM still, held WHERE still.ok AND held.ok),
	d AS (DELETE FROM $S.documents AS d USING seen, go WHERE d.tenant=$1::bigint AND d.folder=seen.folder RETURNING 1),
	l AS (DELETE FROM $S.log AS l USING seen, go WHERE l.tenant=$1::bigint AND l.session=seen.folder),
	f AS (DELETE FROM $S.folders AS f USING seen, go WHERE f.tenant=$1::bigint AND f.folder=seen.folder RETURNING 1),
	b AS (DELETE FROM $S.blobs AS b USING go WHERE b.tenant=$1::bigint AND (b.hash=ANY($3::text[]) OR EXISTS(SELECT FROM p WHERE p.at='blobs' OR p.at='blobs/'||left(b.hash, 2))) RETURNING 1)
	SELECT still.ok, held.ok, (SELECT count(*) FROM d)+(SELECT count(*) FROM f)+(SELECT count(*) FROM b) FROM still, held`}

// move renames a folder ($2 to $3) that has the newest mark $4. The mark $5 is of the new name.
var move = statement{name: "move", text: `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	x AS MATERIALIZED (SELECT f.folder FROM $S.folders AS f, how WHERE f.tenant=$1::bigint AND f.folder=$2::text AND f.trail[cardinality(f.trail)]=$4::bigint
		AND NOT EXISTS(SELECT FROM $S.folders WHERE tenant=$1::bigint AND folder=$3::text) FOR UPDATE OF f),
	f AS (UPDATE $S.folders AS f SET folder=$3::text, trail=` + kept + `||$5::bigint FROM x WHERE f.tenant=$1::bigint AND f.folder=x.folder RETURNING 1),
	d AS (UPDATE $S.documents AS d SET folder=$3::text FROM x WHERE d.tenant=$1::bigint AND d.folder=x.folder),
	l AS (UPDATE $S.log AS l SET session=$3::text FROM x WHERE l.tenant=$1::bigint AND l.session=x.folder)
	SELECT EXISTS(SELECT FROM f) OR coalesce((SELECT $5::bigint=ANY(trail) FROM $S.folders WHERE tenant=$1::bigint AND folder=$3::text), false),
		EXISTS(SELECT FROM $S.folders WHERE tenant=$1::bigint AND folder=$2::text), EXISTS(SELECT FROM $S.folders WHERE tenant=$1::bigint AND folder=$3::text)`}

// take gives a hold ($2) to a holder ($3) alone or shared ($4), for a time ($5), unless another
// holder has it whose lease has not ended and with whom it can't be shared.
var take = statement{name: "take", text: `WITH t AS (INSERT INTO $S.holds AS h(tenant, name, alone, holders) VALUES($1::bigint, $2::text, $4::boolean, jsonb_build_object($3::text, ` + now + `+$5::bigint))
		ON CONFLICT(tenant, name) DO UPDATE SET alone=excluded.alone, holders=excluded.holders || coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(h.holders) WHERE value::bigint > ` + now + ` AND key<>$3::text), '{}')
		WHERE NOT (h.alone OR excluded.alone) OR NOT EXISTS(SELECT FROM jsonb_each(h.holders) WHERE value::bigint > ` + now + ` AND key<>$3::text) RETURNING 1)
	SELECT EXISTS(SELECT FROM t), coalesce((SELECT min(key) FROM $S.holds AS h, jsonb_each(h.holders) AS e WHERE h.tenant=$1::bigint AND h.name=$2::text), '')`}

// renew extends the lease of a holder ($3) by a time ($4), if it still has its hold ($2).
var renew = statement{name: "renew", text: `WITH r AS (UPDATE $S.holds SET holders=holders || jsonb_build_object($3::text, ` + now + `+$4::bigint) WHERE tenant=$1::bigint AND name=$2::text AND holders ? $3::text RETURNING 1)
	SELECT EXISTS(SELECT FROM r)`}

// release takes a hold ($2) from its holder ($3).
var release = statement{name: "release", text: `UPDATE $S.holds SET holders=holders-$3::text WHERE tenant=$1::bigint AND name=$2::text AND holders ? $3::text`}

// writeFile replaces a file ($3) of the workspace ($2) by data ($5), or appends them ($6), if the
// file has the mark $4, or does not exist for 0. The new mark is $7. Only the process that moves
// files ($11) writes during a move. A file is made only where no other is in its way ($8), and if
// no file was removed since the rev $9 of the mark $10: a statement that arrives late may find its
// own file removed. The answer has the newest mark from before the write.
var writeFile = statement{name: "write", text: `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	cur AS MATERIALIZED (SELECT d.mark, d.rev, length(d.data)::bigint AS size, d.written FROM $S.documents AS d, how WHERE d.tenant=$1::bigint AND d.folder=$2::text AND d.name=$3::text FOR UPDATE OF d),
	other AS MATERIALIZED (SELECT name FROM $S.documents WHERE $4::bigint=0 AND tenant=$1::bigint AND folder=$2::text AND (name=ANY($8::text[]) OR name>=$3::text||'/' AND name<$3::text||'0') LIMIT 1),
	f AS (INSERT INTO $S.folders AS f(tenant, folder, rev, trail)
		SELECT $1::bigint, $2::text, 1, ARRAY[$7::bigint] FROM how WHERE coalesce((SELECT mark FROM cur), 0)=$4::bigint AND NOT EXISTS(SELECT FROM other)
		ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, trail=` + grown(`$7`) + `, written=greatest(clock_timestamp(), f.written+interval '1 microsecond')
		WHERE (f.moving='' OR $11::boolean) AND ($4::bigint<>0 OR f.removed<=$9::bigint AND $10::bigint=ANY(f.trail)) RETURNING rev, written, trail[cardinality(trail)-1] AS before),
	i AS (INSERT INTO $S.documents(tenant, folder, name, rev, mark, data, written) SELECT $1::bigint, $2::text, $3::text, f.rev, $7::bigint, $5::bytea, f.written FROM f WHERE $4::bigint=0
		ON CONFLICT DO NOTHING RETURNING mark, rev, length(data)::bigint AS size, written),
	u AS (UPDATE $S.documents AS d SET rev=f.rev, mark=$7::bigint, data=CASE WHEN $6::boolean THEN d.data||$5::bytea ELSE $5::bytea END, written=f.written FROM f
		WHERE d.tenant=$1::bigint AND d.folder=$2::text AND d.name=$3::text AND d.mark=$4::bigint AND $4::bigint<>0 RETURNING d.mark, d.rev, length(d.data)::bigint AS size, d.written),
	done AS (SELECT * FROM i UNION ALL SELECT * FROM u UNION ALL SELECT * FROM cur WHERE mark=$7::bigint)
	SELECT coalesce((SELECT name FROM other), ''), coalesce(done.rev, 0), coalesce(done.size, 0), coalesce(done.written, 'epoch'), coalesce((SELECT before FROM f), 0) FROM how LEFT JOIN done ON true`}

// removeFile removes a file ($3) of the workspace ($2) that has the mark $4. $5 is the new mark of
// the workspace, and $6 says whether this process moves files.
var removeFile = statement{name: "remove", text: `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	cur AS MATERIALIZED (SELECT d.mark FROM $S.documents AS d, how WHERE d.tenant=$1::bigint AND d.folder=$2::text AND d.name=$3::text FOR UPDATE OF d),
	f AS (UPDATE $S.folders AS f SET rev=rev+1, removed=rev+1, trail=` + grown(`$5`) + `, written=greatest(clock_timestamp(), written+interval '1 microsecond')
		WHERE tenant=$1::bigint AND folder=$2::text AND (SELECT mark FROM cur)=$4::bigint AND (moving='' OR $6::boolean) RETURNING rev),
	d AS (DELETE FROM $S.documents AS d USING f WHERE d.tenant=$1::bigint AND d.folder=$2::text AND d.name=$3::text AND d.mark=$4::bigint RETURNING 1)
	SELECT EXISTS(SELECT FROM d), EXISTS(SELECT FROM cur) FROM how`}

// moving marks the workspace ($2) as the target of a move from a place ($3), ” for none. $4 is
// the new mark.
var moving = statement{name: "mark", text: `INSERT INTO $S.folders AS f(tenant, folder, rev, trail, moving) VALUES($1::bigint, $2::text, 1, ARRAY[$4::bigint], $3::text)
	ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, trail=` + grown(`$4`) + `, moving=excluded.moving`}
