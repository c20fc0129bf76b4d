package rows

import (
	"math"

	"github.com/memkernel/memkernel/internal/store"
)

// now reads the server's clock, in microseconds since 1970.
const now = `(extract(epoch FROM clock_timestamp())*1000000)::bigint`

// grown is the trail of a folder f with the newest mark of after. It keeps 16 marks.
func grown(mark string) string {
	return `f.trail[greatest(cardinality(f.trail)-14, 1):]||((((f.trail[cardinality(f.trail)]<<1)&9223372036854775807)|(f.trail[cardinality(f.trail)]>>62))#` + mark + `::bigint)`
}

// after returns the newest mark of a folder after a write with a mark, where before was the newest.
// It identifies all writes up to this one. If a lost answer makes a statement reach two servers,
// both have the same mark only if they had the same writes before.
func after(before, mark int64) int64 { return (before<<1&math.MaxInt64 | before>>62) ^ mark }

// news reads a folder in one moment: its row, the documents that were written since a rev ($5), and
// the records after a number ($6). If the known mark ($3) is no longer in the trail, or the epoch
// ($4) is another, it reads all. $7 are the logs to read, and $8 says whether to read documents. It
// also reads small contents that were written since.
var news = statement{"read", `WITH f AS MATERIALIZED (SELECT *, $3::bigint=ANY(trail) AND epoch=$4::bigint AS same FROM $S.folders WHERE tenant=$1::bigint AND folder=$2::text)
	SELECT 0, moving, ARRAY[rev, epoch, seq, turns, CASE WHEN same THEN 1 ELSE 0 END, CASE WHEN same AND removed<=$5::bigint THEN 1 ELSE 0 END]::bigint[], trail, counts, '', '', '', NULL::bytea, '', written FROM f
	UNION ALL
	SELECT 1, d.name, ARRAY[d.rev, length(d.data), d.mark]::bigint[], NULL, NULL, '', '', '', CASE WHEN length(d.data) <= 32768 AND (NOT f.same OR d.rev > $5::bigint) THEN d.data END, '', d.written
	FROM f JOIN $S.documents AS d ON d.tenant=$1::bigint AND d.folder=f.folder AND $8::boolean WHERE NOT f.same OR f.removed > $5::bigint OR d.rev > $5::bigint
	UNION ALL
	SELECT 2, l.log, ARRAY[l.seq, l.turn, l.n, l.size]::bigint[], NULL, NULL, l.kind, l.id, l.time, NULL, l.body::text, l.written
	FROM f JOIN $S.log AS l ON l.tenant=$1::bigint AND l.session=f.folder AND l.log=ANY($7::text[]) AND l.seq > CASE WHEN f.same THEN $6::bigint ELSE 0 END`}

// commit writes everything of a unit, if the folder ($3) still has the newest mark $4, or does not
// exist for 0. Without a folder (-1) it only writes documents and blobs. The write's mark is $5.
// Records: $6 to $15, $27 and $28; the logs $16 lose their records up to $17. Documents: put $18 to
// $21, and with $22 only where the length differs; removed $23 and $24, with everything below.
// Blobs: $25 and $26. It writes no blob while any process removes blobs, this process included. A
// remover whose lease of that lock has ended loses the lock, because its list of needed blobs is
// too old.
var commit = statement{"write", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', $2::text, true)),
	hold AS MATERIALIZED (SELECT alone, holders FROM $S.holds WHERE tenant=$1::bigint AND name='` + store.BlobsLock + `' AND cardinality($25::text[])>0 FOR SHARE),
	free AS MATERIALIZED (SELECT NOT EXISTS(SELECT FROM hold, jsonb_each(hold.holders) AS e WHERE hold.alone AND e.value::bigint > ` + now + `) AS ok FROM how),
	puts AS MATERIALIZED (SELECT * FROM unnest($18::text[], $19::text[], $20::text[], $21::bytea[]) AS p(folder, name, key, data)),
	gone AS MATERIALIZED (SELECT * FROM unnest($23::text[], $24::text[]) AS g(folder, name)),
	u AS (UPDATE $S.folders AS f SET rev=rev+1, trail=` + grown(`$5`) + `, seq=$6::bigint, turns=$7::int, counts=$8::int[], epoch=f.epoch+least(cardinality($16::text[]), 1),
			removed=CASE WHEN EXISTS(SELECT FROM gone WHERE gone.folder=f.folder) THEN f.rev+1 ELSE f.removed END, key=coalesce((SELECT max(key) FROM puts WHERE puts.folder=f.folder AND key<>''), f.key),
			bytes=f.bytes+$9::bigint-coalesce((SELECT sum(size) FROM $S.log AS l WHERE l.tenant=$1::bigint AND l.session=f.folder AND l.log=ANY($16::text[]) AND l.seq<=$17::bigint), 0), written=clock_timestamp()
		WHERE f.tenant=$1::bigint AND f.folder=$3::text AND $4::bigint>0 AND f.trail[cardinality(f.trail)]=$4::bigint AND (SELECT ok FROM free) RETURNING folder, rev),
	i AS (INSERT INTO $S.folders(tenant, folder, rev, trail, epoch, removed, seq, turns, counts, key, bytes, written)
		SELECT $1::bigint, $3::text, 1, ARRAY[$5::bigint], 0, 0, $6::bigint, $7::int, $8::int[], (SELECT max(key) FROM puts WHERE puts.folder=$3::text AND key<>''), $9::bigint, clock_timestamp()
		FROM free WHERE ok AND $4::bigint=0 ON CONFLICT DO NOTHING RETURNING folder, rev),
	main AS (SELECT folder, rev FROM u UNION ALL SELECT folder, rev FROM i),
	go AS MATERIALIZED (SELECT free.ok AND ($4::bigint<0 OR EXISTS(SELECT FROM main)) AS ok FROM free),
	o AS (INSERT INTO $S.folders AS f(tenant, folder, rev, trail, epoch, removed, seq, turns, counts, key, bytes, written)
		SELECT $1::bigint, x.folder, 1, ARRAY[$5::bigint], 0, 0, 0, 0, '{0,0,0,0}', nullif(max(x.key), ''), 0, clock_timestamp()
		FROM (SELECT folder, key FROM puts UNION ALL SELECT folder, '' FROM gone) AS x, go WHERE go.ok AND ($4::bigint<0 OR x.folder<>$3::text) GROUP BY x.folder ORDER BY x.folder
		ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, trail=` + grown(`$5`) + `, key=coalesce(excluded.key, f.key), written=excluded.written,
			removed=CASE WHEN EXISTS(SELECT FROM gone WHERE gone.folder=f.folder) THEN f.rev+1 ELSE f.removed END RETURNING folder, rev),
	w AS (SELECT folder, rev FROM main UNION ALL SELECT folder, rev FROM o),
	r AS (INSERT INTO $S.log(tenant, session, seq, turn, log, n, kind, id, time, size, written, body)
		SELECT $1::bigint, $3::text, x.seq, x.turn, x.log, x.n, x.kind, x.id, x.time, octet_length(x.body), clock_timestamp(), nullif(x.body, '')::json
		FROM main, unnest($10::bigint[], $11::int[], $12::text[], $13::int[], $14::text[], $15::text[], $27::text[], $28::text[]) AS x(seq, turn, log, n, kind, id, time, body)),
	z AS (DELETE FROM $S.log AS l USING main WHERE l.tenant=$1::bigint AND l.session=$3::text AND l.log=ANY($16::text[]) AND l.seq<=$17::bigint),
	d AS (INSERT INTO $S.documents AS d(tenant, folder, name, rev, mark, data, written) SELECT $1::bigint, p.folder, p.name, w.rev, $5::bigint, p.data, clock_timestamp() FROM puts AS p JOIN w USING(folder)
		ON CONFLICT(tenant, folder, name) DO UPDATE SET rev=excluded.rev, mark=excluded.mark, data=excluded.data, written=excluded.written WHERE NOT ($22::boolean AND length(d.data)=length(excluded.data))),
	g AS (DELETE FROM $S.documents AS d USING gone, w WHERE d.tenant=$1::bigint AND d.folder=gone.folder AND w.folder=gone.folder AND (d.name=gone.name OR d.name>=gone.name||'/' AND d.name<gone.name||'0')
		AND NOT EXISTS(SELECT FROM puts WHERE puts.folder=d.folder AND puts.name=d.name)),
	b AS (INSERT INTO $S.blobs AS b(tenant, hash, data, size, written) SELECT $1::bigint, x.hash, x.data, length(x.data), clock_timestamp() FROM go, unnest($25::text[], $26::bytea[]) AS x(hash, data) WHERE go.ok ORDER BY x.hash
		ON CONFLICT(tenant, hash) DO UPDATE SET data=excluded.data, size=excluded.size, written=excluded.written WHERE b.size<>excluded.size),
	ended AS (UPDATE $S.holds SET holders='{}' FROM go WHERE go.ok AND tenant=$1::bigint AND name='` + store.BlobsLock + `' AND cardinality($25::text[])>0 AND alone AND holders<>'{}')
	SELECT free.ok, go.ok FROM free, go`}

// stands waits until a folder is as durable as a synchronous commit. Its own commit waits for all
// earlier ones. It reports whether the folder has the mark, and whether the mark is its newest.
var stands = statement{"wait for", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	f AS (UPDATE $S.folders SET written=written FROM how WHERE tenant=$1::bigint AND folder=$2::text RETURNING trail)
	SELECT coalesce(bool_or($3::bigint=ANY(trail)), false), coalesce(bool_or(trail[cardinality(trail)]=$3::bigint), false) FROM f`}

// get reads a document, a blob ($4) or the row of neither.
var get = statement{"read", `SELECT data, rev, written, mark FROM $S.documents WHERE tenant=$1::bigint AND folder=$2::text AND name=$3::text AND $4::text=''
	UNION ALL SELECT data, 0, written, 0 FROM $S.blobs WHERE tenant=$1::bigint AND hash=$4::text`}

// stat describes a path ($2) in a folder ($3) with a name ($4), a log ($5) or a blob ($6).
var stat = statement{"stat", `SELECT false, length(data)::bigint, written FROM $S.documents WHERE tenant=$1::bigint AND folder=$3::text AND name=$4::text
	UNION ALL SELECT false, coalesce(sum(size), 0)::bigint, max(written) FROM $S.log WHERE tenant=$1::bigint AND session=$3::text AND log=$5::text HAVING count(*) > 0
	UNION ALL SELECT false, size, written FROM $S.blobs WHERE tenant=$1::bigint AND hash=$6::text
	UNION ALL SELECT true, 0, 'epoch' WHERE $2::text='' OR EXISTS(SELECT FROM $S.folders WHERE tenant=$1::bigint AND (folder=$2::text OR folder>=$2::text||'/' AND folder<$2::text||'0'))
		OR EXISTS(SELECT FROM $S.documents WHERE tenant=$1::bigint AND folder=$3::text AND name>=$4::text||'/' AND name<$4::text||'0')
		OR $2::text LIKE 'blobs%' AND EXISTS(SELECT FROM $S.blobs WHERE tenant=$1::bigint AND ($2::text='blobs' OR 'blobs/'||left(hash, 2)=$2::text))`}

// list lists a path ($2) in a folder ($3), whose names begin with $4 and end before $5.
var list = statement{"list", `WITH x AS (
		SELECT substr(name, length($4::text)+1) AS path, length(data)::bigint AS size, written FROM $S.documents WHERE tenant=$1::bigint AND folder=$3::text AND name>=$4::text AND name<$5::text
		UNION ALL SELECT log||'.jsonl', sum(size)::bigint, max(written) FROM $S.log WHERE tenant=$1::bigint AND session=$3::text AND $2::text=$3::text GROUP BY log
		UNION ALL SELECT CASE $2::text WHEN '' THEN folder ELSE substr(folder, length($2::text)+2) END||'/', 0, written FROM $S.folders
			WHERE tenant=$1::bigint AND folder<>'' AND folder NOT LIKE '/%' AND ($2::text='' OR folder>=$2::text||'/' AND folder<$2::text||'0')
		UNION ALL SELECT DISTINCT 'blobs/', 0, 'epoch'::timestamptz FROM $S.blobs WHERE tenant=$1::bigint AND $2::text=''
		UNION ALL SELECT DISTINCT left(hash, 2)||'/', 0, 'epoch'::timestamptz FROM $S.blobs WHERE tenant=$1::bigint AND $2::text='blobs'
		UNION ALL SELECT hash, size, written FROM $S.blobs WHERE tenant=$1::bigint AND $2::text LIKE 'blobs/__' AND hash>=right($2::text, 2) AND hash<right($2::text, 2)||'g')
	SELECT split_part(path, '/', 1), bool_or(strpos(path, '/')>0), max(size), max(written) FROM x GROUP BY 1`}

// remove removes paths ($2) with everything below: documents of folders ($3) with names ($4),
// folders, and blobs ($5), the blobs only if no holder other than $7 has the lock of blobs. The
// mark $6 tells other processes.
var remove = statement{"remove", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	p AS MATERIALIZED (SELECT * FROM unnest($2::text[], $3::text[], $4::text[]) AS p(at, folder, name), how),
	mine AS MATERIALIZED (SELECT FROM $S.holds WHERE tenant=$1::bigint AND name='` + store.BlobsLock + `' AND cardinality($5::text[])>0 AND cardinality($7::text[])>0 AND holders ?| $7::text[] FOR SHARE),
	go AS MATERIALIZED (SELECT cardinality($5::text[])=0 OR cardinality($7::text[])=0 OR EXISTS(SELECT FROM mine) AS ok),
	t AS (UPDATE $S.folders AS f SET rev=rev+1, removed=rev+1, trail=` + grown(`$6`) + `, written=clock_timestamp()
		WHERE tenant=$1::bigint AND folder IN (SELECT p.folder FROM p JOIN $S.documents AS d ON d.tenant=$1::bigint AND d.folder=p.folder AND (d.name=p.name OR d.name>=p.name||'/' AND d.name<p.name||'0')) AND (SELECT ok FROM go)),
	d AS (DELETE FROM $S.documents AS d USING p, go WHERE go.ok AND d.tenant=$1::bigint AND (d.folder=p.folder AND (d.name=p.name OR d.name>=p.name||'/' AND d.name<p.name||'0') OR d.folder=p.at AND p.name='' OR d.folder>=p.at||'/' AND d.folder<p.at||'0') RETURNING 1),
	l AS (DELETE FROM $S.log AS l USING p, go WHERE go.ok AND l.tenant=$1::bigint AND (l.session=p.at AND p.name='' OR l.session>=p.at||'/' AND l.session<p.at||'0')),
	f AS (DELETE FROM $S.folders AS f USING p, go WHERE go.ok AND f.tenant=$1::bigint AND (f.folder=p.at AND p.name='' OR f.folder>=p.at||'/' AND f.folder<p.at||'0') RETURNING 1),
	b AS (DELETE FROM $S.blobs AS b USING go WHERE go.ok AND b.tenant=$1::bigint AND (b.hash=ANY($5::text[]) OR EXISTS(SELECT FROM p WHERE p.at='blobs' OR p.at='blobs/'||left(b.hash, 2))) RETURNING 1)
	SELECT go.ok, (SELECT count(*) FROM d)+(SELECT count(*) FROM f)+(SELECT count(*) FROM b) FROM go`}

// move renames a document and everything below it, from a folder and name ($2, $3) to another ($4,
// $5). It replaces an existing document of that name. The mark $6 tells other processes.
var move = statement{"move", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	x AS MATERIALIZED (SELECT d.name, $5::text||substr(d.name, length($3::text)+1) AS now FROM $S.documents AS d, how
		WHERE d.tenant=$1::bigint AND d.folder=$2::text AND (d.name=$3::text OR d.name>=$3::text||'/' AND d.name<$3::text||'0') FOR UPDATE OF d),
	t AS (INSERT INTO $S.folders AS f(tenant, folder, rev, trail, epoch, removed, seq, turns, counts, bytes, written)
		SELECT $1::bigint, y.folder, 1, ARRAY[$6::bigint], 0, 0, 0, 0, '{0,0,0,0}', 0, clock_timestamp() FROM (SELECT $2::text AS folder UNION SELECT $4::text) AS y WHERE EXISTS(SELECT FROM x) ORDER BY y.folder
		ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, removed=f.rev+1, trail=` + grown(`$6`) + `, written=excluded.written RETURNING folder, rev),
	over AS (DELETE FROM $S.documents AS d USING x WHERE d.tenant=$1::bigint AND d.folder=$4::text AND d.name=x.now RETURNING 1),
	m AS (UPDATE $S.documents AS d SET folder=$4::text, name=x.now, mark=$6::bigint, rev=(SELECT rev FROM t WHERE t.folder=$4::text) FROM x
		WHERE d.tenant=$1::bigint AND d.folder=$2::text AND d.name=x.name AND (SELECT count(*) FROM over) >= 0 RETURNING 1)
	SELECT (SELECT count(*) FROM m), EXISTS(SELECT FROM $S.documents WHERE tenant=$1::bigint AND folder=$4::text AND name=$5::text AND mark=$6::bigint)`}

// moveFolder renames a folder ($2 to $3) that has the newest mark $4, or any for 0.
var moveFolder = statement{"move", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	x AS MATERIALIZED (SELECT f.folder FROM $S.folders AS f, how WHERE f.tenant=$1::bigint AND f.folder=$2::text AND ($4::bigint=0 OR f.trail[cardinality(f.trail)]=$4::bigint)
		AND NOT EXISTS(SELECT FROM $S.folders WHERE tenant=$1::bigint AND folder=$3::text) FOR UPDATE OF f),
	f AS (UPDATE $S.folders AS f SET folder=$3::text, trail=f.trail[greatest(cardinality(f.trail)-14, 1):]||$5::bigint FROM x WHERE f.tenant=$1::bigint AND f.folder=x.folder RETURNING 1),
	d AS (UPDATE $S.documents AS d SET folder=$3::text FROM x WHERE d.tenant=$1::bigint AND d.folder=x.folder),
	l AS (UPDATE $S.log AS l SET session=$3::text FROM x WHERE l.tenant=$1::bigint AND l.session=x.folder)
	SELECT EXISTS(SELECT FROM f) OR coalesce((SELECT $5::bigint=ANY(trail) FROM $S.folders WHERE tenant=$1::bigint AND folder=$3::text), false),
		EXISTS(SELECT FROM $S.folders WHERE tenant=$1::bigint AND folder=$2::text), EXISTS(SELECT FROM $S.folders WHERE tenant=$1::bigint AND folder=$3::text)`}

// take gives a hold ($2) to a holder ($3) alone or shared ($4), for a time ($5), unless another
// holder has it whose lease has not ended and with whom it can't be shared.
var take = statement{"take", `WITH t AS (INSERT INTO $S.holds AS h(tenant, name, alone, holders) VALUES($1::bigint, $2::text, $4::boolean, jsonb_build_object($3::text, ` + now + `+$5::bigint))
		ON CONFLICT(tenant, name) DO UPDATE SET alone=excluded.alone, holders=excluded.holders || coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(h.holders) WHERE value::bigint > ` + now + ` AND key<>$3::text), '{}')
		WHERE NOT (h.alone OR excluded.alone) OR NOT EXISTS(SELECT FROM jsonb_each(h.holders) WHERE value::bigint > ` + now + ` AND key<>$3::text) RETURNING 1)
	SELECT EXISTS(SELECT FROM t), coalesce((SELECT min(key) FROM $S.holds AS h, jsonb_each(h.holders) AS e WHERE h.tenant=$1::bigint AND h.name=$2::text), '')`}

// renew extends the lease of a holder ($3) by a time ($4), if it still has its hold ($2).
var renew = statement{"renew", `WITH r AS (UPDATE $S.holds SET holders=holders || jsonb_build_object($3::text, ` + now + `+$4::bigint) WHERE tenant=$1::bigint AND name=$2::text AND holders ? $3::text RETURNING 1)
	SELECT EXISTS(SELECT FROM r)`}

// release takes a hold ($2) from its holder ($3).
var release = statement{"release", `UPDATE $S.holds SET holders=holders-$3::text WHERE tenant=$1::bigint AND name=$2::text AND holders ? $3::text`}

// writeFile replaces a file ($3) of the workspace ($2) by data ($5), or appends them ($6), if the
// file has the mark $4, or does not exist for 0. The new mark is $7. Only the process that moves
// files ($11) writes during a move. A file is made only where no other is in its way ($8), and if
// no file was removed since the rev $9 of the mark $10: a statement that arrives late may find its
// own file removed. The answer has the newest mark from before the write.
var writeFile = statement{"write", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	cur AS MATERIALIZED (SELECT d.mark, d.rev, length(d.data)::bigint AS size, d.written FROM $S.documents AS d, how WHERE d.tenant=$1::bigint AND d.folder=$2::text AND d.name=$3::text FOR UPDATE OF d),
	other AS MATERIALIZED (SELECT name FROM $S.documents WHERE $4::bigint=0 AND tenant=$1::bigint AND folder=$2::text AND (name=ANY($8::text[]) OR name>=$3::text||'/' AND name<$3::text||'0') LIMIT 1),
	f AS (INSERT INTO $S.folders AS f(tenant, folder, rev, trail, epoch, removed, seq, turns, counts, bytes, written)
		SELECT $1::bigint, $2::text, 1, ARRAY[$7::bigint], 0, 0, 0, 0, '{0,0,0,0}', 0, clock_timestamp() FROM how WHERE coalesce((SELECT mark FROM cur), 0)=$4::bigint AND NOT EXISTS(SELECT FROM other)
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
var removeFile = statement{"remove", `WITH how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true)),
	cur AS MATERIALIZED (SELECT d.mark FROM $S.documents AS d, how WHERE d.tenant=$1::bigint AND d.folder=$2::text AND d.name=$3::text FOR UPDATE OF d),
	f AS (UPDATE $S.folders AS f SET rev=rev+1, removed=rev+1, trail=` + grown(`$5`) + `, written=greatest(clock_timestamp(), written+interval '1 microsecond')
		WHERE tenant=$1::bigint AND folder=$2::text AND (SELECT mark FROM cur)=$4::bigint AND (moving='' OR $6::boolean) RETURNING rev),
	d AS (DELETE FROM $S.documents AS d USING f WHERE d.tenant=$1::bigint AND d.folder=$2::text AND d.name=$3::text AND d.mark=$4::bigint RETURNING 1)
	SELECT EXISTS(SELECT FROM d), EXISTS(SELECT FROM cur) FROM how`}

// moving marks the workspace ($2) as the target of a move from a place ($3), ” for none. $4 is
// the new mark.
var moving = statement{"mark", `INSERT INTO $S.folders AS f(tenant, folder, rev, trail, epoch, removed, seq, turns, counts, moving, bytes, written)
	VALUES($1::bigint, $2::text, 1, ARRAY[$4::bigint], 0, 0, 0, 0, '{0,0,0,0}', $3::text, 0, clock_timestamp())
	ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, trail=` + grown(`$4`) + `, moving=excluded.moving`}
