import { ControlFold, type AnyEvent, type ControlEventKind, type PayloadOf } from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { describe, expect, it } from 'vitest';
import { keptCheckpoints, neededPolicies } from './kept-checkpoints.js';

const RUN_ID = '01936d00-0000-7000-8000-00000000000a';

/** A run whose files are named by version: weights `w3`, optimizer state `o3`. */
class RecordedRun {
  private readonly log = new ControlFold();

  constructor(recipe: PayloadOf<'RunStarted'>['recipe']) {
    this.append('RunStarted', { recipe });
    this.append('TrainerClaimed', { epoch: 0 });
    this.publish(0);
  }

  train(numUpdates: number): this {
    for (let n = 0; n < numUpdates; n++) {
      const updateNumber = (this.state.updates.lastUpdate?.updateNumber ?? 0) + 1;
      const common = { planId: `plan ${updateNumber}`, updateNumber, epoch: 0 };
      this.append('BatchPlanned', { ...common, groupIds: [] });
      const optimizer = { sha256: `o${updateNumber}`, sizeBytes: 1 };
      this.append('UpdateApplied', { ...common, policyVersionOut: updateNumber, optimizer });
      this.publish(updateNumber);
    }
    return this;
  }

  validate(policyVersion: number, success: number): this {
    const values = Float64Array.of(success);
    this.append('MetricsLogged', {
      source: 'evaluation',
      step: policyVersion,
      names: ['validation/success'],
      values,
    });
    return this;
  }

  weights(): string[] {
    return [...new Set(keptCheckpoints(this.state).weights.map(({ sha256 }) => sha256))];
  }

  optimizers(): string[] {
    return keptCheckpoints(this.state).optimizers.map(({ sha256 }) => sha256);
  }

  /** Versions that some process will load. */
  needed(): number[] {
    return neededPolicies(this.state).map(({ policyVersion }) => policyVersion);
  }

  end(): this {
    this.append('RunEnded', {});
    return this;
  }

  private get state() {
    const run = this.log.run(RUN_ID);
    if (!run) throw new Error('the run has not started');
    return run;
  }

  private publish(updateNumber: number): void {
    const weights = { sha256: `w${updateNumber}`, sizeBytes: 1 };
    const parentVersion = updateNumber === 0 ? null : updateNumber - 1;
    this.append('PolicyPublished', {
      policyVersion: updateNumber,
      parentVersion,
      updateNumber,
      epoch: 0,
      weights,
    });
  }

  private append<K extends ControlEventKind>(kind: K, payload: Partial<PayloadOf<K>>): void {
    const event = controlEvent({ logId: '', runId: RUN_ID }, kind, payload);
    expect(this.log.apply(event as AnyEvent, this.log.nextOffset)).toEqual({ applied: true });
  }
}

const weights = { keepLast: 2, keepBest: 0, keepEvery: 5 };
const states = { keepLast: 2, keepEvery: 100 };

describe('the weights that a run keeps', () => {
  it('are those of the newest versions, of every n-th, and of kept optimizer states', () => {
    const run = new RecordedRun({ checkpoint: { weights, keepLast: 3, keepEvery: 7 } }).train(11);
    expect(run.optimizers()).toEqual(['o7', 'o9', 'o10', 'o11']);
    expect(run.weights()).toEqual(['w0', 'w5', 'w7', 'w9', 'w10', 'w11']);
  });

  it('are those of the versions with the best validation, of equal ones the newer; NaN is never the best', () => {
    const checkpoint = { weights: { ...weights, keepBest: 2, keepEvery: 100 }, ...states };
    const run = new RecordedRun({ checkpoint }).train(9);
    run.validate(1, 0.5).validate(2, 0.9).validate(3, 0.5).validate(4, NaN);
    expect(run.weights()).toEqual(['w0', 'w2', 'w3', 'w8', 'w9']);
    run.validate(5, 0.7);
    expect(run.weights()).toEqual(['w0', 'w2', 'w5', 'w8', 'w9']);
    // Validated again, after a restart: what was removed for the first result can't come back.
    run.validate(2, 0.1);
    expect(run.weights()).toEqual(['w0', 'w2', 'w5', 'w8', 'w9']);
  });

  it('include a version whose validation has not come yet, and let it go afterwards', () => {
    const recipe = {
      checkpoint: { weights: { ...weights, keepEvery: 100 }, ...states },
      evaluation: { everyUpdates: 3 },
    };
    const run = new RecordedRun(recipe).validate(0, 0.5).train(10).validate(3, 0.5);
    expect(run.weights()).toEqual(['w0', 'w6', 'w9', 'w10']);
    run.validate(6, 0.5);
    expect(run.weights()).toEqual(['w0', 'w9', 'w10']);
  });

  it('need no first version for a validation that evaluation.beforeTraining leaves out', () => {
    const checkpoint = { weights: { ...weights, keepEvery: 100 }, ...states };
    const needed = (beforeTraining: boolean) =>
      new RecordedRun({ checkpoint, evaluation: { everyUpdates: 3, numTestEpisodes: 0, beforeTraining } })
        .train(10)
        .needed();
    expect(needed(true)).toEqual([0, 3, 6, 9, 10]);
    expect(needed(false)).toEqual([3, 6, 9, 10]);
  });

  it('include the reference of a KL term or of preferences, which comes after imitation', () => {
    const checkpoint = { weights: { ...weights, keepEvery: 100 }, ...states };
    const withKl = { checkpoint, loss: { kl: { coefficient: 0.1 } }, imitation: { numUpdates: 4 } };
    expect(new RecordedRun(withKl).train(9).weights()).toContain('w4');
    const recordedBefore = { ...withKl, loss: { klCoefficient: 0.1 } };
    expect(new RecordedRun(recordedBefore).train(9).weights()).toContain('w4');
    const without = { ...withKl, loss: { kl: { coefficient: 0 } } };
    expect(new RecordedRun(without).train(9).weights()).not.toContain('w4');
    const preference = { loss: 'dpo', beta: 0.1 };
    expect(new RecordedRun({ ...without, preference }).train(9).weights()).toContain('w4');
  });

  it('include as many of the newest as collectors may lag behind', () => {
    const recipe = {
      checkpoint: { weights: { ...weights, keepEvery: 100 }, ...states },
      collection: { maxStaleness: 3 },
    };
    expect(new RecordedRun(recipe).train(9).weights()).toEqual(['w0', 'w5', 'w6', 'w7', 'w8', 'w9']);
  });

  it('are all where the recipe says nothing of weights', () => {
    expect(new RecordedRun({ checkpoint: states }).train(4).weights()).toEqual([
      'w0',
      'w1',
      'w2',
      'w3',
      'w4',
    ]);
    expect(new RecordedRun({}).train(2).optimizers()).toEqual(['o1', 'o2']);
  });
});

describe('the policies that some process will load', () => {
  const recipe = {
    checkpoint: { weights: { ...weights, keepBest: 1, keepEvery: 100 }, ...states },
    evaluation: { everyUpdates: 3, numTestEpisodes: 10 },
    ...{ loss: { kl: { coefficient: 0.1 } }, imitation: { numUpdates: 4 } },
  };
  const trained = (of: object) =>
    new RecordedRun({ ...recipe, ...of }).train(10).validate(0, 0.5).validate(3, 0.9).validate(6, 0.5);

  it('are the newest, those that wait for their validation, the one to test and the reference', () => {
    expect(trained({}).needed()).toEqual([3, 4, 9, 10]);
    expect(trained({ loss: { kl: null } }).needed()).toEqual([3, 9, 10]);
    expect(trained({ collection: { maxStaleness: 2 } }).needed()).toEqual([3, 4, 7, 8, 9, 10]);
  });

  it('are none that is not kept, and none once the run has ended', () => {
    const checkpoint = { weights: { ...weights, keepBest: 0, keepEvery: 100 }, ...states };
    expect(trained({ checkpoint }).needed()).toEqual([4, 9, 10]);
    expect(trained({}).end().needed()).toEqual([]);
  });
});
