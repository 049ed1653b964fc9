import { resolveRecipe } from '@retrace/config';
import type { ControlFold } from '@retrace/trajectory';
import { expect, it } from 'vitest';
import { recipeOfSource, runOfSource } from './stored-source.js';

const RUN_ID = '0198c0de-0000-7000-8000-00000000aaaa';
const recipe = JSON.parse(JSON.stringify(resolveRecipe('frozen-lake-imitation'))) as object;
const state = { runs: [{ runId: RUN_ID, started: { runKind: 'trained', recipe } }] } as never as ControlFold;

it('the recipe of a stored source is that of its run, alone on the source, with every option that changes a recipe', () => {
  const made = recipeOfSource(state, { from: 'run', run: RUN_ID }, RUN_ID, (own) => ({
    ...{ seed: 7, numUpdates: 9, algorithm: 'filtered-imitation' },
    assignments: [...own, 'collection.temperature=0.5'],
  }));
  expect(made).toMatchObject({
    ...{ name: 'frozen-lake-imitation', imitation: null, seed: 7, numUpdates: 9 },
    advantage: { estimator: 'topReturns' },
    loss: { policyLoss: 'gpg' },
    collection: { temperature: 0.5 },
    data: { sources: [{ from: 'run', run: RUN_ID }] },
  });
});

it('latest is the newest run with groups to train on, not one that trained on stored episodes since', async () => {
  const runs = [RUN_ID, 'trained-on-it'].map((runId) => ({
    runId,
    started: { name: 'imitation', runKind: 'trained', recipe },
  }));
  const of = (withGroups: readonly string[]) => {
    const client = { queryRows: () => Promise.resolve(withGroups.map((run_id) => ({ run_id }))) };
    const sources = { session: { client } as never, state: { runs } as never };
    return runOfSource({ from: 'run', run: 'latest' }, sources);
  };
  expect(await of([RUN_ID])).toBe(RUN_ID);
  expect(await of([RUN_ID, 'trained-on-it'])).toBe('trained-on-it');
  await expect(of([])).rejects.toMatchObject({ code: 'RUN_UNKNOWN' });
});
