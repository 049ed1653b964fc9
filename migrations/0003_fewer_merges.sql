-- A sink makes many small parts, and the engine would merge every few of them with the large one beside them. Measured over
-- 400 inserts of 50 rows: 38 ms of CPU an insert and 40 rows rewritten for each row inserted; with this 20 ms and 9 rows.
ALTER TABLE events MODIFY SETTING min_parts_to_merge_at_once = 24;
