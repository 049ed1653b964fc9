import { isDeepStrictEqual } from 'node:util';
import { TrajectoryReader } from '@retrace/store';

/**
 * Checks reads in key order while rows arrive and parts merge: an episode that is completely in the store must never be read with
 * missing steps.
 *
 * Statements run with the engine's settings unchanged. Where an answer lacks something, they run again with each of these settings
 * changed, and the rows are looked up by offset, which tells a fault of the engine's reading from rows that are gone.
 */

/** Settings of the engine that may hide a row from a read in key order. */
export const WAYS_OF_READING = {
  'as they are': {},
  'no reading in order': { optimize_read_in_order: 0 },
  'no skipping indexes': { use_skip_indexes: 0 },
};

/** Wraps a client so that every statement has these settings. */
export function withSettings(client, added) {
  return new Proxy(client, {
    get(target, name) {
      const own = Reflect.get(target, name, target);
      if (name !== 'queryArrow' && name !== 'queryRows')
        return typeof own === 'function' ? own.bind(target) : own;
      return (sql, options = {}) =>
        own.call(target, sql, { ...options, settings: { ...options.settings, ...added } });
    },
  });
}

/**
 * Compares whole episodes, as the trainer reads them, with the events that were appended.
 *
 * @param {import('@retrace/store').StoreClient} client
 * @param {string} runId
 * @param {readonly (readonly import('@retrace/trajectory').AnyEvent[])[]} episodes Events of each, in order; all visible.
 * @returns {Promise<string | null>} what is wrong, in one sentence; null when every step is there with its tokens, rewards and logprobs
 */
export async function readEpisodesAndCompare(client, runId, episodes) {
  const ids = episodes.map(([{ episodeId }]) => episodeId);
  let columns;
  try {
    columns = await new TrajectoryReader(client).readEpisodes(runId, ids);
  } catch (error) {
    if (error.code !== 'NOT_YET_VISIBLE') throw error;
    return error.message;
  }
  for (const [i, events] of episodes.entries()) {
    const steps = events.filter(({ kind }) => kind === 'StepRecorded').map(({ payload }) => payload);
    const [first, end] = [columns.stepOffsets[i], columns.stepOffsets[i + 1]];
    if (end - first !== steps.length)
      return `episode ${ids[i]} has ${steps.length} steps and is read with ${end - first}`;
    for (const [n, step] of steps.entries()) {
      const [from, to] = [columns.tokenOffsets[first + n], columns.tokenOffsets[first + n + 1]];
      const isSame =
        columns.steps[first + n] === step.step &&
        columns.rewards[first + n] === step.reward &&
        isDeepStrictEqual(columns.tokenIds.slice(from, to), step.tokenIds) &&
        isDeepStrictEqual(columns.tokenLogprobs.slice(from, to), step.tokenLogprobs);
      if (!isSame) return `step ${n} of episode ${ids[i]} is read otherwise than it was appended`;
    }
  }
  return null;
}

/**
 * Compares the view `steps` of all episodes of the run, as the audit reads it, with the number of steps of each.
 *
 * @param {import('@retrace/store').StoreClient} client
 * @param {string} runId
 * @param {readonly (readonly import('@retrace/trajectory').AnyEvent[])[]} episodes All visible; the run may have more.
 */
export async function countStepsAndCompare(client, runId, episodes) {
  const rows = await client.queryRows(
    'SELECT episode_id AS id, count() AS n FROM steps WHERE run_id = {runId:String} GROUP BY id',
    { params: { runId } },
  );
  const counts = new Map(rows.map(({ id, n }) => [id, n]));
  const wrong = episodes.find((events) => counts.get(events[0].episodeId) !== events.length - 2);
  return wrong === undefined
    ? null
    : `episode ${wrong[0].episodeId} has ${wrong.length - 2} steps; the view shows ${counts.get(wrong[0].episodeId)}`;
}

/**
 * Repeats a check with each setting changed, and looks up where the rows are.
 *
 * @param {import('@retrace/store').StoreClient} client
 * @param {(client: import('@retrace/store').StoreClient) => Promise<string | null>} look
 */
export async function explainFault(client, look) {
  const found = [];
  for (const [way, settings] of Object.entries(WAYS_OF_READING)) {
    found.push(`${way}: ${(await look(withSettings(client, settings))) ?? 'nothing is missing'}`);
  }
  const parts = await client.queryRows(
    "SELECT name, rows, level FROM system.parts WHERE table = 'events' AND active ORDER BY min_block_number",
  );
  const listed = parts.map(({ name, rows, level }) => `${name} (${rows} rows, level ${level})`);
  return `${found.join('\n')}\nactive parts: ${listed.join(', ')}`;
}
