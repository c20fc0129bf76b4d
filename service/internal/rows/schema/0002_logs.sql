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

-- The trail of a folder with one mark more. The new mark identifies all writes up to its own. A
-- process that comes back after 64 writes of others reads the whole folder again.
CREATE FUNCTION grown(trail bigint[], mark bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
	SELECT trail[greatest(cardinality(trail)-62, 1):]||((((trail[cardinality(trail)]<<1)&9223372036854775807)|(trail[cardinality(trail)]>>62))#mark)
$$;

-- Writes everything of a unit, if its folder still has the newest mark _base, or does not exist for
-- 0. Without a folder (-1) it only writes blobs. The logs _replaced lose their records up to
-- _before, and the folder loses its trail. Of the documents, which may be in other folders, those
-- without content are removed first, with everything below. It writes no blob while any process
-- removes blobs, this process included: then free is false. A remover whose lease of that lock has
-- ended loses the lock, because its list of needed blobs is too old. ok is false if the folder has
-- another mark, or none of this was done.
CREATE FUNCTION write(_tenant bigint, _how text, _folder text, _base bigint, _mark bigint, _key text, _seq bigint, _turns int, _counts int[], _sizes bigint[], _replaced int[], _before bigint,
	_seqs bigint[], _turn int[], _logs int[], _ns int[], _kinds text[], _ids text[], _times bigint[], _zones int[], _bodies text[],
	_folders text[], _names text[], _data bytea[], _hashes text[], _blobs bytea[], OUT free boolean, OUT ok boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	_hold record;
	_gone text[] := ARRAY(SELECT DISTINCT d.folder FROM unnest(_folders, _data) AS d(folder, data) WHERE d.data IS NULL);
BEGIN
	PERFORM set_config('synchronous_commit', _how, true);
	free := true;
	ok := false;
	IF cardinality(_hashes)>0 THEN
		SELECT alone, holders INTO _hold FROM $S.holds WHERE tenant=_tenant AND name='blobs.lock' FOR SHARE;
		free := NOT _hold.alone OR NOT EXISTS(SELECT FROM jsonb_each(_hold.holders) AS e WHERE e.value::bigint > extract(epoch FROM clock_timestamp())*1000000);
		IF NOT free THEN
			RETURN;
		END IF;
	END IF;
	IF _base>=0 THEN
		IF _base=0 THEN
			INSERT INTO $S.folders(tenant, folder, rev, trail, seq, turns, counts, sizes, times, key)
			VALUES(_tenant, _folder, 1, ARRAY[_mark], _seq, _turns, _counts, _sizes, array_fill(clock_timestamp(), ARRAY[4]), nullif(_key, '')) ON CONFLICT DO NOTHING;
		ELSE
			UPDATE $S.folders AS f SET rev=rev+1, trail=CASE WHEN cardinality(_replaced)=0 THEN $S.grown(trail, _mark) ELSE ($S.grown(trail[cardinality(trail):], _mark))[2:] END,
				removed=CASE WHEN _folder=ANY(_gone) THEN rev+1 ELSE removed END, seq=_seq, turns=_turns, counts=_counts, sizes=_sizes, key=coalesce(nullif(_key, ''), key), written=clock_timestamp(),
				times=ARRAY(SELECT CASE WHEN (x.n, x.size)=(x.had, x.was) AND x.i-1<>ALL(_replaced) THEN x.time ELSE clock_timestamp() END
					FROM unnest(_counts, f.counts, _sizes, f.sizes, f.times) WITH ORDINALITY AS x(n, had, size, was, time, i))
			WHERE tenant=_tenant AND folder=_folder AND trail[cardinality(trail)]=_base;
		END IF;
		IF NOT FOUND THEN
			RETURN;
		END IF;
		DELETE FROM $S.log WHERE cardinality(_replaced)>0 AND tenant=_tenant AND session=_folder AND log=ANY(_replaced) AND seq<=_before;
		INSERT INTO $S.log(tenant, session, seq, turn, log, n, kind, id, time, zone, body)
		SELECT _tenant, _folder, x.seq, x.turn, x.log, x.n, x.kind, x.id, x.time, x.zone, nullif(x.body, '')::json
		FROM unnest(_seqs, _turn, _logs, _ns, _kinds, _ids, _times, _zones, _bodies) AS x(seq, turn, log, n, kind, id, time, zone, body);
	END IF;
	IF cardinality(_folders)>0 THEN
		INSERT INTO $S.folders AS f(tenant, folder, rev, trail) SELECT DISTINCT _tenant, d.folder, 1, ARRAY[_mark] FROM unnest(_folders) AS d(folder) WHERE d.folder<>_folder ORDER BY d.folder
		ON CONFLICT(tenant, folder) DO UPDATE SET rev=f.rev+1, trail=$S.grown(f.trail, _mark), written=excluded.written, removed=CASE WHEN f.folder=ANY(_gone) THEN f.rev+1 ELSE f.removed END;
		DELETE FROM $S.documents AS d USING unnest(_folders, _names, _data) AS g(folder, name, data)
		WHERE g.data IS NULL AND d.tenant=_tenant AND d.folder=g.folder AND (d.name=g.name OR d.name>=g.name||'/' AND d.name<g.name||'0');
		INSERT INTO $S.documents(tenant, folder, name, rev, mark, data, written)
		SELECT _tenant, d.folder, d.name, f.rev, _mark, d.data, clock_timestamp() FROM unnest(_folders, _names, _data) AS d(folder, name, data) JOIN $S.folders AS f ON f.tenant=_tenant AND f.folder=d.folder WHERE d.data IS NOT NULL
		ON CONFLICT(tenant, folder, name) DO UPDATE SET rev=excluded.rev, mark=excluded.mark, data=excluded.data, written=excluded.written;
	END IF;
	IF cardinality(_hashes)>0 THEN
		INSERT INTO $S.blobs AS b(tenant, hash, data, size, written) SELECT _tenant, x.hash, x.data, length(x.data), clock_timestamp() FROM unnest(_hashes, _blobs) AS x(hash, data) ORDER BY x.hash
		ON CONFLICT(tenant, hash) DO UPDATE SET data=excluded.data, size=excluded.size, written=excluded.written WHERE b.size<>excluded.size;
		UPDATE $S.holds SET holders='{}' WHERE tenant=_tenant AND name='blobs.lock' AND alone AND holders<>'{}';
	END IF;
	ok := true;
END $$;

-- Removes folders with all below and blobs, the blobs only if none of _holders or one of them has
-- the lock of blobs, and if none of the folders _unread is there. A write in one of the folders is
-- waited for, and goes with it.
CREATE FUNCTION remove(_tenant bigint, _paths text[], _hashes text[], _holders text[], _unread text[], OUT held boolean, OUT removed bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	_folders text[];
	_n bigint;
BEGIN
	PERFORM set_config('synchronous_commit', 'on', true);
	removed := 0;
	held := true;
	IF cardinality(_hashes)>0 AND cardinality(_holders)>0 THEN
		PERFORM FROM $S.holds WHERE tenant=_tenant AND name='blobs.lock' AND holders ?| _holders FOR SHARE;
		held := FOUND AND NOT EXISTS(SELECT FROM $S.folders WHERE tenant=_tenant AND folder=ANY(_unread));
		IF NOT held THEN
			RETURN;
		END IF;
	END IF;
	_folders := ARRAY(SELECT f.folder FROM $S.folders AS f JOIN unnest(_paths) AS p(at) ON f.folder=p.at OR f.folder>=p.at||'/' AND f.folder<p.at||'0' WHERE f.tenant=_tenant ORDER BY f.folder FOR UPDATE OF f);
	DELETE FROM $S.log WHERE tenant=_tenant AND session=ANY(_folders);
	DELETE FROM $S.documents WHERE tenant=_tenant AND folder=ANY(_folders);
	GET DIAGNOSTICS removed = ROW_COUNT;
	DELETE FROM $S.folders WHERE tenant=_tenant AND folder=ANY(_folders);
	GET DIAGNOSTICS _n = ROW_COUNT;
	removed := removed+_n;
	DELETE FROM $S.blobs AS b WHERE b.tenant=_tenant AND (b.hash=ANY(_hashes) OR EXISTS(SELECT FROM unnest(_paths) AS p(at) WHERE p.at='blobs' OR p.at='blobs/'||left(b.hash, 2)));
	GET DIAGNOSTICS _n = ROW_COUNT;
	removed := removed+_n;
END $$;

-- Renames a folder that has the newest mark _base. _mark is the new name's.
CREATE FUNCTION move(_tenant bigint, _from text, _to text, _base bigint, _mark bigint, OUT moved boolean, OUT source boolean, OUT target boolean) LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
	PERFORM set_config('synchronous_commit', 'on', true);
	source := EXISTS(SELECT FROM $S.folders WHERE tenant=_tenant AND folder=_from);
	target := EXISTS(SELECT FROM $S.folders WHERE tenant=_tenant AND folder=_to);
	UPDATE $S.folders SET folder=_to, trail=trail[greatest(cardinality(trail)-62, 1):]||_mark WHERE tenant=_tenant AND folder=_from AND trail[cardinality(trail)]=_base AND NOT target;
	moved := FOUND;
	IF moved THEN
		UPDATE $S.documents SET folder=_to WHERE tenant=_tenant AND folder=_from;
		UPDATE $S.log SET session=_to WHERE tenant=_tenant AND session=_from;
	ELSE
		moved := EXISTS(SELECT FROM $S.folders WHERE tenant=_tenant AND folder=_to AND _mark=ANY(trail));
	END IF;
END $$;
