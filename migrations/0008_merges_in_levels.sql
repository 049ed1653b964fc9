-- The engine counts 5 MiB for every part whatever its size, so "at least 40" merged the one large part with every 39 small ones: over
-- 130 updates of a run (an insert of 2,800 rows and one of 8 each) 3.1 rows were rewritten for each row inserted, and more the longer
-- the run. A ratio of 60 between the sum and the largest, which the engine lowers as parts become many, leaves the large ones alone:
-- 1.0 rows rewritten, 46 in place of 119 ms of merging an update, and 23 in place of 37 parts for a reader to plan with.
-- Wide parts cost 230 files to sync; below 64 MiB the columns lie in one.
ALTER TABLE events
    MODIFY SETTING min_parts_to_merge_at_once = 20, merge_selector_base = 60, min_bytes_for_wide_part = 67108864;
