-- Data sets, which never change: of several records with one name the first in log order counts.

CREATE OR REPLACE VIEW datasets AS
SELECT
    JSONExtractString(payload, 'name') AS name,
    JSONExtractString(payload, 'format') AS format,
    JSONExtractString(payload, 'fileFormat') AS file_format,
    JSONExtractString(payload, 'contentHash') AS content_hash,
    JSONExtractUInt(payload, 'numEpisodes') AS num_episodes,
    arraySum(arrayMap(entry -> JSONExtractUInt(entry, 'numRows'), JSONExtractArrayRaw(payload, 'splits'))) AS num_rows,
    JSONExtractRaw(payload, 'splits') AS splits,
    JSONExtractRaw(payload, 'runs') AS runs,
    JSONExtractString(payload, 'sql') AS sql,
    JSONExtractRaw(payload, 'settings') AS settings,
    JSONExtractRaw(payload, 'contamination') AS contamination,
    JSONExtractString(payload, 'location') AS location,
    JSONExtractString(payload, 'codeVersion') AS code_version,
    occurred_at AS created_at
FROM events
WHERE run_id = '' AND episode_id = '' AND kind = 'DatasetCreated'
ORDER BY log_id, log_stream, log_partition, log_offset
LIMIT 1 BY name;

-- Lists may come twice, after a registration that was cut short, and lists of a data set that was refused have another content hash.
CREATE OR REPLACE VIEW dataset_episodes AS
SELECT DISTINCT
    listed.name AS dataset,
    listed.run_id AS run_id,
    arrayJoin(listed.episode_ids) AS episode_id
FROM
(
    SELECT
        JSONExtractString(payload, 'name') AS name,
        JSONExtractString(payload, 'contentHash') AS content_hash,
        JSONExtractString(payload, 'ofRunId') AS run_id,
        JSONExtract(payload, 'episodeIds', 'Array(String)') AS episode_ids
    FROM events
    -- With the table's name, because `run_id` is the column selected above.
    WHERE events.run_id = '' AND events.episode_id = '' AND kind = 'DatasetEpisodesListed'
) AS listed
INNER JOIN datasets ON listed.name = datasets.name AND listed.content_hash = datasets.content_hash;
