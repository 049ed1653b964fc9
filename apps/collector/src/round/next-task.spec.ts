import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveRecipe, type Recipe } from '@retrace/config';
import {
  RunState,
  type AnyEvent,
  type ControlEventKind,
  closeTogether,
  type ClosedGroup,
  type PayloadOf,
  type RetraceEvent,
} from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { nextTask } from './next-task.js';

const RUN_ID = '01900000-0000-7000-8000-000000000001';
const file = { sha256: 'a'.repeat(64), sizeBytes: 1 };

/** A run whose control events are applied one after the other. */
class Story {
  readonly run: RunState;
  private offset = 0;

  constructor() {
    this.run = new RunState(this.event('RunStarted', {}), {
      maxTimesSampled: (group) => (group.trainable ? 1 : Number.POSITIVE_INFINITY),
    });
    this.add('TrainerClaimed', { epoch: 0, trainerId: 't' });
  }

  add<K extends ControlEventKind>(kind: K, payload: PayloadOf<K>): this {
    expect(this.run.apply(this.event(kind, payload) as AnyEvent, ++this.offset)).toEqual({ applied: true });
    return this;
  }

  published(policyVersion: number, updateNumber = policyVersion): this {
    return this.add('PolicyPublished', {
      policyVersion,
      parentVersion: policyVersion === 0 ? null : policyVersion - 1,
      updateNumber,
      epoch: 0,
      weights: file,
      modelHash: '',
    });
  }

  closed(groupId: string, overrides: Partial<ClosedGroup> = {}): this {
    const group: ClosedGroup = {
      groupId,
      round: 0,
      split: 'train',
      reason: 'complete',
      groupSize: 1,
      episodeIds: [groupId],
      numSteps: Int32Array.of(1),
      policyVersionMin: 0,
      policyVersionMax: 0,
      trainable: true,
      ...overrides,
    };
    return this.add('GroupsClosed', closeTogether([group]));
  }

  planned(updateNumber: number, groupIds: string[], stage: 'policy' | 'imitation' = 'policy'): this {
    return this.add('BatchPlanned', {
      planId: `plan-${updateNumber}`,
      epoch: 0,
      updateNumber,
      stage,
      policyVersionIn: updateNumber - 1,
      rewardVersion: '',
      recipeHash: '',
      groupIds,
      episodeIds: groupIds,
      numSteps: Int32Array.from(groupIds, () => 1),
      samplerState: null,
      seed: 1,
    });
  }

  applied(updateNumber: number): this {
    return this.add('UpdateApplied', {
      planId: `plan-${updateNumber}`,
      epoch: 0,
      updateNumber,
      policyVersionOut: updateNumber,
      weights: file,
      optimizer: file,
      episodeRewards: null,
      trainerState: null,
      metricNames: [],
      metricValues: new Float64Array(0),
    });
  }

  evaluated(name: string, step: number): this {
    return this.add('MetricsLogged', {
      source: 'evaluation',
      step,
      names: [name],
      values: Float64Array.of(0.5),
    });
  }

  private event<K extends ControlEventKind>(kind: K, payload: Partial<PayloadOf<K>>): RetraceEvent<K> {
    return controlEvent({ logId: '', runId: RUN_ID }, kind, payload);
  }
}

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

  it('validates a due policy before it rolls out with it', () => {
    const story = new Story().published(0);
    expect(nextTask(story.run, recipeWith())).toEqual({ kind: 'validate', policyVersion: 0 });
    story.evaluated('validation/success', 0);
    expect(nextTask(story.run, recipeWith())).toEqual({ kind: 'rollOut', round: 0 });
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

    it('lets the first alone evaluate, while the others roll out', () => {
      const { run } = new Story().published(0);
      expect(nextTask(run, recipeWith(), first)).toEqual({ kind: 'validate', policyVersion: 0 });
      expect(nextTask(run, recipeWith(), second)).toEqual({ kind: 'rollOut', round: 0 });
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

    it('leaves the end of the run to the first', () => {
      const { run } = new Story()
        .published(3)
        .evaluated('validation/success', 3)
        .evaluated('test/success', 3);
      expect(nextTask(run, recipeWith(), first)).toEqual({ kind: 'endRun' });
      expect(nextTask(run, recipeWith(), second)).toMatchObject({ kind: 'wait' });
    });
  });

  it('after the last update validates, tests, ends the run, and is finished', () => {
    const recipe = recipeWith();
    const story = new Story().published(3);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'validate', policyVersion: 3 });
    story.evaluated('validation/success', 3);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'test', policyVersion: 3 });
    story.evaluated('test/success', 3);
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'endRun' });
    story.add('RunEnded', { reason: 'finished', detail: '', numUpdates: 3 });
    expect(nextTask(story.run, recipe)).toEqual({ kind: 'finished' });
  });
});
