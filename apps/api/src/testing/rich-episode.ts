import { appendEvents } from '@retrace/log/testing';
import { catchUp } from '@retrace/store';
import type { StoreFixture } from '@retrace/store-server/testing';
import { type AnyEvent, episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent, episodeEvent, episodeEvents } from '@retrace/trajectory/testing';

const SECOND_US = 1_000_000;

/** Stores an episode with values in every column, its annotations, and its records twice: as they are, and as others with the same numbers. */
export async function storeRichEpisode({ log, client }: Pick<StoreFixture, 'log' | 'client'>) {
  const occurredAtUs = Date.now() * 1000 - 60 * SECOND_US;
  const ids = { logId: log.logId, runId: newRunId(), occurredAtUs };
  const key = { runId: ids.runId, episodeId: episodeIdFor({ runId: ids.runId, ordinal: 1 }) };
  const started = {
    ...{ task: { level: 3 }, metadata: { by: 'start' }, parentEpisodeId: newRunId() },
    forkedFrom: { episodeId: newRunId(), step: 2 },
  };
  const usage = {
    ...{ inputTokens: 7, cachedInputTokens: 5, outputTokens: 3, reasoningTokens: 2, costUsd: 0.25 },
  };
  const { messages } = episodeEvent({ ...ids, ...key }, 'StepRecorded', 1).payload;
  const differing = [
    { usage, messages, untrainable: 'made storable: logprobs' },
    { usage: { ...usage, cachedInputTokens: null }, actionValid: null, generationMs: null },
    { environmentMs: null, reward: 0.5, truncated: true },
  ] as const;
  const ended = {
    endDetail: 'why',
    return: 1.5,
    policyVersionMin: 2,
    policyVersionMax: 5,
    numActionTokens: 4,
  };
  const spec = { ...ids, ordinal: 1, intervalUs: SECOND_US, started, ended };
  const first = episodeEvents({ ...spec, numSteps: 3, step: (step) => differing[step] });
  const annotations = [
    { metadata: { by: 'person' }, tags: null },
    { metadata: null, tags: ['kept'] },
  ].map((annotation, i) => episodeEvent({ ...ids, ...key }, 'EpisodeAnnotated', i + 1, annotation as never));
  await appendEvents(log, [controlEvent(ids, 'RunStarted') as AnyEvent]);
  await appendEvents(log, [...first, ...(annotations as AnyEvent[])]);
  await catchUp(log, client);
  // Of two records with one number the first counts. The later ones are of another log, since this one ends before them.
  const later =
    "'other' AS log_id, log_offset + 1000 AS log_offset, 'later' AS observation, 'later' AS group_id, true AS success, 9 AS num_steps";
  for (const replacing of ['', ` REPLACE (${later})`])
    await client.command(
      `INSERT INTO events SELECT *${replacing}
       FROM (SELECT * FROM events WHERE run_id = {runId:String} AND kind IN ('EpisodeStarted', 'StepRecorded', 'EpisodeEnded'))`,
      { params: { runId: ids.runId } },
    );
  return { key, occurredAtUs };
}
