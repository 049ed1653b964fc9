-- Notebooks of SQL and text. Of several records with one revision the first in log order counts, and of the revisions the newest, unless that deleted
-- the notebook. The newest are chosen by the small fields, so that only their content is kept in memory.

CREATE OR REPLACE VIEW notebooks AS
SELECT
    newest.notebook_id AS notebook_id,
    JSONExtractString(saved.payload, 'title') AS title,
    JSONExtractRaw(saved.payload, 'cells') AS cells,
    newest.revision AS revision,
    JSONExtractString(saved.payload, 'source') AS source,
    newest.created_at AS created_at,
    saved.occurred_at AS saved_at
FROM events AS saved
INNER JOIN
(
    SELECT
        notebook_id,
        max(number) AS revision,
        argMax(first_id, number) AS event_id,
        min(occurred_at) AS created_at
    FROM
    (
        SELECT
            kind,
            event_id AS first_id,
            occurred_at,
            JSONExtractString(payload, 'notebookId') AS notebook_id,
            JSONExtractUInt(payload, 'revision') AS number
        FROM events
        WHERE run_id = '' AND episode_id = '' AND kind IN ('NotebookSaved', 'NotebookDeleted')
        ORDER BY log_id, log_stream, log_partition, log_offset
        LIMIT 1 BY notebook_id, number
    )
    GROUP BY notebook_id
    HAVING argMax(kind, number) = 'NotebookSaved'
) AS newest ON saved.event_id = newest.event_id
WHERE saved.run_id = '' AND saved.episode_id = '' AND saved.kind = 'NotebookSaved'
LIMIT 1 BY notebook_id;
