import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyEvent, ControlEventKind, PayloadOf } from '../../events/event.js';
import { sampleControlEvent } from '../../testing/sample-events.js';
import { closeTogether, closedGroups, type ClosedGroup } from './closed-group.js';
import { ControlFold } from './control-fold.js';
import { OWN_GROUPS_ONLY } from './planned-runs.js';
import type { Applied, RunState, RunStateOptions } from './run-state.js';

/** Applies events at offsets 0, 1, 2 … and hands out what came of each. */
class Log {
  readonly fold: ControlFold;
  readonly outcomes: Applied[] = [];
  private nextId = 1;

  constructor(options?: RunStateOptions) {
    this.fold = new ControlFold(options);
    this.append('RunStarted', {});
  }

  get run(): RunState {
    return this.fold.runs[0];
  }

  append<K extends ControlEventKind>(kind: K, payload: Partial<PayloadOf<K>>): Applied {
    const eventId = `01936d00-0000-7000-8000-${String(this.nextId++).padStart(12, '0')}`;
    return this.apply({ ...sampleControlEvent(kind, payload), eventId } as AnyEvent);
  }

  apply(event: AnyEvent): Applied {
    const outcome = this.fold.apply(event, this.fold.nextOffset);
    this.outcomes.push(outcome);
    return outcome;
  }

  plan(n: number, epoch: number, groupIds: readonly string[] = []): Applied {
    return this.append('BatchPlanned', {
      ...OWN_GROUPS_ONLY,
      planId: planId(n),
      updateNumber: n,
      epoch,
      groupIds,
    });
  }

  commit(n: number, epoch: number): Applied {
    return this.append('UpdateApplied', {
      planId: planId(n),
      updateNumber: n,
      epoch,
      policyVersionOut: n + 1,
    });
  }

  publish(policyVersion: number, parentVersion: number | null, epoch = 0): Applied {
    return this.append('PolicyPublished', { policyVersion, parentVersion, epoch });
  }
}

function planId(n: number): string {
  return `01936d00-0000-7000-8000-${String(900_000 + n).padStart(12, '0')}`;
}

const applied = { applied: true };
const refused = (reason: string): unknown => ({ applied: false, reason });

describe('claims', () => {
  it('gives an epoch to its first claim in log order', () => {
    const log = new Log();
    log.append('TrainerClaimed', { epoch: 1, trainerId: 'a' });
    expect(log.append('TrainerClaimed', { epoch: 1, trainerId: 'b' })).toEqual(refused('staleEpoch'));
    expect(log.run.updates.claim).toMatchObject({ epoch: 1, trainerId: 'a' });
  });

  it('discards plans, commits and publications of a stale epoch', () => {
    const log = new Log();
    log.append('TrainerClaimed', { epoch: 1, trainerId: 'a' });
    expect(log.plan(0, 1)).toEqual(applied);
    log.append('TrainerClaimed', { epoch: 2, trainerId: 'b' });
    expect(log.plan(1, 1)).toEqual(refused('staleEpoch'));
    expect(log.commit(0, 1)).toEqual(refused('staleEpoch'));
    expect(log.publish(1, null, 1)).toEqual(refused('staleEpoch'));
    expect(log.run.updates).toMatchObject({ numUpdates: 0, pendingPlans: [{ updateNumber: 0 }] });
    expect(log.run.policies.latest).toBeNull();
  });

  it('accepts nothing before the first claim', () => {
    expect(new Log().plan(0, 0)).toEqual(refused('staleEpoch'));
  });
});

describe('plans and commits', () => {
  it('keeps a plan pending until its commit, through a new claim', () => {
    const log = new Log();
    log.append('TrainerClaimed', { epoch: 1 });
    log.plan(0, 1, ['g0']);
    log.append('TrainerClaimed', { epoch: 2 });
    expect(log.run.updates.pendingPlans).toMatchObject([{ updateNumber: 0, epoch: 1 }]);
    expect(log.commit(0, 2)).toEqual(applied);
    expect(log.run.updates.pendingPlans).toEqual([]);
    expect(log.run.updates.numUpdates).toBe(1);
    expect(log.run.updates.lastUpdate).toMatchObject({ updateNumber: 0, policyVersionOut: 1 });
  });

  it('applies a retried plan or commit once', () => {
    const log = new Log();
    log.append('TrainerClaimed', { epoch: 1 });
    log.plan(0, 1, ['g0']);
    expect(log.plan(0, 1, ['g0'])).toEqual(refused('duplicate'));
    log.commit(0, 1);
    expect(log.commit(0, 1)).toEqual(refused('duplicate'));
    expect(log.plan(0, 1, ['g0'])).toEqual(refused('duplicate'));
    expect(log.run.updates.numUpdates).toBe(1);
  });

  it('refuses a commit without its plan, and a second plan for an update', () => {
    const log = new Log();
    log.append('TrainerClaimed', { epoch: 1 });
    expect(log.commit(5, 1)).toEqual(refused('unknownPlan'));
    log.plan(5, 1);
    const other = log.append('BatchPlanned', { planId: planId(77), updateNumber: 5, epoch: 1, groupIds: [] });
    expect(other).toEqual(refused('conflict'));
  });
});

describe('groups', () => {
  const [sampleGroup] = closedGroups(sampleControlEvent('GroupsClosed').payload);
  const group = (groupId: string, change: Partial<ClosedGroup> = {}): ClosedGroup => ({
    ...sampleGroup,
    groupId,
    ...change,
  });
  const close = (log: Log, groupId: string, change: Partial<ClosedGroup> = {}): Applied =>
    log.append('GroupsClosed', closeTogether([group(groupId, change)]));

  it('offers closed groups in log order until a plan takes them', () => {
    const log = new Log();
    log.append('TrainerClaimed', { epoch: 1 });
    ['g0', 'g1', 'g2'].forEach((groupId) => close(log, groupId));
    log.plan(0, 1, ['g1']);
    expect([...log.run.groups.all()].map(({ groupId }) => groupId)).toEqual(['g0', 'g2']);
    expect(log.run.groups.hasClosed('g1')).toBe(true);
    const maySample = ['g0', 'g1', 'open'].map((groupId) => log.run.groups.maySample(groupId));
    expect(maySample).toEqual([true, false, true]);
  });

  it('are closed by one event as by several', () => {
    const groups = [group('g0', { numSteps: Int32Array.of(3, 5) }), group('g1', { policyVersionMax: 9 })];
    const together = closeTogether(groups);
    expect(closedGroups(together)).toEqual(groups);
    const log = new Log();
    log.append('GroupsClosed', together);
    expect([...log.run.groups.all()]).toMatchObject(groups);
    expect(log.append('GroupsClosed', together)).toEqual(refused('duplicate'));
    expect(log.append('GroupsClosed', closeTogether([groups[1], group('g2')]))).toEqual(applied);
    expect([...log.run.groups.all()].map(({ groupId }) => groupId)).toEqual(['g0', 'g1', 'g2']);
  });

  it('offers a group until it is in as many plans as the limit', () => {
    const log = new Log({ maxTimesSampled: () => 2 });
    log.append('TrainerClaimed', { epoch: 1 });
    close(log, 'g0');
    log.plan(0, 1, ['g0']);
    expect([...log.run.groups.all()]).toMatchObject([{ groupId: 'g0', numPlans: 1 }]);
    expect(log.plan(0, 1, ['g0'])).toEqual(refused('duplicate'));
    expect([...log.run.groups.all()]).toMatchObject([{ groupId: 'g0', numPlans: 1 }]);
    log.plan(1, 1, ['g0']);
    expect([...log.run.groups.all()]).toEqual([]);
  });

  it('never offers validation groups or abandoned groups', () => {
    const log = new Log();
    close(log, 'v', { split: 'validation' });
    close(log, 'a', { reason: 'abandoned' });
    expect([...log.run.groups.all()]).toEqual([]);
    expect([log.run.hasClosed('v'), log.run.hasClosed('a')]).toEqual([true, true]);
  });

  it('counts a group once however often it is closed, also after it was used', () => {
    const log = new Log();
    log.append('TrainerClaimed', { epoch: 1 });
    close(log, 'g0', { round: 4 });
    log.plan(0, 1, ['g0']);
    expect(close(log, 'g0', { round: 4 })).toEqual(refused('duplicate'));
    expect([...log.run.groups.all()]).toEqual([]);
    expect(log.run.groups.lastRound).toBe(4);
  });

  it('forgets a group for this reader only', () => {
    const log = new Log();
    close(log, 'g0');
    log.run.groups.forget('g0');
    log.run.groups.forget('g0');
    expect([...log.run.groups.all()]).toEqual([]);
    expect(log.run.groups.numForgotten).toBe(1);
  });
});

describe('the sampling ledger', () => {
  const [sampleGroup] = closedGroups(sampleControlEvent('GroupsClosed').payload);
  const inserted = (log: Log, ...groupIds: readonly string[]): Applied =>
    log.append('GroupsClosed', closeTogether(groupIds.map((groupId) => ({ ...sampleGroup, groupId }))));
  const started = (options?: RunStateOptions): Log => {
    const log = new Log(options);
    log.append('TrainerClaimed', { epoch: 1 });
    return log;
  };
  /** A plan of two own groups and of rows 4 and 9 of source 1, of which the last has no episode in it. */
  const mixed: Partial<PayloadOf<'BatchPlanned'>> = {
    planId: planId(3),
    updateNumber: 3,
    epoch: 1,
    stage: 'policy',
    groupIds: ['g0', 'g1', 'g0', 'h'],
    episodeIds: [],
    groupRuns: Int32Array.of(0, 0, 1, 1),
    groupSources: Int32Array.of(0, 0, 1, 1),
    groupRows: Int32Array.of(-1, -1, 4, 9),
    episodeGroups: Int32Array.of(0, 1, 2, 2),
  };

  it('counts inserts, samples and groups of each source, and keeps groups of other runs apart', () => {
    const log = started({ maxTimesSampled: () => 2 });
    inserted(log, 'g0', 'g1', 'g2');
    log.append('BatchPlanned', mixed);
    expect(log.append('BatchPlanned', mixed)).toEqual(refused('duplicate'));
    const { sampling, groups } = log.run;
    expect([sampling.numInserted, sampling.numSampled]).toEqual([3, 2]);
    expect([0, 1, 2].map((source) => sampling.numGiven(source))).toEqual([2, 1, 0]);
    expect([0, 4, 9, 99].map((row) => sampling.rowsOf(1).numPlans(row))).toEqual([0, 1, 1, 0]);
    expect([...groups.all()].map(({ groupId, numPlans }) => [groupId, numPlans])).toEqual([
      ['g0', 1],
      ['g1', 1],
      ['g2', 0],
    ]);
  });

  it('keeps the priorities that a commit gives, and leaves those that it does not know', () => {
    const log = started({ maxTimesSampled: () => 2 });
    inserted(log, 'g0', 'g1', 'g2');
    log.append('BatchPlanned', mixed);
    log.append('UpdateApplied', {
      planId: planId(3),
      updateNumber: 3,
      epoch: 1,
      groupPriorities: Float64Array.of(0.5, NaN, 2, 3),
    });
    const rows = log.run.sampling.rowsOf(1);
    expect([rows.priority(4), rows.priority(9), rows.priority(5), rows.highestPriority]).toEqual([
      2,
      3,
      null,
      3,
    ]);
    expect([...log.run.groups.all()].map(({ priority }) => priority)).toEqual([0.5, null, null]);
  });

  it('credits the samples that discarded groups would have given, once', () => {
    const log = started({ maxTimesSampled: () => 4 });
    inserted(log, 'g0', 'g1', 'g2');
    log.plan(1, 1, ['g0']);
    const discarded = { groupIds: ['g0', 'g1'], reason: 'zeroVariance', updateNumber: 2 } as const;
    expect(log.append('GroupsDiscarded', discarded)).toEqual(applied);
    expect(log.append('GroupsDiscarded', discarded)).toEqual(refused('duplicate'));
    // At three samples a group: g0 would have given two more, g1 three.
    expect(log.run.sampling.numCredited(3)).toBe(5);
    expect(log.run.sampling.numDiscards).toBe(1);
    expect([...log.run.groups.all()].map(({ groupId }) => groupId)).toEqual(['g2']);
    log.commit(1, 1);
    log.plan(2, 1, ['g2']);
    expect(log.run.sampling.numDiscards).toBe(0);
  });

  it('counts the groups that were discarded as too stale, once', () => {
    const log = started({ maxTimesSampled: () => 4 });
    inserted(log, 'g0', 'g1', 'g2');
    const discarded = { groupIds: ['g0', 'g1'], reason: 'tooStale', updateNumber: 2 } as const;
    log.append('GroupsDiscarded', discarded);
    log.append('GroupsDiscarded', discarded);
    log.append('GroupsDiscarded', { groupIds: ['g2'], reason: 'zeroVariance', updateNumber: 2 });
    expect(log.run.sampling.numTooStale).toBe(2);
  });
});

describe('staleness', () => {
  const log = new Log();
  log.append('TrainerClaimed', { epoch: 0 });
  // 0 ← 1 ← 2 ← 5 is the chain of the latest; 3 and 4 branched off from 1.
  for (const [version, parent] of [
    [0, null],
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 3],
    [5, 2],
  ] as const)
    log.publish(version, parent);

  it.each([
    [5, 5, 0],
    [2, 5, 1],
    [0, 5, 3],
    [1, 4, 2],
  ])('of version %i against %i is %i along the parent chain', (behavior, current, expected) => {
    expect(log.run.policies.staleness(behavior, current)).toBe(expected);
  });

  it.each([
    ['a version of another branch', 4, 5],
    ['a later version', 5, 2],
    ['no policy of this run', -1, 5],
    ['an unknown current version', 0, 9],
  ])('is null for %s', (_title, behavior, current) => {
    expect(log.run.policies.staleness(behavior, current)).toBeNull();
  });

  it('counts against the latest publication', () => {
    expect(log.run.stalenessOf(1)).toBe(2);
    expect(log.publish(5, 2)).toEqual(refused('duplicate'));
    expect(new Log().run.stalenessOf(0)).toBeNull();
  });
});

describe('runs', () => {
  it('ends a run, and a later claim resumes it', () => {
    const log = new Log();
    log.append('RunEnded', { reason: 'stopped' });
    expect(log.run.ended).toMatchObject({ reason: 'stopped' });
    expect(log.run.endBeforeClaim).toBeNull();
    log.append('TrainerClaimed', { epoch: 1 });
    expect(log.run.ended).toBeNull();
    expect(log.run.endBeforeClaim).toMatchObject({ reason: 'stopped' });
    // A trainer that died before it did anything leaves that as it was.
    log.append('TrainerClaimed', { epoch: 2 });
    expect(log.run.endBeforeClaim).toMatchObject({ reason: 'stopped' });
  });

  it('leaves a recorded run ended, whatever trainer outside goes on with its episodes', () => {
    const fold = new ControlFold();
    const started = sampleControlEvent('RunStarted', { runKind: 'recorded' });
    const events = [
      started,
      sampleControlEvent('RunEnded', { reason: 'finished' }),
      sampleControlEvent('TrainerClaimed', { epoch: 1 }),
      sampleControlEvent('BatchPlanned', { ...OWN_GROUPS_ONLY, epoch: 1 }),
    ];
    events.forEach((event, offset) => expect(fold.apply(event, offset)).toEqual(applied));
    expect(fold.runs[0].ended).toMatchObject({ reason: 'finished' });
    expect(fold.runs[0].updates.pendingPlans).toHaveLength(1);
  });

  it('keeps the last value of every metric', () => {
    const log = new Log();
    log.append('MetricsLogged', {
      source: 'trainer',
      step: 1,
      names: ['a', 'b'],
      values: Float64Array.of(1, 2),
    });
    log.append('MetricsLogged', { source: 'trainer', step: 2, names: ['a'], values: Float64Array.of(3) });
    log.append('MetricsLogged', { source: 'collector', step: 9, names: ['a'], values: Float64Array.of(4) });
    expect(log.run.metric('trainer', 'a')).toMatchObject({ step: 2, value: 3 });
    expect(log.run.metrics.map(({ source, name, value }) => [source, name, value])).toEqual([
      ['trainer', 'a', 3],
      ['trainer', 'b', 2],
      ['collector', 'a', 4],
    ]);
  });

  it('refuses events of unknown runs, and offsets that it has applied', () => {
    const fold = new ControlFold();
    expect(fold.apply(sampleControlEvent('LogOpened'), 0)).toEqual(applied);
    expect(fold.apply(sampleControlEvent('TrainerClaimed'), 1)).toEqual(refused('unknownRun'));
    fold.skip(2);
    expect(fold.apply(sampleControlEvent('RunStarted'), 2)).toEqual(refused('duplicate'));
    expect(fold.apply(sampleControlEvent('RunStarted'), 3)).toEqual(applied);
    expect(fold.nextOffset).toBe(4);
  });
});

describe('any log', () => {
  type Action = readonly ['claim' | 'plan' | 'commit', number, number];
  const action: fc.Arbitrary<Action> = fc.tuple(
    fc.constantFrom('claim' as const, 'plan' as const, 'commit' as const),
    fc.nat(5),
    fc.nat(3),
  );

  it('commits every update at most once, in order, only with a plan, and under the claimed epoch', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const log = new Log();
        const committed: number[] = [];
        let claimed = -1;
        const planned = new Set<number>();
        for (const [what, n, epoch] of actions) {
          if (what === 'claim') {
            log.append('TrainerClaimed', { epoch });
            claimed = Math.max(claimed, epoch);
          } else if (what === 'plan') {
            if (log.plan(n, epoch).applied) {
              expect(epoch).toBe(claimed);
              planned.add(n);
            }
          } else if (log.commit(n, epoch).applied) {
            expect(epoch).toBe(claimed);
            expect(planned.has(n)).toBe(true);
            committed.push(n);
          }
        }
        expect(new Set(committed).size).toBe(committed.length);
        expect(log.run.updates.numUpdates).toBe(committed.length);
        expect(log.run.updates.pendingPlans).toHaveLength(planned.size - committed.length);
      }),
    );
  });

  it('takes time in proportion to the number of events, and not to its square', () => {
    const few = leastFoldTime(2_000);
    const many = leastFoldTime(16_000);
    // Measured: 8 to 10 times as long for 8 times as many, also on a busy machine; a pass over what came before would make it 64.
    expect(many / few).toBeLessThan(24);
  });

  /** CPU time of a run of so many updates: the least of five, since collections of garbage count to it. */
  function leastFoldTime(numUpdates: number): number {
    const events = eventsOfUpdates(numUpdates);
    const times = Array.from({ length: 5 }, () => {
      const fold = new ControlFold();
      const before = process.cpuUsage();
      events.forEach((event, offset) => fold.apply(event, offset));
      const { user, system } = process.cpuUsage(before);
      expect(fold.runs[0].updates.numUpdates).toBe(numUpdates);
      expect([...fold.runs[0].groups.all()]).toEqual([]);
      return user + system;
    });
    return Math.min(...times);
  }

  function eventsOfUpdates(numUpdates: number): AnyEvent[] {
    const events: AnyEvent[] = [
      sampleControlEvent('RunStarted'),
      sampleControlEvent('TrainerClaimed', { epoch: 0 }),
    ];
    for (let n = 0; n < numUpdates; n += 1) {
      events.push(
        sampleControlEvent('GroupsClosed', { groupIds: [`group-${n}`, `other-${n}`], split: 'validation' }),
        sampleControlEvent('BatchPlanned', {
          ...OWN_GROUPS_ONLY,
          planId: planId(n),
          updateNumber: n,
          epoch: 0,
          groupIds: [`group-${n}`],
        }),
        sampleControlEvent('UpdateApplied', {
          planId: planId(n),
          updateNumber: n,
          epoch: 0,
          policyVersionOut: n + 1,
        }),
        sampleControlEvent('PolicyPublished', { policyVersion: n + 1, parentVersion: n, epoch: 0 }),
        sampleControlEvent('MetricsLogged', { step: n }),
      );
    }
    return events;
  }
});
