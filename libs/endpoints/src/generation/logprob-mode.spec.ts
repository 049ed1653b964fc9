import { describe, expect, it } from 'vitest';
import { findLogprobMode } from './logprob-mode.js';
import type { LikeliestRequest, LogprobMode } from '@retrace/chat';
import type { TokenEngine } from './token-engine.js';

/** log softmax(logits / T) */
function logSoftmax(logits: readonly number[], temperature: number): number[] {
  const scaled = logits.map((logit) => logit / temperature);
  const norm = Math.log(scaled.reduce((sum, value) => sum + Math.exp(value), 0));
  return scaled.map((value) => value - norm);
}

/** An engine whose logits depend on the context's first token. */
function engineOf(mode: LogprobMode, logitsOf: (token: number) => readonly number[]): TokenEngine {
  return {
    describe: () => Promise.resolve('known'),
    generate: () => Promise.reject(new Error('is not asked for')),
    score: () => Promise.reject(new Error('is not asked for')),
    likeliest: ({ tokenIds, temperature, numTokens }: LikeliestRequest) => {
      const logprobs = logSoftmax(logitsOf(tokenIds[0]), mode === 'raw' ? 1 : temperature);
      const entries = logprobs.map((logprob, token): [string, number] => [String(token), logprob]);
      return Promise.resolve(new Map(entries.sort(([, a], [, b]) => b - a).slice(0, numTokens)));
    },
  };
}

describe('findLogprobMode', () => {
  const uniform = Array<number>(8).fill(0);
  const varied = [0, 0.5, -1, 2, 1.5, 0.1, -3, 0.2];

  it.each(['raw', 'processed'] as const)('recognizes %s logprobs', async (mode) => {
    expect(
      await findLogprobMode(
        engineOf(mode, () => varied),
        'm',
        [[0]],
      ),
    ).toBe(mode);
    const nearlyCertain = varied.map((logit) => 20 * logit);
    expect(
      await findLogprobMode(
        engineOf(mode, () => nearlyCertain),
        'm',
        [[0]],
      ),
    ).toBe(mode);
  });

  it('passes over a context in which all tokens are equally likely', async () => {
    const engine = engineOf('raw', (token) => (token === 0 ? uniform : varied));
    expect(await findLogprobMode(engine, 'm', [[0], [1]])).toBe('raw');
  });

  it('refuses to guess', async () => {
    const engine = engineOf('raw', () => uniform);
    await expect(findLogprobMode(engine, 'm', [[0], [1]])).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});
