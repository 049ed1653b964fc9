-- A sink makes many small parts, and the engine would merge every few of them with the large one beside them: it counts 5 MiB
-- for every part, whatever its size. Measured over 550 inserts of 150 rows: 24 parts at once rewrite 11 rows for each row
-- inserted, 60 rewrite 5, 100 rewrite 3, for 13, 7 and 5 ms of CPU an insert.
ALTER TABLE events MODIFY SETTING min_parts_to_merge_at_once = 100, max_parts_to_merge_at_once = 200;
