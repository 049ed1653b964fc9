import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { episodeIdFor } from '../../ids/ids.js';
import { sampleControlEvent } from '../../testing/sample-events.js';
import type { CollectorClaimed } from '../../events/control-events.js';
import { closeTogether, type ClosedGroup } from './closed-group.js';
import { RunState, type Applied } from './run-state.js';

const GROUP_SIZE = 2;
const NUM_GROUPS = 4;

/** Two or more collectors that write into one log, as the collector does. */
class Log {
  readonly run = new RunState(sampleControlEvent('RunStarted'));
  private offset = 0;

  claim(shareIndex: number, numShares: number, places: number[], change: Partial<CollectorClaimed> = {}) {
    const payload: CollectorClaimed = {
      shareIndex,
      numShares,
      split: 'train',
      trainable: true,
      round: this.run.groups.lastRound + 1,
      numGroups: NUM_GROUPS,
      places: Int32Array.from(places),
      groupIds: places.map((place) => `${shareIndex}/${numShares} ${place} #${this.offset}`),
      groupSize: GROUP_SIZE,
      firstOrdinal: this.run.rounds.nextOrdinal,
      ...change,
    };
    const eventId = `01936d00-0000-7000-8000-${String(this.offset).padStart(12, '0')}`;
    const outcome = this.apply({ ...sampleControlEvent('CollectorClaimed', payload), eventId });
    return { payload, eventId, outcome };
  }

  close(claim: CollectorClaimed, change: Partial<ClosedGroup> = {}, which = claim.groupIds): Applied {
    const groups = which.map((groupId): ClosedGroup => {
      const first = claim.firstOrdinal + claim.groupIds.indexOf(groupId) * GROUP_SIZE;
      return {
        groupId,
        round: claim.round,
        split: claim.split,
        reason: 'complete',
        groupSize: GROUP_SIZE,
        episodeIds: [first, first + 1].map((ordinal) => episodeIdFor({ runId: this.run.runId, ordinal })),
        numSteps: Int32Array.of(1, 1),
        policyVersionMin: 0,
        policyVersionMax: 0,
        trainable: claim.trainable,
        ...change,
      };
    });
    return this.apply(sampleControlEvent('GroupsClosed', closeTogether(groups)));
  }

  get offered(): string[] {
    return [...this.run.groups.all()].map(({ groupId }) => groupId);
  }

  private apply(event: Parameters<RunState['apply']>[0]): Applied {
    return this.run.apply(event, ++this.offset);
  }
}

const applied = { applied: true };
const refused = (reason: string) => ({ applied: false, reason });

describe('a round that collectors share', () => {
  it('counts when its last share closes, in the order of its places', () => {
    const log = new Log();
    const even = log.claim(0, 2, [0, 2]).payload;
    const odd = log.claim(1, 2, [1, 3]).payload;
    expect(log.close(odd)).toEqual(applied);
    expect(log.offered).toEqual([]);
    expect(log.run.groups.lastRound).toBe(-1);
    expect(log.run.hasClosed(odd.groupIds[0])).toBe(true);
    expect(log.close(odd)).toEqual(refused('duplicate'));
    expect(log.close(even)).toEqual(applied);
    expect(log.offered).toEqual([even.groupIds[0], odd.groupIds[0], even.groupIds[1], odd.groupIds[1]]);
    expect(log.run.groups.lastRound).toBe(0);
  });

  it('gives no place and no ordinal twice: the first claim in log order wins', () => {
    const log = new Log();
    const first = log.claim(0, 2, [0, 2]);
    const stale = log.claim(1, 2, [1, 3], { firstOrdinal: first.payload.firstOrdinal });
    expect(stale.outcome).toEqual(refused('conflict'));
    expect(log.claim(1, 2, [1, 2]).outcome).toEqual(refused('conflict'));
    const second = log.claim(1, 2, [1, 3]);
    expect(second.outcome).toEqual(applied);
    expect(second.payload.firstOrdinal).toBe(2 * GROUP_SIZE);
    log.close(first.payload);
    expect(log.claim(0, 2, [0, 2]).outcome).toEqual(refused('conflict'));
    log.close(second.payload);
    expect(log.claim(0, 2, [0, 2], { round: 0 }).outcome).toEqual(refused('conflict'));
  });

  it('gives a share to a new collector after its own was killed, and keeps the claim of the other share', () => {
    const log = new Log();
    const dead = log.claim(0, 2, [0, 2]).payload;
    const other = log.claim(1, 2, [1, 3]).payload;
    const abandoned = {
      reason: 'abandoned',
      trainable: false,
      policyVersionMin: -1,
      policyVersionMax: -1,
    } as const;
    expect(log.close(dead, abandoned, [dead.groupIds[0]])).toEqual(applied);
    const again = log.claim(0, 2, [0, 2]);
    expect(again.outcome).toEqual(applied);
    expect(log.run.rounds.claimOf(other.groupIds[0])).toMatchObject({ shareIndex: 1 });
    // A process that outlived its claim closes what it had; it counts for nothing.
    expect(log.close(dead, {}, [dead.groupIds[1]])).toEqual(refused('duplicate'));
    log.close(other);
    log.close(again.payload);
    expect(log.offered).toEqual([
      again.payload.groupIds[0],
      other.groupIds[0],
      again.payload.groupIds[1],
      other.groupIds[1],
    ]);
    const closedIds = [dead, other, again.payload].flatMap(({ groupIds }) => groupIds);
    expect(closedIds.filter((groupId) => log.run.hasClosed(groupId))).toHaveLength(5);
  });

  it('keeps closed groups when the number of shares changes, and drops the others', () => {
    const log = new Log();
    const done = log.claim(0, 3, [0, 3]).payload;
    const open = log.claim(1, 3, [1]).payload;
    log.close(done);
    expect([...(log.run.rounds.closings(done)?.keys() ?? [])]).toEqual([0, 3]);
    const rest = log.claim(0, 1, [1, 2]);
    expect(rest.outcome).toEqual(applied);
    expect(log.run.rounds.claimOf(open.groupIds[0])).toBeUndefined();
    expect(log.close(open)).toEqual(refused('duplicate'));
    log.close(rest.payload);
    expect(log.offered).toEqual([done.groupIds[0], ...rest.payload.groupIds, done.groupIds[1]]);
  });

  it('recognizes a claim that is delivered twice', () => {
    const log = new Log();
    const { payload, eventId } = log.claim(0, 2, [0, 2]);
    const again = log.run.apply({ ...sampleControlEvent('CollectorClaimed', payload), eventId }, 99);
    expect(again).toEqual(refused('duplicate'));
  });

  it('fills every place once, with fresh ordinals, however kills, restarts and stale claims interleave', () => {
    const step = fc.record({
      share: fc.nat(1),
      what: fc.constantFrom('claim', 'staleClaim', 'close', 'kill'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const log = new Log();
        const claims: (CollectorClaimed | null)[] = [null, null];
        const zombies: CollectorClaimed[] = [];
        const ordinals = new Set<number>();
        for (const { share, what } of steps) {
          const open = claims[share];
          if (what === 'kill' && open) {
            zombies.push(open);
            claims[share] = null;
          } else if (what === 'close' && open) {
            expect(log.close(open)).toEqual(applied);
            claims[share] = null;
          } else if (what === 'close') {
            zombies.splice(0).forEach((zombie) => {
              const { claimOf } = log.run.rounds;
              if (!claimOf.call(log.run.rounds, zombie.groupIds[0])) log.close(zombie);
            });
          } else if (!open && what === 'claim') {
            const round = { split: 'train', trainable: true, round: log.run.groups.lastRound + 1 } as const;
            const closed = log.run.rounds.closings(round);
            const places = [share, share + 2].filter((place) => !closed?.has(place));
            if (places.length === 0) continue;
            const { payload, outcome } = log.claim(share, 2, places);
            expect(outcome).toEqual(applied);
            for (let e = 0; e < places.length * GROUP_SIZE; e++) {
              expect(ordinals.has(payload.firstOrdinal + e)).toBe(false);
              ordinals.add(payload.firstOrdinal + e);
            }
            claims[share] = payload;
          } else if (what === 'staleClaim' && log.run.rounds.nextOrdinal > 0) {
            expect(log.claim(share, 2, [share], { firstOrdinal: 0 }).outcome).toEqual(refused('conflict'));
          }
        }
        const offered = [...log.run.groups.all()];
        expect(offered.length % NUM_GROUPS).toBe(0);
        expect(offered.map(({ round }) => round)).toEqual(offered.map((_, g) => Math.floor(g / NUM_GROUPS)));
        expect(offered.map(({ groupId }) => Number(groupId.split(' ')[1]))).toEqual(
          offered.map((_, g) => g % NUM_GROUPS),
        );
      }),
    );
  });
});
