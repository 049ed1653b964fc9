import type { EpisodesDeletion } from '@retrace/runs/delete';
import { counted } from '../terminal/counted.js';

/** Says in a sentence what a deletion did. */
export function describeEpisodesDeletion({
  runId,
  numEpisodes,
  numRows,
  numReleased,
  isDryRun,
}: EpisodesDeletion): string {
  const count = `${counted(numEpisodes, 'episode')} of run ${runId}`;
  if (isDryRun) return `would delete ${count}`;
  if (numEpisodes === 0) return `deleted ${count}: nothing to delete`;
  const rows = counted(numRows, 'row');
  return numReleased === null
    ? `deleted ${count}: ${rows}; a log on Kafka keeps their records, unread, until the topic's retention drops them`
    : `deleted ${count}: ${rows}, ${counted(numReleased, 'log record')}; "retrace compact" removes what the files still have in free room`;
}
