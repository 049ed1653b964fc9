import { verifyStore } from '@retrace/store';
import { decodeEvent } from '@retrace/trajectory/codec';
import { EpisodeFold } from '@retrace/trajectory';

/**
 * Ids of the events that producers appended.
 *
 * @typedef {object} Produced
 * @property {ReadonlySet<string>} acknowledged Acknowledged by the log.
 * @property {ReadonlySet<string>} attempted Appended with any outcome, including the acknowledged ones.
 * @property {ReadonlySet<string>} [deletedRuns] Runs of which nothing but the deletion may be left in the store, whatever the log could not let go of.
 */

/**
 * @typedef {object} Audit
 * @property {readonly string[]} faults One sentence each; empty when the store is correct.
 * @property {number} numEvents
 * @property {number} numSealedEpisodes
 * @property {number} numRepeatedRows
 * @property {number} numConflicts
 */

const STREAMS = /** @type {const} */ (['control', 'trajectories']);
const MAX_NAMED = 5;

/**
 * Audits whether the store holds everything that was produced, and shows it once.
 *
 * (1) `retrace verify`'s comparison of log and store. Then, with nothing of its code but the codec and the fold: (2) the ids in the
 * log and those in the store are the same, hold all that was acknowledged and nothing that nobody produced; (3) the read path shows every
 * step and episode once; (4) no sealed episode has a gap; (5) what the views show of every episode is the fold of the log's records.
 *
 * @param {{ log: import('@retrace/log').EventLog, client: import('@retrace/store').StoreClient,
 *   produced: Produced }} parts
 * @returns {Promise<Audit>}
 */
export async function auditStore({ log, client, produced }) {
  const faults = [];
  const report = await verifyStore({ log, client });
  faults.push(...report.faults.map(({ code, where, message }) => `${code} ${where}: ${message}`));
  if (report.numPending > 0) faults.push(`${report.numPending} records are not in the store yet`);
  const { ids, episodes } = await foldLog(log, produced.deletedRuns ?? new Set());
  faults.push(...(await compareIds(client, ids, produced)));
  faults.push(...(await findDoubles(client)));
  faults.push(...(await compareEpisodes(client, episodes)));
  const { numSealedEpisodes, numRepeatedRows, numConflicts } = report;
  return { faults, numEvents: ids.size, numSealedEpisodes, numRepeatedRows, numConflicts };
}

/** Reads the whole log, and folds the records of runs that were not deleted. */
async function foldLog(log, deletedRuns) {
  const ids = new Set();
  /** @type {Map<string, { fold: EpisodeFold, steps: Map<number, object> }>} */
  const episodes = new Map();
  for (const stream of STREAMS) {
    for (let partition = 0; partition < log.numPartitions(stream); partition += 1) {
      const endOffset = await log.endOffset(stream, partition);
      let next = await log.startOffset(stream, partition);
      while (next < endOffset) {
        const records = await log.read(stream, partition, next);
        if (records.length === 0) break;
        for (const { offset, bytes } of records) {
          const decoded = decodeEvent(bytes);
          if (!decoded.ok) continue;
          const { event } = decoded;
          if (event.kind === 'RunDeleted' || !deletedRuns.has(event.runId))
            applyTo({ ids, episodes }, event, offset);
        }
        next = records[records.length - 1].offset + 1;
      }
    }
  }
  return { ids, episodes };
}

function applyTo({ ids, episodes }, event) {
  // The log itself writes its first record.
  if (event.kind === 'LogOpened') return;
  ids.add(event.eventId);
  if (event.episodeId === '') return;
  const key = keyOf(event.runId, event.episodeId);
  let episode = episodes.get(key);
  if (episode === undefined) {
    episode = { fold: new EpisodeFold(event), steps: new Map() };
    episodes.set(key, episode);
  }
  const outcome = episode.fold.apply(event);
  if (outcome === 'applied' && event.kind === 'StepRecorded') {
    episode.steps.set(event.payload.step, event.payload);
  }
}

async function compareIds(client, inLog, { acknowledged, attempted }) {
  const rows = await client.queryRows(
    "SELECT DISTINCT toString(event_id) AS id FROM events WHERE kind NOT LIKE '\\_%' AND kind != 'LogOpened'",
  );
  const inStore = new Set(rows.map(({ id }) => id));
  return [
    ...complain('acknowledged events are not in the log', missingFrom(inLog, acknowledged)),
    ...complain('acknowledged events are not in the store', missingFrom(inStore, acknowledged)),
    ...complain('events of the log are not in the store', missingFrom(inStore, inLog)),
    ...complain('events of the store are not in the log', missingFrom(inLog, inStore)),
    ...complain('events were produced by nobody', missingFrom(attempted, inStore)),
  ];
}

async function findDoubles(client) {
  const doubles = await Promise.all(
    [
      ['steps', 'run_id, episode_id, step'],
      ['episodes', 'run_id, episode_id'],
      ['reward_assignments', 'run_id, episode_id, seq'],
    ].map(async ([view, key]) => {
      const rows = await client.queryRows(
        `SELECT concat_ws(' ', ${key}) AS id FROM ${view} GROUP BY ${key} HAVING count() > 1`,
      );
      return complain(
        `rows of view ${view} are there more than once`,
        rows.map(({ id }) => id),
      );
    }),
  );
  return doubles.flat();
}

async function compareEpisodes(client, episodes) {
  const shown = await client.queryRows(
    'SELECT run_id, episode_id, sealed, num_steps, num_tokens, return, success FROM episodes',
  );
  const steps = await client.queryRows(
    'SELECT run_id, episode_id, step, action, reward, token_ids, token_logprobs FROM steps',
  );
  const stepsOf = groupByEpisode(steps);
  const shownKeys = new Set(shown.map((row) => keyOf(row.run_id, row.episode_id)));
  const startedKeys = [...episodes].filter(([, { fold }]) => hasEdge(fold.state())).map(([key]) => key);
  const faults = [
    ...complain('episodes of the log are not shown', missingFrom(shownKeys, startedKeys)),
    ...complain(
      'episodes are shown that are not in the log',
      missingFrom(new Set(episodes.keys()), shownKeys),
    ),
  ];
  for (const row of shown) {
    const key = keyOf(row.run_id, row.episode_id);
    const problem = findDifference(episodes.get(key), row, stepsOf.get(key) ?? []);
    if (problem !== null) faults.push(`episode ${key}: ${problem}`);
  }
  return faults;
}

/** Returns how the views of an episode differ from the fold of its records, in one sentence; null when they agree. */
function findDifference(episode, shown, shownSteps) {
  if (episode === undefined) return null; // Already reported as missing.
  const { ended } = episode.fold.state();
  if (shown.sealed !== (ended !== null)) return `the view says sealed ${shown.sealed}`;
  if (ended !== null) {
    const { numSteps, numTokens, success } = ended;
    const expected = [numSteps, numTokens, ended.return, success];
    const found = [shown.num_steps, shown.num_tokens, shown.return, shown.success];
    if (expected.some((value, i) => value !== found[i]))
      return `the view shows ${found}, the log ${expected}`;
    const numbers = shownSteps.map(({ step }) => step).sort((a, b) => a - b);
    if (numbers.length !== numSteps || numbers.some((step, i) => step !== i)) {
      return `it is sealed with ${numSteps} steps; the view has steps ${numbers}`;
    }
  }
  for (const row of shownSteps) {
    const step = episode.steps.get(row.step);
    if (step === undefined) return `step ${row.step} is not in the log`;
    const isSame =
      row.action === step.action &&
      row.reward === step.reward &&
      isEqual(row.token_ids, step.tokenIds) &&
      isEqual(row.token_logprobs.map(Math.fround), step.tokenLogprobs);
    if (!isSame) return `step ${row.step} differs from its record`;
  }
  return shownSteps.length === episode.steps.size
    ? null
    : `the log has ${episode.steps.size} steps, the view ${shownSteps.length}`;
}

function groupByEpisode(rows) {
  const groups = new Map();
  for (const row of rows) {
    const key = keyOf(row.run_id, row.episode_id);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}

function hasEdge({ started, ended }) {
  return started !== null || ended !== null;
}

function isEqual(values, others) {
  return values.length === others.length && values.every((value, i) => value === others[i]);
}

function keyOf(runId, episodeId) {
  return `${runId} ${episodeId}`;
}

function missingFrom(set, values) {
  return [...values].filter((value) => !set.has(value));
}

function complain(what, ids) {
  if (ids.length === 0) return [];
  return [
    `${ids.length} ${what}: ${ids.slice(0, MAX_NAMED).join(', ')}${ids.length > MAX_NAMED ? ' …' : ''}`,
  ];
}
