import {
  closeTogether,
  OWN_GROUPS_ONLY,
  RunState,
  type AnyEvent,
  type ClosedGroup,
  type ControlEventKind,
  type PayloadOf,
  type RetraceEvent,
} from '@retrace/trajectory';
import { controlEvent } from '@retrace/trajectory/testing';
import { expect } from 'vitest';

const RUN_ID = '01900000-0000-7000-8000-000000000001';
const file = { sha256: 'a'.repeat(64), sizeBytes: 1 };

/** A run whose control events are applied one after the other. */
export class Story {
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
      location: '',
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
      ...OWN_GROUPS_ONLY,
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
      groupPriorities: null,
      engine: null,
      trainerState: null,
      metricNames: [],
      metricValues: new Float64Array(0),
    });
  }

  evaluated(name: string, step: number, value = 0.5): this {
    const values = Float64Array.of(value);
    return this.add('MetricsLogged', { source: 'evaluation', step, names: [name], values });
  }

  private event<K extends ControlEventKind>(kind: K, payload: Partial<PayloadOf<K>>): RetraceEvent<K> {
    return controlEvent({ logId: '', runId: RUN_ID }, kind, payload);
  }
}
