import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBackend } from '@retrace/compute';
import {
  CheckpointFiles,
  loadHuggingFaceModel,
  modelFingerprint,
  policyCheckpointContent,
} from '@retrace/policy';
import type { SamplingParameters } from '@retrace/trajectory';
import { columnsFromTokens, type EpisodeTokens } from '@retrace/trajectory/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkLogprobs, type LogprobCheckInput } from './check-logprobs.js';

const MODELS = fileURLToPath(new URL('../../../../test/golden/policy/models', import.meta.url));
const read = <T>(path: string) => JSON.parse(readFileSync(join(MODELS, path), 'utf8')) as T;
/** Token ids, and per model the logprobs of all but the first of each sequence, by transformers (`test/golden/policy/generate_models.py`). */
const { sequences, tolerances } = read<{
  readonly sequences: number[][];
  readonly tolerances: { readonly logprob: number };
}>('golden.json');
const [qwen2, llama] = ['qwen2', 'llama'].map((name) =>
  read<{ readonly logprobs: number[][] }>(`${name}/golden.json`),
);

const BOUND = 1e-3;
const sampling: SamplingParameters = { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 8 };
const directory = mkdtempSync(join(tmpdir(), 'retrace-logprobs-'));
const checkpoints = new CheckpointFiles(directory);
let policies: LogprobCheckInput['policies'];

beforeAll(async () => {
  await openBackend();
  policies = await Promise.all(
    ['qwen2', 'llama'].map(async (name, policyVersion) => {
      const base = { directory: join(MODELS, name), fingerprint: await modelFingerprint(join(MODELS, name)) };
      const model = await loadHuggingFaceModel(base.directory, { seed: 1, valueHead: false });
      const content = policyCheckpointContent(model, { tokenizerHash: '', base });
      const weights = await checkpoints.write(content);
      model.dispose();
      return { policyVersion, weights };
    }),
  );
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** An episode of one step: the first token of a sequence is its prompt. */
function episode(
  s: number,
  logprobs: readonly number[],
  policyVersions: number,
  fields: EpisodeTokens['steps'][number]['fields'] = {},
): EpisodeTokens {
  const [first, ...action] = sequences[s];
  return {
    episodeId: `of-${s}-${policyVersions}`,
    steps: [
      {
        observation: [first],
        action,
        logprobs: [...logprobs],
        policyVersions,
        fields: { sampling, ...fields },
      },
    ],
  };
}

const check = (episodes: readonly EpisodeTokens[], asked = policies) =>
  checkLogprobs({
    ...{ checkpoints, policies: asked, bound: BOUND, maxTokensPerMicroBatch: 64 },
    columns: columnsFromTokens(episodes),
  });

describe('checkLogprobs', () => {
  it('finds the logprobs of transformers to be those of the policies, each token under its own version', async () => {
    const report = await check([
      episode(0, qwen2.logprobs[0], 0),
      episode(1, llama.logprobs[1], 1),
      episode(2, qwen2.logprobs[2], 0),
    ]);
    expect(report).toMatchObject({ numTokens: 11 + 8 + 1, numBeyond: 0 });
    expect(report.maxDifference).toBeLessThan(tolerances.logprob);
    expect(report.meanDifference).toBeLessThanOrEqual(report.maxDifference);
    expect(report.byPolicy).toMatchObject([
      { policyVersion: 0, numTokens: 12 },
      { policyVersion: 1, numTokens: 8 },
    ]);
    expect(report.tokensNotChecked).toEqual({ otherPolicy: 0, otherwiseSampled: 0, missingLogprob: 0 });
  });

  it('names the token whose stored logprob is another, and by how much', async () => {
    const changed = qwen2.logprobs[0].with(4, qwen2.logprobs[0][4] - 0.25);
    const report = await check([episode(1, qwen2.logprobs[1], 0), episode(0, changed, 0)]);
    expect(report.numBeyond).toBe(1);
    expect(report.maxDifference).toBeCloseTo(0.25, 4);
    expect(report.meanDifference).toBeCloseTo(0.25 / 19, 4);
    const { stored, computed, ...place } = report.worst[0];
    expect(place).toEqual({ episodeId: 'of-0-0', step: 0, tokenId: sequences[0][5], policyVersion: 0 });
    expect(computed - stored).toBeCloseTo(0.25, 4);
    expect(report.worst).toHaveLength(1);
  });

  it('shows a version that is recorded wrongly as a gap in most of its tokens', async () => {
    const report = await check([episode(0, qwen2.logprobs[0], 1), episode(1, qwen2.logprobs[1], 0)]);
    expect(report.byPolicy[0]).toMatchObject({ policyVersion: 0, numBeyond: 0 });
    expect(report.byPolicy[1].numBeyond).toBeGreaterThan(8);
    expect(report.worst).toHaveLength(5);
    expect(report.worst.every(({ policyVersion }) => policyVersion === 1)).toBe(true);
  });

  it('counts what it can’t check: other policies, choices that are no samples, missing logprobs', async () => {
    const missing = qwen2.logprobs[1].with(2, Number.NaN);
    const report = await check(
      [
        episode(0, llama.logprobs[0], 1),
        episode(1, missing, 0),
        {
          ...episode(1, qwen2.logprobs[1], 0, { sampling: { ...sampling, greedy: true } }),
          episodeId: 'greedy',
        },
        { ...episode(2, qwen2.logprobs[2], 0, { sampling: null }), episodeId: 'unknown' },
      ],
      policies.slice(0, 1),
    );
    expect(report.tokensNotChecked).toEqual({ otherPolicy: 11, otherwiseSampled: 9, missingLogprob: 1 });
    expect(report).toMatchObject({ numTokens: 7, numBeyond: 0 });
  });

  it('checks more tokens than a call may have arguments', async () => {
    const episodes = Array.from({ length: 12_000 }, (_, e) => ({
      ...episode(0, qwen2.logprobs[0], 0),
      episodeId: `of-many-${e}`,
    }));
    const report = await checkLogprobs({
      ...{ checkpoints, policies, bound: BOUND, maxTokensPerMicroBatch: 16_384 },
      columns: columnsFromTokens(episodes),
    });
    expect(report).toMatchObject({ numTokens: 132_000, numBeyond: 0 });
  });

  it('evaluates at the temperature of each step', async () => {
    const hot = { sampling: { ...sampling, temperature: 2 } };
    const atOne = await check([episode(0, qwen2.logprobs[0], 0, hot)]);
    expect(atOne.numBeyond).toBeGreaterThan(8);
    const atTwo = atOne.worst.map(({ tokenId, computed }) => [sequences[0].indexOf(tokenId) - 1, computed]);
    const stored = qwen2.logprobs[0].map(
      (logprob, n) => atTwo.find(([place]) => place === n)?.[1] ?? logprob,
    );
    const some = await check([
      { ...episode(0, stored, 0, hot), episodeId: 'hot' },
      episode(0, qwen2.logprobs[0], 0),
    ]);
    expect(some).toMatchObject({ numTokens: 22, numBeyond: atOne.numBeyond - 5 });
    expect(some.worst.every(({ episodeId }) => episodeId === 'hot')).toBe(true);
  });

  it('refuses weights that are not there, or leaves their tokens out', async () => {
    const gone = [{ policyVersion: 0, weights: { ...policies[0].weights, sha256: '0'.repeat(64) } }];
    await expect(check([episode(0, qwen2.logprobs[0], 0)], gone)).rejects.toMatchObject({
      code: 'CHECKPOINT_MISSING',
    });
    const report = await checkLogprobs({
      ...{ checkpoints, bound: BOUND, maxTokensPerMicroBatch: 64, skipsMissing: true },
      policies: [...gone, policies[1]],
      columns: columnsFromTokens([episode(0, qwen2.logprobs[0], 0), episode(1, llama.logprobs[1], 1)]),
    });
    expect(report).toMatchObject({ numTokens: 8, numBeyond: 0, tokensNotChecked: { otherPolicy: 11 } });
  });
});
