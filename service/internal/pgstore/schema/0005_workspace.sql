-- The files of a workspace. Each write counts its root's version up, and is in the row of
-- what it wrote: who knows a version reads what came after it, and all of it anew where
-- something was removed since. A root's writes are one behind the other, by the lock of its
-- row.
CREATE TABLE workspaces(
	root bigint PRIMARY KEY REFERENCES roots(id) ON DELETE CASCADE,
	version bigint NOT NULL,
	removed bigint NOT NULL,              -- the version of the last removal
	time timestamptz NOT NULL,            -- of the last write; none has that of another
	moving text NOT NULL                  -- where a move comes from that has not ended, '' if none
);
CREATE TABLE workspace(
	root bigint NOT NULL REFERENCES roots(id) ON DELETE CASCADE,
	path text COLLATE "C" NOT NULL,
	version bigint NOT NULL,
	data bytea NOT NULL,                  -- a text, which need not be UTF-8
	mark bigint NOT NULL,                 -- of the write that made it, for who lost the answer
	time timestamptz NOT NULL,
	PRIMARY KEY(root, path)
);
CREATE UNIQUE INDEX workspace_version ON workspace(root, version);
