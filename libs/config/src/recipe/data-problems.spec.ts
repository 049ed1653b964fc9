import { describe, expect, it } from 'vitest';
import { requestHash } from '../resolve/recipe-hash.js';
import { resolveRecipe } from '../resolve/resolve-recipe.js';
import { collectsForTraining, needsCollector, needsValidator } from './data-problems.js';

const recipe = (...assignments: readonly string[]) => resolveRecipe('frozen-lake-grpo', { assignments });
const source = (...sources: readonly object[]) => `data=${JSON.stringify({ sources })}`;
const QUERY = { from: 'query', query: 'SELECT run_id, episode_id FROM episodes' };
const LIMITER = { samplesPerInsert: 2, minDiff: 0, maxDiff: 192 };
const sampler = (fields: object) => `sampler=${JSON.stringify(fields)}`;

describe('sources of data', () => {
  it('are the run itself, where a recipe names none', () => {
    expect(collectsForTraining(recipe())).toBe(true);
    const stored = recipe(source(QUERY));
    expect([collectsForTraining(stored), needsCollector(stored), needsValidator(stored)]).toEqual([
      false,
      false,
      true,
    ]);
    const unplayed = recipe(source(QUERY), 'evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0');
    expect([needsCollector(unplayed), needsValidator(unplayed)]).toEqual([false, false]);
  });

  it('have one request hash, whatever their data was when a run began', () => {
    const contents = (hash: string) => ({
      ...QUERY,
      contents: { dataset: 'episodes-1', contentHash: hash.repeat(64), numEpisodes: 8, numGroups: 2 },
    });
    expect(requestHash(recipe(source(contents('a'))))).toBe(requestHash(recipe(source(QUERY))));
    expect(requestHash(recipe(source({ ...QUERY, share: 2 })))).not.toBe(requestHash(recipe(source(QUERY))));
  });

  it('are of one request with a place of assigned rewards that the run filled in, and of two with places that were asked for', () => {
    const until = (offset: number) => `01900000-0000-7000-8000-000000000000 0:${offset}`;
    const hash = (component: object) => {
      const components = [{ reward: 'assigned', ...component }];
      return requestHash(recipe(source(QUERY), `reward.components=${JSON.stringify(components)}`));
    };
    const asked = hash({ options: { name: 'liked' } });
    const filledIn = (offset: number) =>
      hash({ options: { name: 'liked', until: until(offset) }, isUntilFilledIn: true });
    expect([filledIn(7), filledIn(8)]).toEqual([asked, asked]);
    const [at7, at8] = [7, 8].map((offset) => hash({ options: { name: 'liked', until: until(offset) } }));
    expect(new Set([asked, at7, at8]).size).toBe(3);
  });

  it.each([
    [[source({ from: 'query' })], '"data.sources.0.query" is required where data.sources.0.from is "query"'],
    [
      [source({ ...QUERY, run: 'x' })],
      'data.sources.0.run: got "x", must be absent where data.sources.0.from is "query"',
    ],
    [[source({ from: 'own' }, { from: 'own' })], 'data.sources: got "own" more than once'],
    [
      [source(QUERY), 'loss.rolloutCorrection={"proximal":"interpolated"}'],
      'the policies of other runs are no versions of this one',
    ],
  ])('refuses %s', (assignments, message) => {
    expect(() => recipe(...assignments)).toThrow(message);
  });
});

describe('a sampler', () => {
  it('may have a limiter with the least room that never blocks both sides', () => {
    // 64 groups a round: 2 · 64 + 64.
    const asked = sampler({ rule: 'uniform', maxTimesSampled: 4, limiter: LIMITER });
    expect(recipe('collection.maxStaleness=4', asked).sampler?.limiter).toMatchObject(LIMITER);
  });

  it.each([
    [
      { rule: 'fifo', priorityExponent: 1 },
      'sampler.priorityExponent: got 1, must be absent where sampler.rule is "fifo"',
    ],
    [{ rule: 'prioritized', priority: 'loss' }, 'must be absoluteAdvantage, tdError or an object with "sql"'],
    [{ rule: 'prioritized', priority: 'tdError' }, 'there is no critic that could err'],
    [
      { rule: 'fifo', curriculum: {} },
      'sampler.curriculum: got {}, must be absent where sampler.rule is "fifo", whose order leaves nothing to favor',
    ],
    [{ rule: 'fifo', maxResamplings: 2 }, 'sampler.maxResamplings: got 2, must be absent'],
    [{ rule: 'uniform', maxTimesSampled: 2 }, 'after one update a group is stale'],
    [
      { rule: 'uniform', limiter: { ...LIMITER, samplesPerInsert: 1, maxDiff: 127 } },
      'must be at least minDiff + 128',
    ],
    [{ rule: 'uniform', limiter: LIMITER }, 'must be at most sampler.maxTimesSampled, 1'],
  ])('refuses %o', (fields, message) => {
    expect(() => recipe(sampler(fields))).toThrow(message);
  });
});
