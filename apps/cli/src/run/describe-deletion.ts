import type { EpisodesDeletion } from '@retrace/runs/delete';

/** Says in a sentence what a deletion did. */
export function describeEpisodesDeletion({
  runId,
  numEpisodes,
  numRows,
  numReleased,
  isDryRun,
}: EpisodesDeletion): string {
  const count = `${numEpisodes.toLocaleString('en')} episodes of run ${runId}`;
  if (isDryRun) return `would delete ${count}`;
  if (numEpisodes === 0) return `deleted ${count}: nothing to delete`;
  const rows = `${numRows.toLocaleString('en')} rows`;
  return numReleased === null
    ? `deleted ${count}: ${rows}; a log on Kafka keeps their records, unread, until the topic's retention drops them`
    : `deleted ${count}: ${rows}, ${numReleased.toLocaleString('en')} log records; "retrace compact" removes what the files still have in free room`;
}
