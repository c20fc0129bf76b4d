CREATE SEQUENCE fence;
-- held has the fencing token of each who holds the lock, and when that lease ends, in
-- microseconds of the server's clock since 1970.
CREATE TABLE locks(
	root bigint NOT NULL REFERENCES roots(id) ON DELETE CASCADE,
	path text COLLATE "C" NOT NULL,
	alone boolean NOT NULL,
	held jsonb NOT NULL,
	holder text NOT NULL,                 -- who took it last, for messages
	PRIMARY KEY(root, path)
) WITH (fillfactor = 70);
