-- A tenant's connections work as a role of that tenant's own, and the server shows them rows
-- of its root and no others, and takes no others from them. The tables' owner is not bound.
ALTER TABLE roots ADD COLUMN role text COLLATE "C" UNIQUE; -- NULL of a root that is no tenant's
ALTER TABLE roots ADD COLUMN secret text;                  -- the role's password

-- Every row says whose it is. A content belongs to a root, so that a number which two roots
-- have, by whatever means, is two contents.
DELETE FROM pieces AS p WHERE NOT EXISTS(SELECT FROM files AS f WHERE f.content=p.content) AND NOT EXISTS(SELECT FROM gone AS g WHERE g.content=p.content);
ALTER TABLE pieces ADD COLUMN root bigint;
UPDATE pieces AS p SET root=f.root FROM files AS f WHERE f.content=p.content;
UPDATE pieces SET root=0 WHERE root IS NULL; -- nobody's any more, but for who reads it at this moment
ALTER TABLE pieces ALTER COLUMN root SET NOT NULL, DROP CONSTRAINT pieces_pkey, ADD PRIMARY KEY(content, root, off);
ALTER TABLE gone ADD COLUMN root bigint NOT NULL DEFAULT 0, DROP CONSTRAINT gone_pkey, ADD PRIMARY KEY(content, root);
ALTER TABLE files DROP CONSTRAINT files_content_key, ADD UNIQUE(content, root);
ALTER TABLE objects DROP CONSTRAINT objects_pkey, ADD PRIMARY KEY(content, root);

-- Programs of before name no root, and may run until they are replaced.
CREATE FUNCTION piece_root() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	SELECT f.root INTO NEW.root FROM files AS f WHERE f.content=NEW.content;
	RETURN NEW;
END $$;
CREATE TRIGGER piece_root BEFORE INSERT ON pieces FOR EACH ROW WHEN (NEW.root IS NULL) EXECUTE FUNCTION piece_root();

ALTER TABLE roots ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON roots USING (role=current_user);
DO $$
DECLARE t text;
BEGIN
	FOR t IN SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid=c.oid
		WHERE c.relnamespace=current_schema()::regnamespace AND c.relkind='r' AND a.attname='root' AND NOT a.attisdropped
	LOOP
		EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
		EXECUTE format('CREATE POLICY tenant ON %I USING (root=(SELECT id FROM roots WHERE role=current_user))', t);
	END LOOP;
END $$;
