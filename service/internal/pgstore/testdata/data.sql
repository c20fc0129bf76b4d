INSERT INTO roots(name) VALUES('project');
INSERT INTO files(root, path, content, size, version, time) SELECT id, 'sessions/old/journal.jsonl', nextval('content_id'), 13, 2, now() FROM roots;
INSERT INTO pieces(content, off, data, mark) SELECT content, 0, convert_to(E'first\n', 'UTF8'), 1 FROM files;
INSERT INTO pieces(content, off, data, mark) SELECT content, 6, convert_to(E'second\n', 'UTF8'), 2 FROM files;
