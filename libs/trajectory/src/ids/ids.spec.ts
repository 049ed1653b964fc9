import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  episodeEventId,
  episodeIdFor,
  episodeOrdinal,
  episodeRank,
  evaluationEpisodeIdFor,
  isEvaluationEpisode,
  MAX_EPISODE_ORDINAL,
  newControlEventId,
  newRunId,
  type IdSource,
} from './ids.js';
import { isUuid } from '../fields/uuid.js';

const RUN_ID = '01936d00-0000-7000-8000-00000000b001';
const ordinal = fc.integer({ min: 0, max: MAX_EPISODE_ORDINAL });

function sourceAt(nowMs: number, byte = 0xff): IdSource {
  return { nowMs: () => nowMs, randomBytes: (size) => new Uint8Array(size).fill(byte) };
}

describe('newRunId', () => {
  it('holds the time in its first 48 bits, then version 7 and the RFC variant', () => {
    // 2024-11-27T00:00:00Z = 1732665600000 ms = 0x0193_6aea_e800
    expect(newRunId(sourceAt(1_732_665_600_000))).toBe('01936aea-e800-7fff-bfff-ffffffffffff');
    expect(newControlEventId(sourceAt(1_732_665_600_000, 0))).toBe('01936aea-e800-7000-8000-000000000000');
  });

  it('never gives the same id twice', () => {
    const ids = Array.from({ length: 1000 }, () => newRunId());
    expect(new Set(ids).size).toBe(1000);
    expect(ids.every(isUuid)).toBe(true);
  });
});

describe('episodeIdFor', () => {
  it('returns the same id for the same run and ordinal', () => {
    // Golden, from a second implementation in Python: a collector that restarts, in any later version, must find its episodes again.
    expect(episodeIdFor({ runId: RUN_ID, ordinal: 0 })).toBe('01936d00-0000-8000-8000-00998c64f6f6');
    expect(episodeIdFor({ runId: RUN_ID, ordinal: MAX_EPISODE_ORDINAL })).toBe(
      '01936d00-0000-8fff-bfff-fdc3180f0101',
    );
  });

  it('sorts as the ordinals do', () => {
    fc.assert(
      fc.property(ordinal, ordinal, (a, b) => {
        const [idA, idB] = [
          episodeIdFor({ runId: RUN_ID, ordinal: a }),
          episodeIdFor({ runId: RUN_ID, ordinal: b }),
        ];
        expect(idA < idB).toBe(a < b);
        expect(isUuid(idA)).toBe(true);
      }),
    );
  });

  it('sorts after every episode of a run that started earlier', () => {
    const earlier = newRunId(sourceAt(1_732_665_600_000));
    const later = newRunId(sourceAt(1_732_665_600_001, 0));
    const last = episodeIdFor({ runId: earlier, ordinal: MAX_EPISODE_ORDINAL });
    expect(last < episodeIdFor({ runId: later, ordinal: 0 })).toBe(true);
  });

  it('can be turned back into its ordinal; ids of other runs give null', () => {
    fc.assert(
      fc.property(ordinal, (value) => {
        expect(episodeOrdinal(RUN_ID, episodeIdFor({ runId: RUN_ID, ordinal: value }))).toBe(value);
      }),
    );
    expect(episodeOrdinal(newRunId(), episodeIdFor({ runId: RUN_ID, ordinal: 7 }))).toBeNull();
    expect(episodeOrdinal(RUN_ID, 'external-7')).toBeNull();
  });

  it.each([-1, 0.5, MAX_EPISODE_ORDINAL + 1, NaN])('refuses ordinal %d', (bad) => {
    expect(() => episodeIdFor({ runId: RUN_ID, ordinal: bad })).toThrow(
      `episode ordinal is ${bad}; must be an integer from 0`,
    );
  });

  it('refuses a run id that is no lower-case UUID', () => {
    expect(() => episodeIdFor({ runId: RUN_ID.toUpperCase(), ordinal: 0 })).toThrow(
      /must be a lower-case UUID/,
    );
  });
});

describe('evaluationEpisodeIdFor', () => {
  it('gives other ids than episodeIdFor for every ordinal, which sort by ordinal together with them', () => {
    fc.assert(
      fc.property(ordinal, ordinal, (a, b) => {
        const [evaluated, trained] = [
          evaluationEpisodeIdFor({ runId: RUN_ID, ordinal: a }),
          episodeIdFor({ runId: RUN_ID, ordinal: b }),
        ];
        expect(isUuid(evaluated)).toBe(true);
        expect(evaluated).not.toBe(trained);
        expect(episodeOrdinal(RUN_ID, evaluated)).toBe(a);
        if (a !== b) expect(evaluated < trained).toBe(a < b);
        expect(isEvaluationEpisode(RUN_ID, evaluated)).toBe(true);
        expect(isEvaluationEpisode(RUN_ID, trained)).toBe(false);
      }),
    );
  });

  it('inverts the 42 bits of the hash', () => {
    // 01936d00-0000-8000-8000-00998c64f6f6 with every bit after the ordinal inverted.
    expect(evaluationEpisodeIdFor({ runId: RUN_ID, ordinal: 0 })).toBe(
      '01936d00-0000-8000-8000-0366739b0909',
    );
  });
});

describe('episodeRank', () => {
  it('differs for every id of a run, and grows with the ordinal', () => {
    fc.assert(
      fc.property(ordinal, ordinal, (a, b) => {
        const ids = [a, b].flatMap((value) => [
          episodeIdFor({ runId: RUN_ID, ordinal: value }),
          evaluationEpisodeIdFor({ runId: RUN_ID, ordinal: value }),
        ]);
        const ranks = ids.map((id) => episodeRank(RUN_ID, id) ?? NaN);
        expect(new Set(ranks).size).toBe(new Set(ids).size);
        if (a < b) expect(Math.max(ranks[0], ranks[1])).toBeLessThan(Math.min(ranks[2], ranks[3]));
      }),
    );
    expect(episodeRank(RUN_ID, 'external-7')).toBeNull();
  });
});

describe('episodeEventId', () => {
  const key = {
    runId: RUN_ID,
    episodeId: episodeIdFor({ runId: RUN_ID, ordinal: 3 }),
    seq: 2,
    kind: 'StepRecorded',
  } as const;

  it('is equal for the same key, and differs when any part of the key differs', () => {
    const ids = [
      key,
      { ...key, runId: newRunId() },
      { ...key, episodeId: episodeIdFor({ runId: RUN_ID, ordinal: 4 }) },
      { ...key, seq: 3 },
      { ...key, kind: 'EpisodeEnded' } as const,
    ].map(episodeEventId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(episodeEventId({ ...key })).toBe(ids[0]);
    expect(ids.every(isUuid)).toBe(true);
  });
});
