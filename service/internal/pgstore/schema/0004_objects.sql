-- A content may be an object of a bucket instead of pieces. The row stands before the object
-- is written, so that one whose writer dies is found; the object's key is never used again.
CREATE TABLE objects(
	content bigint PRIMARY KEY,
	root bigint NOT NULL REFERENCES roots(id),
	key text COLLATE "C" NOT NULL,        -- holds the hash of the content
	size bigint NOT NULL,
	place text NOT NULL,                  -- the bucket that it was written to, for messages
	time timestamptz NOT NULL,            -- since when it is being written
	named boolean NOT NULL DEFAULT false, -- a name had it, which happens once
	going timestamptz,                    -- since when it is being removed: no name may have it
	UNIQUE(root, key)
);
