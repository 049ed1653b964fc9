import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveRecipe, type Recipe } from '@retrace/config';
import { Story } from '../testing/story.js';
import { nextTask, roundAfterUpdate } from './next-task.js';

function recipeWith(...assignments: string[]) {
  return resolveRecipe('frozen-lake-ppo', {
    numUpdates: 3,
    assignments: [
      'collection.groupsPerRound=2',
      'evaluation.everyUpdates=2',
      'evaluation.numTestEpisodes=5',
      ...assignments,
    ],
  });
}

/** A collector and a trainer that take turns in any order; each begins in one turn what it ends in its next. */
class AsynchronousRun {
  stalest = 0;
  private readonly story = new Story().published(0);
  private version = 0;
  private collecting: { readonly round: number; readonly version: number } | null = null;
  private readonly waiting: { readonly id: string; readonly version: number }[] = [];
  private isUpdating = false;

  constructor(private readonly recipe: Recipe) {}

  collect(): void {
    if (this.collecting) {
      const { round, version } = this.collecting;
      for (const id of [`${round}a`, `${round}b`]) {
        this.story.closed(id, { round, policyVersionMin: version, policyVersionMax: version });
        this.waiting.push({ id, version });
      }
      this.collecting = null;
      return;
    }
    const task = nextTask(this.story.run, this.recipe);
    if (task.kind === 'rollOut') this.collecting = { round: task.round, version: this.version };
  }

  train(): void {
    if (this.isUpdating) {
      this.version++;
      this.story.applied(this.version).published(this.version);
      this.isUpdating = false;
      return;
    }
    if (this.waiting.length < 2) return;
    const batch = this.waiting.splice(0, 2);
    for (const { version } of batch) this.stalest = Math.max(this.stalest, this.version - version);
    this.story.planned(
      this.version + 1,
      batch.map(({ id }) => id),
    );
    this.isUpdating = true;
  }
}

describe('nextTask', () => {
  it('waits for the first policy', () => {
    expect(nextTask(new Story().run, recipeWith())).toEqual({ kind: 'wait', reason: 'the first policy' });
  });

  it('rolls out with a policy at once, also where it is due for validation', () => {
    expect(nextTask(new Story().published(0).run, recipeWith())).toEqual({ kind: 'rollOut', round: 0 });
  });

  it('in synchronous mode starts the next round only with the policy trained on the last', () => {
    const story = new Story().published(0).evaluated('validation/success', 0).closed('a').closed('b');
    const recipe = recipeWith();
    expect(nextTask(story.run, recipe)).toMatchObject({ kind: 'wait' });
    story.planned(1, ['a', 'b']);
    expect(nextTask(story.run, recipe)).toMatchObject({ kind: 'wait' });
    story.applied(1);
    expect(nextTask(story.run, recipe)).toMatchObject({ kind: 'wait', reason: 'the next policy' });
    story.published(1);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'rollOut', round: 1 });
  });

  it('collects ahead by the staleness that the recipe allows, and no further', () => {
    const recipe = recipeWith('collection.maxStaleness=1');
    const story = new Story().published(0).evaluated('validation/success', 0).closed('a').closed('b');
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'rollOut', round: 1 });
    story.closed('c', { round: 1 }).closed('d', { round: 1 });
    expect(nextTask(story.run, recipe)).toMatchObject({
      kind: 'wait',
      reason: expect.stringContaining('4 groups'),
    });
    // A round under policy 0 would be trained third, by policy 2.
    story.planned(1, ['a', 'b']);
    expect(nextTask(story.run, recipe)).toMatchObject({ kind: 'wait' });
    story.applied(1).published(1);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'rollOut', round: 2 });
  });

  it.each([0, 1, 2, 3])(
    'never collects what is too stale when its turn comes, with staleness up to %d',
    (most) => {
      fc.assert(
        fc.property(fc.array(fc.boolean(), { minLength: 40, maxLength: 60 }), (turns) => {
          const recipe = recipeWith(`collection.maxStaleness=${most}`, 'evaluation.everyUpdates=0');
          const simulation = new AsynchronousRun({ ...recipe, numUpdates: 100 });
          for (const isTrainersTurn of turns) {
            if (isTrainersTurn) simulation.train();
            else simulation.collect();
          }
          expect(simulation.stalest).toBeLessThanOrEqual(most);
        }),
      );
    },
  );

  it('is not blocked by groups that are too stale to be sampled', () => {
    const story = new Story().published(0).evaluated('validation/success', 0);
    story.closed('a').closed('b').closed('stale').planned(1, ['a', 'b']).applied(1).published(1);
    expect(nextTask(story.run, recipeWith())).toEqual({ kind: 'rollOut', round: 1 });
  });

  it('repeats an abandoned round', () => {
    const story = new Story().published(0).evaluated('validation/success', 0);
    story.closed('a', { reason: 'abandoned', trainable: false, policyVersionMin: -1, policyVersionMax: -1 });
    expect(nextTask(story.run, recipeWith())).toEqual({ kind: 'rollOut', round: 0 });
  });

  it('demonstrates before an imitation stage and waits while it lasts', () => {
    const recipe = recipeWith(
      'imitation={"agent":"expert","numEpisodes":2,"numUpdates":1,"episodesPerUpdate":2,"learningRate":0.001}',
    );
    const story = new Story().published(0).evaluated('validation/success', 0);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'demonstrate' });
    const demonstration = { trainable: false, policyVersionMin: -1, policyVersionMax: -1 };
    story.closed('x', demonstration).closed('y', demonstration);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'wait', reason: 'the imitation stage' });
    story.planned(1, ['x', 'y'], 'imitation').applied(1).published(1);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'rollOut', round: 0 });
  });

  describe('with several collectors', () => {
    const first = { index: 0, count: 2 };
    const second = { index: 1, count: 2 };
    const claimed = (story: Story, shareIndex: number, groupId: string) =>
      story.add('CollectorClaimed', {
        shareIndex,
        numShares: 2,
        split: 'train',
        trainable: true,
        round: 0,
        numGroups: 2,
        places: Int32Array.of(shareIndex),
        groupIds: [groupId],
        groupSize: 1,
        firstOrdinal: story.run.rounds.nextOrdinal,
      });

    it('waits for the others once its part of the round is closed', () => {
      const story = new Story().published(0).evaluated('validation/success', 0);
      claimed(story, 1, 'b');
      story.closed('b');
      expect(nextTask(story.run, recipeWith(), second)).toEqual({
        kind: 'wait',
        reason: 'the other collectors: 1 of 2 groups of round 0 are closed',
      });
      expect(nextTask(story.run, recipeWith(), first)).toEqual({ kind: 'rollOut', round: 0 });
      claimed(story, 0, 'a');
      story.closed('a');
      for (const share of [first, second])
        expect(nextTask(story.run, recipeWith(), share)).toEqual({
          kind: 'wait',
          reason: 'the trainer: 2 groups are not trained yet',
        });
    });
  });

  it('after the last update, or a plateau of the validations, waits for the end of the run, and is finished then', () => {
    const story = new Story().published(3);
    const waits = { kind: 'wait', reason: 'the end of the run' };
    expect(nextTask(story.run, recipeWith())).toEqual(waits);
    story.add('RunEnded', { reason: 'finished', detail: '', numUpdates: 3 });
    expect(nextTask(story.run, recipeWith())).toEqual({ kind: 'finished' });
    const early = new Story().published(0).evaluated('validation/success', 0);
    const recipe = recipeWith('evaluation.earlyStop={"patience":1}');
    expect(nextTask(early.run, recipe)).toEqual({ kind: 'rollOut', round: 0 });
    expect(nextTask(early.evaluated('validation/success', 2).run, recipe)).toEqual(waits);
  });
});

describe('roundAfterUpdate', () => {
  const share = { index: 0, count: 1 };
  const updating = () => new Story().published(0).closed('a').closed('b').planned(1, ['a', 'b']);

  it('is the round that nextTask names once the policy is published', () => {
    const recipe = recipeWith('evaluation.everyUpdates=0');
    const story = updating();
    expect(roundAfterUpdate(story.run, recipe, share)).toBe(1);
    story.applied(1).published(1);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'rollOut', round: 1 });
  });

  it('is none where results may still decide, or where the update is the last', () => {
    const { run } = updating();
    for (const assignment of [
      'collection.maxStaleness=1',
      'sampler.rule=fifo',
      'evaluation.earlyStop={"patience":3}',
    ]) {
      expect(roundAfterUpdate(run, recipeWith(assignment), share)).toBeNull();
    }
    expect(roundAfterUpdate(run, { ...recipeWith(), numUpdates: 1 }, share)).toBeNull();
    expect(roundAfterUpdate(run, recipeWith(), { index: 0, count: 2 })).toBeNull();
    expect(roundAfterUpdate(new Story().run, recipeWith(), share)).toBeNull();
  });
});
