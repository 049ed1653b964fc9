import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnsFromTokens } from '../testing/episode-columns.js';
import type { EpisodeColumns } from './episode-columns.js';
import { buildTokenBatch, type TokenBatch } from './token-batch.js';

interface StepSpec {
  readonly kept: number;
  readonly observation: readonly number[];
  readonly action: readonly number[];
}

interface EpisodeSpec {
  readonly steps: readonly StepSpec[];
  readonly terminated: boolean;
  readonly finalKept: number;
  readonly final: readonly number[];
}

/** Columns of episodes; the logprob of action token id i is −i / 100, its policy version i % 5. */
function columnsOf(episodes: readonly EpisodeSpec[]): EpisodeColumns {
  return columnsFromTokens(
    episodes.map(({ steps, terminated, finalKept, final }) => ({
      steps: steps.map((step) => ({
        ...step,
        logprobs: step.action.map((id) => -id / 100),
        policyVersions: [...step.observation, ...step.action].map((id) => id % 5),
      })),
      ended: {
        endReason: terminated ? 'terminated' : 'truncated',
        finalTokenIds: Int32Array.from(final),
        finalKeptPrefixTokens: finalKept,
      },
    })),
  );
}

function row<T>(values: ArrayLike<T>, offsets: Int32Array, i: number): T[] {
  return Array.from(values).slice(offsets[i], offsets[i + 1]);
}

const oneSequence: EpisodeSpec = {
  steps: [
    { kept: 0, observation: [10, 11], action: [12] },
    { kept: 3, observation: [13], action: [14, 15] },
  ],
  terminated: false,
  finalKept: 6,
  final: [16],
};

describe('buildTokenBatch', () => {
  it('continues a sequence while every step keeps the whole context', () => {
    const batch = buildTokenBatch(columnsOf([oneSequence]));
    expect([...batch.tokenIds]).toEqual([10, 11, 12, 13, 14, 15]);
    expect([...batch.actionMask]).toEqual([0, 0, 1, 0, 1, 1]);
    expect([...batch.behaviorLogprobs]).toEqual([0, 0, -0.12, 0, -0.14, -0.15].map(Math.fround));
    expect([...batch.policyVersions]).toEqual([0, 1, 2, 3, 4, 0]);
    expect([...batch.sequenceOffsets]).toEqual([0, 6]);
    expect([...batch.episodeSequenceOffsets]).toEqual([0, 1]);
    expect([...batch.actionTokens]).toEqual([2, 4, 5]);
    expect([...batch.actionStep]).toEqual([0, 1, 1]);
    expect([...batch.episodeActionOffsets]).toEqual([0, 3]);
    expect([...batch.finalSequences.tokenIds]).toEqual([10, 11, 12, 13, 14, 15, 16]);
    expect([...batch.finalSequences.sequenceOffsets]).toEqual([0, 7]);
  });

  it('starts a new sequence from the kept prefix and does not train its copied action tokens again', () => {
    const steps = [
      { kept: 0, observation: [10, 11], action: [12] },
      { kept: 3, observation: [13], action: [14] },
      { kept: 3, observation: [20], action: [21] },
    ];
    const batch = buildTokenBatch(columnsOf([{ steps, terminated: false, finalKept: 2, final: [30] }]));
    expect([...batch.tokenIds]).toEqual([10, 11, 12, 13, 14, /* copied */ 10, 11, 12, 20, 21]);
    expect([...batch.actionMask]).toEqual([0, 0, 1, 0, 1, 0, 0, 0, 0, 1]);
    expect([...batch.behaviorLogprobs]).toEqual([0, 0, -0.12, 0, -0.14, 0, 0, 0, 0, -0.21].map(Math.fround));
    expect([...batch.policyVersions]).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 0, 1]);
    expect([...batch.sequenceOffsets]).toEqual([0, 5, 10]);
    expect([...batch.episodeSequenceOffsets]).toEqual([0, 2]);
    expect([...batch.actionTokens]).toEqual([2, 4, 9]);
    expect([...batch.actionStep]).toEqual([0, 1, 2]);
    expect([...batch.finalSequences.tokenIds]).toEqual([10, 11, 30]);
  });

  it('gives a terminated episode an empty final sequence', () => {
    const batch = buildTokenBatch(columnsOf([{ ...oneSequence, terminated: true }, oneSequence]));
    expect([...batch.finalSequences.sequenceOffsets]).toEqual([0, 0, 7]);
  });

  it('gives an episode without tokens no sequence', () => {
    const empty = {
      steps: [{ kept: 0, observation: [], action: [] }],
      terminated: true,
      finalKept: 0,
      final: [],
    };
    const batch = buildTokenBatch(columnsOf([empty, oneSequence, { ...empty, steps: [] }]));
    expect([...batch.episodeSequenceOffsets]).toEqual([0, 0, 1, 1]);
    expect([...batch.sequenceOffsets]).toEqual([0, 6]);
    expect([...batch.episodeActionOffsets]).toEqual([0, 0, 3, 3]);
  });

  it('gives no episodes an empty batch', () => {
    const batch = buildTokenBatch(columnsOf([]));
    expect(batch.tokenIds).toHaveLength(0);
    expect([...batch.sequenceOffsets]).toEqual([0]);
    expect([...batch.episodeSequenceOffsets]).toEqual([0]);
  });

  it('keeps missing logprobs missing', () => {
    const columns = columnsOf([oneSequence]);
    columns.tokenLogprobs.fill(NaN);
    expect([...buildTokenBatch(columns).behaviorLogprobs]).toEqual([0, 0, NaN, 0, NaN, NaN]);
  });
});

describe('buildTokenBatch refuses', () => {
  const refusal = (columns: EpisodeColumns): unknown => {
    try {
      return buildTokenBatch(columns);
    } catch (error) {
      return error;
    }
  };
  const good = columnsOf([oneSequence, oneSequence]);

  it.each<[string, Partial<EpisodeColumns>, string]>([
    [
      'a step that keeps more than there is',
      { keptPrefixTokens: Int32Array.of(0, 4, 0, 3) },
      'must be from 0 to 3',
    ],
    [
      'a first step that keeps something',
      { keptPrefixTokens: Int32Array.of(1, 3, 0, 3) },
      'must be from 0 to 0',
    ],
    [
      'a final prompt that keeps more than there is',
      { finalKeptPrefixTokens: Int32Array.of(6, 7) },
      'must be from 0 to 6',
    ],
    ['a step that is missing', { steps: Int32Array.of(0, 2, 0, 1) }, 'is 2; must be 1'],
    [
      'a column too short',
      { tokenLogprobs: new Float32Array(11) },
      'tokenLogprobs has 11 values; must have one per token, 12',
    ],
    ['offsets that end early', { tokenOffsets: Int32Array.of(0, 3, 6, 9, 11) }, 'ends at 11; must end at'],
    [
      'offsets that run backwards',
      { tokenOffsets: Int32Array.of(0, 6, 3, 9, 12) },
      'must be ≥ the one before',
    ],
    [
      'a sequence that starts with an action token',
      { actionMask: Uint8Array.from(good.actionMask, () => 1) },
      'starts a sequence with an action token',
    ],
    [
      'a mask that is no mask',
      { actionMask: Uint8Array.from(good.actionMask, (m) => m * 3) },
      'must be 0 or 1',
    ],
  ])('%s', (_title, change, message) => {
    expect(refusal({ ...good, ...change })).toMatchObject({
      code: 'INCONSISTENT_COLUMNS',
      message: expect.stringContaining(message) as string,
    });
  });
});

const tokenId = fc.integer({ min: 0, max: 99 });

/** Episodes with prefixes drawn against the context they really have. */
const episodeArbitrary: fc.Arbitrary<EpisodeSpec> = fc
  .record({
    steps: fc.array(
      fc.record({
        keptFraction: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
        observation: fc.array(tokenId, { minLength: 1, maxLength: 4 }),
        action: fc.array(tokenId, { maxLength: 3 }),
      }),
      { maxLength: 5 },
    ),
    terminated: fc.boolean(),
    finalKeptFraction: fc.double({ min: 0, max: 1, noNaN: true }),
    final: fc.array(tokenId, { maxLength: 3 }),
  })
  .map(({ steps, terminated, finalKeptFraction, final }) => {
    let context = 0;
    const drawn = steps.map(({ keptFraction, observation, action }) => {
      const kept = Math.floor(keptFraction * context);
      context = kept + observation.length + action.length;
      return { kept, observation, action };
    });
    return { steps: drawn, terminated, finalKept: Math.floor(finalKeptFraction * context), final };
  });

/** The contexts that the model saw, by appending to plain lists: the oracle for ids. */
function contextsOf({ steps }: EpisodeSpec): number[][] {
  const sequences: number[][] = [];
  for (const { kept, observation, action } of steps) {
    const last = sequences.at(-1);
    if (last === undefined || kept < last.length) sequences.push((last ?? []).slice(0, kept));
    sequences.at(-1)!.push(...observation, ...action);
  }
  return sequences;
}

interface EpisodeTokens {
  readonly sequences: unknown[];
  readonly actionStep: number[];
  readonly actionIds: number[];
  readonly final: number[];
}

/** What a batch says about one episode, free of positions in the batch. */
function episodeTokens(batch: TokenBatch, episode: number): EpisodeTokens {
  const sequences = [];
  for (let s = batch.episodeSequenceOffsets[episode]; s < batch.episodeSequenceOffsets[episode + 1]; s += 1) {
    sequences.push({
      ids: row(batch.tokenIds, batch.sequenceOffsets, s),
      mask: row(batch.actionMask, batch.sequenceOffsets, s),
      logprobs: row(batch.behaviorLogprobs, batch.sequenceOffsets, s),
      versions: row(batch.policyVersions, batch.sequenceOffsets, s),
    });
  }
  return {
    sequences,
    actionStep: row(batch.actionStep, batch.episodeActionOffsets, episode),
    actionIds: row(batch.actionTokens, batch.episodeActionOffsets, episode).map((n) => batch.tokenIds[n]),
    final: row(batch.finalSequences.tokenIds, batch.finalSequences.sequenceOffsets, episode),
  };
}

describe('buildTokenBatch on any episodes', () => {
  const episodes = fc.array(episodeArbitrary, { maxLength: 6 });

  it('rebuilds the contexts that the model saw', () => {
    fc.assert(
      fc.property(episodes, (specs) => {
        const batch = buildTokenBatch(columnsOf(specs));
        const ids = specs.map((_, e) =>
          episodeTokens(batch, e).sequences.map((s) => (s as { ids: number[] }).ids),
        );
        expect(ids).toEqual(specs.map(contextsOf));
      }),
    );
  });

  it('trains every sampled token exactly once, in time order', () => {
    fc.assert(
      fc.property(episodes, (specs) => {
        const batch = buildTokenBatch(columnsOf(specs));
        specs.forEach((spec, e) => {
          const sampled = spec.steps.flatMap(({ action }, step) => action.map((id) => ({ id, step })));
          const { actionIds, actionStep } = episodeTokens(batch, e);
          expect(actionIds).toEqual(sampled.map(({ id }) => id));
          expect(actionStep).toEqual(sampled.map(({ step }) => step));
        });
        const masked = batch.actionMask.reduce((sum, mask) => sum + mask, 0);
        expect(masked).toBe(batch.actionTokens.length);
        expect(batch.actionTokens.every((n) => batch.actionMask[n] === 1)).toBe(true);
      }),
    );
  });

  it('gives an episode the same tokens by itself as in a batch', () => {
    fc.assert(
      fc.property(episodes, (specs) => {
        const whole = buildTokenBatch(columnsOf(specs));
        specs.forEach((spec, e) => {
          expect(episodeTokens(buildTokenBatch(columnsOf([spec])), 0)).toEqual(episodeTokens(whole, e));
        });
      }),
    );
  });

  it('permutes with its episodes', () => {
    fc.assert(
      fc.property(episodes, (specs) => {
        const forwards = buildTokenBatch(columnsOf(specs));
        const backwards = buildTokenBatch(columnsOf([...specs].reverse()));
        specs.forEach((_, e) => {
          expect(episodeTokens(backwards, specs.length - 1 - e)).toEqual(episodeTokens(forwards, e));
        });
      }),
    );
  });
});
