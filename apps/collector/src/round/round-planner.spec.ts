import { getEnvironment } from '@retrace/environments';
import { newRunId } from '@retrace/trajectory';
import { expect, it } from 'vitest';
import type { RoundPlanOptions } from './round-plan.js';
import { RoundPlanner } from './round-planner.js';

const next: RoundPlanOptions = {
  runId: newRunId(),
  seed: 1,
  spec: getEnvironment('frozen-lake'),
  split: 'train',
  agent: 'policy',
  trainable: true,
  round: 3,
  numGroups: 2,
  groupSize: 2,
  firstTask: 6,
  firstOrdinal: 12,
};

const groupIds = (episodes: readonly { readonly group: { readonly groupId: string } }[]) =>
  episodes.map(({ group }) => group.groupId);

it('gives a round that was planned ahead once, and plans it anew when it is not the one that was expected', () => {
  const planner = new RoundPlanner();
  planner.planAhead(next);
  planner.planAhead(next);
  const ahead = planner.plan(next);
  const anew = planner.plan(next);
  expect(anew).toHaveLength(4);
  // Group ids are drawn; all else follows from the options.
  expect(groupIds(anew)).not.toEqual(groupIds(ahead));
  expect(anew.map(({ episodeId }) => episodeId)).toEqual(ahead.map(({ episodeId }) => episodeId));

  planner.planAhead(next);
  const other = planner.plan({ ...next, firstOrdinal: 200 });
  expect(other.map(({ episodeId }) => episodeId)).not.toEqual(ahead.map(({ episodeId }) => episodeId));
});
