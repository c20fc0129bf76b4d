-- Folders tell the sizes and times of their logs, and records are smaller.
DROP VIEW records;
ALTER TABLE folders RENAME TO folders_1;
ALTER TABLE log RENAME TO log_1;
ALTER INDEX folders_pkey RENAME TO folders_1_pkey;
ALTER INDEX log_pkey RENAME TO log_1_pkey;

-- A folder is what a unit of work writes in: a session (sessions/x), the project, or '' for
-- whatever belongs to neither. /workspace is the workspace's Markdown.
CREATE TABLE folders(
	tenant bigint NOT NULL,
	folder text COLLATE "C" NOT NULL,
	rev bigint NOT NULL,                  -- counts the writes
	trail bigint[] NOT NULL,              -- the random marks of the newest writes, newest last
	removed bigint NOT NULL DEFAULT 0,    -- the rev that removed a document last
	seq bigint NOT NULL DEFAULT 0,        -- of the newest record
	turns int NOT NULL DEFAULT 0,         -- committed so far
	counts int[] NOT NULL DEFAULT '{0,0,0,0}', -- records of journal, projection, usage and ended
	sizes bigint[] NOT NULL DEFAULT '{0,0,0,0}', -- of their bodies in bytes
	times timestamptz[] NOT NULL DEFAULT '{epoch,epoch,epoch,epoch}', -- when they were written last
	key text,                             -- of a session
	moving text NOT NULL DEFAULT '',      -- where a move of files into a workspace comes from
	written timestamptz NOT NULL DEFAULT clock_timestamp(),
	PRIMARY KEY(tenant, folder)
) WITH (fillfactor = 70);
-- The records of a folder's logs, in the order in which they were written.
CREATE TABLE log(
	tenant bigint NOT NULL,
	seq bigint NOT NULL,
	turn int NOT NULL,                    -- the turns that were committed before
	n int NOT NULL,                       -- counts the records of this log
	log smallint NOT NULL,                -- 0 journal, 1 projection, 2 usage, 3 ended
	zone smallint NOT NULL,               -- of the writer, in minutes east of UTC
	time bigint NOT NULL,                 -- by its clock, in nanoseconds since 1970, 0 if unknown
	session text COLLATE "C" NOT NULL,    -- the folder
	kind text NOT NULL,
	id text NOT NULL,
	body json,
	PRIMARY KEY(tenant, session, seq)
) WITH (toast_tuple_target = 1000); -- whole pages waste less room by then
DO $$ BEGIN
	ALTER TABLE log ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL; -- the server was built without LZ4
END $$;
-- What people read: the records, and of new pages what was said. JSON may hold characters that a
-- text of the server can't hold; they are shown as U+FFFD.
CREATE VIEW records WITH (security_invoker = true) AS
SELECT l.tenant, l.session, l.seq, l.turn, (ARRAY['journal', 'projection', 'usage', 'ended'])[l.log+1] AS log, l.kind, l.id, to_timestamp(nullif(l.time, 0)/1e9) AS time, octet_length(l.body::text) AS size,
	CASE WHEN l.kind = 'ingest' THEN (
		SELECT json_build_object('text', string_agg(coalesce(p->>'role', p->>'type', '') || ': ' ||
			coalesce(said(b.body->'content'->>(p->>'id')), nullif(p->'reps'->0->>'text', ''), '[' || (p->>'bytes') || ' bytes: blob ' || (p->>'hash') || ']'), E'\n' ORDER BY n))
		FROM json_array_elements(b.body->'pages') WITH ORDINALITY AS pages(p, n))
	ELSE b.body END AS body
FROM log AS l, LATERAL (SELECT regexp_replace(l.body::text, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g')::json AS body) AS b;

INSERT INTO log(tenant, seq, turn, n, log, zone, time, session, kind, id, body)
SELECT l.tenant, l.seq, l.turn, l.n, array_position('{journal,projection,usage,ended}'::text[], l.log)-1, coalesce(extract(epoch FROM t.here-date_trunc('second', t.at AT TIME ZONE 'UTC'))/60, 0),
	coalesce(extract(epoch FROM date_trunc('second', t.at))*1000000000+rpad(coalesce(substring(l.time FROM '\.([0-9]+)'), ''), 9, '0')::bigint, 0), l.session, l.kind, l.id, l.body
FROM log_1 AS l, LATERAL (SELECT nullif(l.time, '')::timestamptz AS at, left(nullif(l.time, ''), 19)::timestamp AS here) AS t;
INSERT INTO folders(tenant, folder, rev, trail, removed, seq, turns, counts, key, moving, written, sizes, times)
SELECT tenant, folder, rev, trail, removed, seq, turns, counts, key, moving, written, s.sizes, s.times FROM folders_1 AS f, LATERAL (
	SELECT array_agg(x.size ORDER BY i) AS sizes, array_agg(x.written ORDER BY i) AS times FROM (
		SELECT i, coalesce(sum(l.size), 0)::bigint AS size, coalesce(max(l.written), 'epoch') AS written
		FROM unnest('{journal,projection,usage,ended}'::text[]) WITH ORDINALITY AS names(name, i) LEFT JOIN log_1 AS l ON l.tenant=f.tenant AND l.session=f.folder AND l.log=name GROUP BY i) AS x) AS s;
DROP TABLE folders_1, log_1;

DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['folders', 'log'] LOOP
		EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY tenant ON %I USING (tenant=(SELECT id FROM tenants WHERE role=current_user))', t);
	END LOOP;
END $$;
