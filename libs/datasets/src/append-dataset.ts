import type { EventLog } from '@retrace/log';
import { newControlEvent, type DatasetCreated, type RetraceEvent } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';

/** The facts about a data set that are appended to the log. */
export interface DatasetRecord extends Omit<DatasetCreated, 'numEpisodes' | 'runs'> {
  readonly createdAtMs: number;
  /** Ids of its episodes by their runs. */
  readonly episodesByRun: ReadonlyMap<string, ReadonlySet<string>>;
}

type DatasetEvent = RetraceEvent<'DatasetEpisodesListed'> | RetraceEvent<'DatasetCreated'>;

/** About 200 kB of an event. */
const EPISODES_PER_EVENT = 5_000;
/** Bounds the bytes of an append. */
const EVENTS_PER_APPEND = 16;

/** Appends the lists of a data set's episodes, and then the event that makes them count. */
export async function appendDataset(log: EventLog, record: DatasetRecord): Promise<void> {
  const records = listEvents(log.logId, record).map(encodeEvent);
  for (let from = 0; from < records.length; from += EVENTS_PER_APPEND)
    await log.append('control', 0, records.slice(from, from + EVENTS_PER_APPEND));
}

function listEvents(
  logId: string,
  { createdAtMs, episodesByRun, ...described }: DatasetRecord,
): readonly DatasetEvent[] {
  const { name, contentHash } = described;
  const common = { logId, runId: '', occurredAtUs: createdAtMs * 1000 };
  const lists = [...episodesByRun].flatMap(([ofRunId, ids]) =>
    listSlices([...ids]).map((episodeIds) =>
      newControlEvent({
        ...common,
        kind: 'DatasetEpisodesListed',
        payload: { name, contentHash, ofRunId, episodeIds },
      }),
    ),
  );
  const runs = [...episodesByRun].map(([runId, ids]) => ({ runId, numEpisodes: ids.size }));
  const numEpisodes = runs.reduce((sum, run) => sum + run.numEpisodes, 0);
  const created = newControlEvent({
    ...common,
    kind: 'DatasetCreated',
    payload: { ...described, numEpisodes, runs },
  });
  return [...lists, created];
}

function listSlices(ids: readonly string[]): string[][] {
  const slices: string[][] = [];
  for (let from = 0; from < ids.length; from += EPISODES_PER_EVENT)
    slices.push(ids.slice(from, from + EPISODES_PER_EVENT));
  return slices;
}
