-- Notebooks of SQL and text. Of several records with one revision the first in log order counts, and of the revisions the newest, unless that deleted
-- the notebook.

CREATE OR REPLACE VIEW notebooks AS
SELECT
    notebook_id,
    argMax(saved.title, number) AS title,
    argMax(saved.cells, number) AS cells,
    max(number) AS revision,
    argMax(saved.source, number) AS source,
    min(occurred_at) AS created_at,
    argMax(occurred_at, number) AS saved_at
FROM
(
    SELECT
        kind,
        occurred_at,
        JSONExtractString(payload, 'notebookId') AS notebook_id,
        JSONExtractUInt(payload, 'revision') AS number,
        JSONExtractString(payload, 'title') AS title,
        JSONExtractRaw(payload, 'cells') AS cells,
        JSONExtractString(payload, 'source') AS source
    FROM events
    WHERE run_id = '' AND episode_id = '' AND kind IN ('NotebookSaved', 'NotebookDeleted')
    ORDER BY log_id, log_stream, log_partition, log_offset
    LIMIT 1 BY notebook_id, number
) AS saved
GROUP BY notebook_id
HAVING argMax(kind, number) = 'NotebookSaved';
