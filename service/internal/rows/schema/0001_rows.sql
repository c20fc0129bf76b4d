-- A tenant is whose state this is: whoever opens it sees nothing else. Its connections work as a
-- role of its own, and the server shows them the rows of that tenant and no others. The owner of
-- the tables is not bound.
CREATE TABLE tenants(
	id bigserial PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE,
	role text COLLATE "C" UNIQUE,         -- NULL of a tenant without a role
	secret text                           -- proves or is the role's password
);
-- A folder is what a unit of work writes in: a session (sessions/x), the project, or '' for
-- whatever belongs to neither. /workspace is the workspace's Markdown.
CREATE TABLE folders(
	tenant bigint NOT NULL,
	folder text COLLATE "C" NOT NULL,
	rev bigint NOT NULL,                  -- counts the writes
	trail bigint[] NOT NULL,              -- the random marks of the newest 16 writes, newest last
	epoch bigint NOT NULL,                -- counts how often a log was replaced
	removed bigint NOT NULL,              -- the rev that removed a document last
	seq bigint NOT NULL,                  -- of the newest record
	turns int NOT NULL,                   -- committed so far
	counts int[] NOT NULL,                -- records of journal, projection, usage, ended
	key text,                             -- of a session
	moving text NOT NULL DEFAULT '',      -- where a move of files into a workspace comes from
	bytes bigint NOT NULL,                -- of its records
	written timestamptz NOT NULL,
	PRIMARY KEY(tenant, folder)
) WITH (fillfactor = 70);
-- The records of a folder's logs, in the order in which they were written.
CREATE TABLE log(
	tenant bigint NOT NULL,
	session text COLLATE "C" NOT NULL,    -- the folder
	seq bigint NOT NULL,
	turn int NOT NULL,                    -- the turns that were committed before
	log text COLLATE "C" NOT NULL,        -- journal, projection, usage or ended
	n int NOT NULL,                       -- counts the records of this log
	kind text NOT NULL,
	id text NOT NULL,
	time text NOT NULL,                   -- by the writer's clock, '' if unknown
	size int NOT NULL,                    -- of the body in bytes
	written timestamptz NOT NULL,
	body json,
	PRIMARY KEY(tenant, session, seq)
);
CREATE TABLE documents(
	tenant bigint NOT NULL,
	folder text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	rev bigint NOT NULL,                  -- the folder's, of the write
	mark bigint NOT NULL,                 -- of the write
	data bytea NOT NULL,
	written timestamptz NOT NULL,
	PRIMARY KEY(tenant, folder, name)
);
CREATE TABLE blobs(
	tenant bigint NOT NULL,
	hash text COLLATE "C" NOT NULL,
	data bytea NOT NULL,
	size bigint NOT NULL,
	written timestamptz NOT NULL,
	PRIMARY KEY(tenant, hash)
);
-- A hold keeps others from doing the same. holders has each holder, and when its lease ends, in
-- microseconds of the server's clock since 1970.
CREATE TABLE holds(
	tenant bigint NOT NULL,
	name text COLLATE "C" NOT NULL,
	alone boolean NOT NULL,
	holders jsonb NOT NULL,
	PRIMARY KEY(tenant, name)
);
-- The words of a page, whose parts are JSON objects one behind the other: what was said, and what a
-- tool was called with.
CREATE FUNCTION said(content text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF content NOT LIKE '{"type":%' THEN
		RETURN content;
	END IF;
	RETURN (SELECT string_agg(coalesce(part->>'text', part->>'thinking', (part->>'name') || ' ' || (part->>'input'), part::text), E'\n' ORDER BY n)
		FROM json_array_elements(('[' || regexp_replace(content, '\}\s*\{"type":', '},{"type":', 'g') || ']')::json) WITH ORDINALITY AS parts(part, n));
EXCEPTION WHEN invalid_text_representation THEN
	RETURN content;
END $$;
-- What people read: the records, and of new pages what was said. JSON may hold characters that a
-- text of the server can't hold; they are shown as U+FFFD.
CREATE VIEW records WITH (security_invoker = true) AS
SELECT l.tenant, l.session, l.seq, l.turn, l.log, l.kind, l.id, nullif(l.time, '')::timestamptz AS time, l.size,
	CASE WHEN l.kind = 'ingest' THEN (
		SELECT json_build_object('text', string_agg(coalesce(p->>'role', p->>'type', '') || ': ' ||
			coalesce(said(b.body->'content'->>(p->>'id')), nullif(p->'reps'->0->>'text', ''), '[' || (p->>'bytes') || ' bytes: blob ' || (p->>'hash') || ']'), E'\n' ORDER BY n))
		FROM json_array_elements(b.body->'pages') WITH ORDINALITY AS pages(p, n))
	ELSE b.body END AS body
FROM log AS l, LATERAL (SELECT regexp_replace(l.body::text, '\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\ufffd', 'g')::json AS body) AS b;

DO $$ BEGIN
	ALTER TABLE log ALTER COLUMN body SET COMPRESSION lz4;
	ALTER TABLE documents ALTER COLUMN data SET COMPRESSION lz4;
	ALTER TABLE blobs ALTER COLUMN data SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL; -- the server was built without LZ4
END $$;

ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON tenants USING (role=current_user);
DO $$
DECLARE t text;
BEGIN
	FOREACH t IN ARRAY ARRAY['folders', 'log', 'documents', 'blobs', 'holds'] LOOP
		EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY tenant ON %I USING (tenant=(SELECT id FROM tenants WHERE role=current_user))', t);
	END LOOP;
END $$;
