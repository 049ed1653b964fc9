import type { CheckpointFiles } from '@retrace/policy';
import type { RunState } from '@retrace/trajectory';
import { describe, expect, it } from 'vitest';
import { namedPolicy } from './named-policy.js';

/** A run with these versions, from oldest to newest. */
const runWith = (runId: string, versions: readonly number[], runKind = 'trained') => {
  const policies = versions.map((policyVersion) => ({
    policyVersion,
    weights: { sha256: `${runId}/${policyVersion}` },
  }));
  return {
    runId,
    started: { name: runId, runKind },
    policies: {
      latest: policies.at(-1) ?? null,
      get: (version: number) => policies.find(({ policyVersion }) => policyVersion === version),
      all: () => policies,
    },
  };
};

const runs = [
  runWith('older', [0, 5, 10]),
  runWith('newer', [0, 1]),
  runWith('agents', [], 'recorded'),
  runWith('began', []),
] as never as readonly RunState[];
const kept = [{ sha256: 'older/5' }, { sha256: 'older/10' }];
const checkpoints = { list: () => Promise.resolve(kept) } as never as CheckpointFiles;

const find = async (model: string | null) => {
  const { run, policyVersion } = await namedPolicy(model, runs, checkpoints);
  return [run.runId, policyVersion];
};

describe('namedPolicy', () => {
  it.each([
    [null, 'newer', null],
    ['gpt-4o', 'newer', null],
    ['run:older', 'older', null],
    ['run:older@0', 'older', 0],
    ['run:older@first', 'older', 5],
  ])('%j is a policy of the run %s, version %j', async (model, runId, version) => {
    expect(await find(model)).toEqual([runId, version]);
  });

  it.each([
    ['run:older@7', 'policy 7 of run older does not exist'],
    ['run:newer@first', 'policy first of run newer does not exist or is not kept'],
    ['run:older@best', 'policy "run:older@best" must be run:<run>'],
    ['run:', 'policy "run:" must be run:<run>'],
    ['run:began', 'run began has published no policy yet'],
    ['run:agents', 'run agents was recorded'],
    ['run:other', 'run "other" not found'],
  ])('%s is refused: %s', async (model, message) => {
    await expect(find(model)).rejects.toThrow(message);
  });

  it('says that there is no policy where only recorded runs are', async () => {
    await expect(namedPolicy('gpt-4o', runs.slice(2), checkpoints)).rejects.toThrow(
      'no run has published a policy yet',
    );
  });
});
