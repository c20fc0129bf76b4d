-- Somebody wants a lock alone that others share: who does not use it lets go of it.
ALTER TABLE locks ADD COLUMN wanted timestamptz;
