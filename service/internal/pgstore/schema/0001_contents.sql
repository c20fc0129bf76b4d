-- A root is what one state directory is among files: whoever opens it sees nothing else.
CREATE TABLE roots(
	id bigserial PRIMARY KEY,
	name text COLLATE "C" NOT NULL UNIQUE
);
CREATE SEQUENCE content_id;
-- A name has one content. A document that is put gets another one, a journal keeps it.
CREATE TABLE files(
	root bigint NOT NULL REFERENCES roots(id) ON DELETE CASCADE,
	path text COLLATE "C" NOT NULL,
	content bigint NOT NULL UNIQUE,
	size bigint NOT NULL,
	version bigint NOT NULL,              -- counts what was done to the name
	time timestamptz NOT NULL,
	before bigint,                        -- the content that the last put replaced
	PRIMARY KEY(root, path)
) WITH (fillfactor = 70);
-- A content is its pieces, one behind the other.
CREATE TABLE pieces(
	content bigint NOT NULL,
	off bigint NOT NULL,
	data bytea NOT NULL,
	mark bigint NOT NULL,                 -- of the write that made it, for who lost the answer
	PRIMARY KEY(content, off)
);
-- What was replaced while somebody was reading it, until that ends.
CREATE TABLE gone(
	content bigint PRIMARY KEY,
	size bigint NOT NULL,
	time timestamptz NOT NULL
);
