import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { episodeIdFor, newRunId } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { openStoreWithSink, type StoreWithSink } from '../sink/store-with-sink.contract.js';
import { USER_SQL_LIMITS } from '../user-sql/user-sql-limits.js';

const NUM_GROUPS = 4_096;
const GROUP_SIZE = 16;
/** Of its members all are missing, which a closing at a deadline may say. */
const EMPTY_GROUP = 2;
const LEFT_OUT = new Set([0, 7, NUM_GROUPS - 1]);

describe('views over events of thousands of groups', () => {
  let store: StoreWithSink;
  const runId = newRunId();
  const groupIds = Array.from({ length: NUM_GROUPS }, (_, g) => `round-0/task-${g}`);
  const sizes = groupIds.map((_, g) => (g === EMPTY_GROUP ? 0 : GROUP_SIZE));
  const offsets = new Int32Array(NUM_GROUPS + 1);
  for (const [g, size] of sizes.entries()) offsets[g + 1] = offsets[g] + size;
  const episodeIds = Array.from({ length: offsets[NUM_GROUPS] }, (_, i) =>
    episodeIdFor({ runId, ordinal: i }),
  );
  const numSteps = Int32Array.from(episodeIds, (_, i) => 1 + (i % 50));

  beforeAll(async () => {
    store = await openStoreWithSink();
    const ids = { logId: store.log.logId, runId };
    await store.bring([controlEvent(ids, 'RunStarted'), controlEvent(ids, 'TrainerClaimed', { epoch: 2 })]);
    await store.bring([
      controlEvent(ids, 'GroupsClosed', {
        reason: 'deadline',
        groupIds,
        groupSizes: Int32Array.from(groupIds, () => GROUP_SIZE),
        memberOffsets: offsets,
        episodeIds,
        numSteps,
        policyVersionMin: Int32Array.from(sizes, (size) => (size === 0 ? -1 : 3)),
        policyVersionMax: Int32Array.from(sizes, (size) => (size === 0 ? -1 : 4)),
      }),
    ]);
    const groupOf = sizes.flatMap((size, g) => Array.from({ length: size }, () => g));
    const planned = groupOf.flatMap((g, i) => (LEFT_OUT.has(g) ? [] : [i]));
    await store.bring([
      controlEvent(ids, 'BatchPlanned', {
        groupIds,
        episodeIds: planned.map((i) => episodeIds[i]),
        numSteps: Int32Array.from(planned, (i) => numSteps[i]),
        episodeGroups: Int32Array.from(planned, (i) => groupOf[i]),
        groupRuns: new Int32Array(NUM_GROUPS),
        groupSources: new Int32Array(NUM_GROUPS),
        groupRows: Int32Array.from(groupIds, (_, g) => g),
        groupWeights: new Float64Array(NUM_GROUPS).fill(1),
      }),
    ]);
  });

  afterAll(async () => {
    await store.close();
  });

  /** Within the memory that a user's query has. */
  const read = (sql: string) =>
    store.client.queryRows<Record<string, unknown>>(sql, {
      params: { runId },
      settings: { max_memory_usage: String(USER_SQL_LIMITS.max_memory_usage) },
    });

  it('groups: each has its own members, and the memory of a query does for 4,096 groups of 16', async () => {
    const groups = await read(
      'SELECT group_id, episode_ids, num_steps, policy_version_min FROM groups WHERE run_id = {runId:String}',
    );
    const expected = groupIds.map((group_id, g) => ({
      group_id,
      episode_ids: episodeIds.slice(offsets[g], offsets[g + 1]),
      num_steps: [...numSteps.subarray(offsets[g], offsets[g + 1])],
      policy_version_min: g === EMPTY_GROUP ? -1 : 3,
    }));
    const byId = new Map(groups.map((group) => [group.group_id, group]));
    expect(groupIds.map((id) => byId.get(id))).toEqual(expected);
  });

  it('update_groups: the same groups in a plan, of which three were left out', async () => {
    const leftOut = await read(
      'SELECT group_id FROM update_groups WHERE run_id = {runId:String} AND is_left_out ORDER BY group_id',
    );
    const expected = [...LEFT_OUT, EMPTY_GROUP].map((g) => groupIds[g]).sort();
    expect(leftOut.map(({ group_id }) => group_id)).toEqual(expected);
  });
});
