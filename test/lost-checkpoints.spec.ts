import { appendFile, cp, mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { ControlTail } from '@retrace/log';
import { openLmdbLog } from '@retrace/log/lmdb';
import { CheckpointFiles } from '@retrace/policy';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { remakePolicies } from '../apps/trainer/src/checkpoint/remake-policies.js';
import { InProcessRun } from './support/in-process-run.js';

const recipe = resolveRecipe('bandit-ppo', {
  numUpdates: 5,
  assignments: [
    ...['collection.groupsPerRound=4', 'collection.groupSize=4', 'collection.concurrentEpisodes=16'],
    ...['evaluation.numValidationEpisodes=2', 'evaluation.numTestEpisodes=2'],
    ...['checkpoint.keepLast=2', 'checkpoint.keepEvery=100'],
  ],
});

let directory: string;

beforeAll(async () => {
  await openBackend();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-lost-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('a trainer that finds the files of the last commit damaged', () => {
  const fileOf = ({ sha256 }: { sha256: string }) =>
    join(directory, 'run', 'checkpoints', `${sha256}.safetensors`);
  const damages = {
    'weights that are cut short': ({ weights }) => truncate(fileOf(weights), 100),
    'an optimizer state with another byte': ({ optimizer }) => appendFile(fileOf(optimizer), 'x'),
    'no files of the last commit': async ({ weights, optimizer }) => {
      await rm(fileOf(weights));
      await rm(fileOf(optimizer));
    },
  } satisfies Record<string, (commit: Awaited<ReturnType<InProcessRun['updates']>>[number]) => Promise<void>>;

  it.each([
    ...(Object.keys(damages) as (keyof typeof damages)[]).map((name) => ({ name, settings: {} })),
    {
      name: 'weights that are cut short' as const,
      settings: {
        loss: { ...recipe.loss, kl: { coefficient: 0.1, estimator: 'k3' as const }, referenceDecay: 0.5 },
      },
    },
  ])(
    'goes back to the one before, says so, and ends with the same weights as a run that was never damaged: $name, $settings',
    async ({ name, settings }) => {
      const asked = { ...recipe, ...settings };
      const run = await InProcessRun.begin(join(directory, 'run'), asked);
      await run.work({ untilUpdate: 3 });
      await run.close();
      await cp(join(directory, 'run'), join(directory, 'copy'), { recursive: true });
      const damaged = await InProcessRun.reopen(join(directory, 'run'), asked, run.id);
      const commit = (await damaged.updates())[2];
      await damages[name](commit);
      const shown: string[] = [];
      await damaged.work({ onWarning: (line) => shown.push(line) });
      expect(shown.filter((line) => line.includes('checkpoint'))).toEqual([
        expect.stringContaining('going back to the checkpoint before update 3, to make it again'),
        'the checkpoint of update 3 was made again from the checkpoint of update 2, bit for bit',
      ]);
      const other = await InProcessRun.reopen(join(directory, 'copy'), asked, run.id);
      await other.work();
      const weightsOf = async (of: InProcessRun) => (await of.updates()).map(({ weights }) => weights.sha256);
      expect(await weightsOf(damaged)).toHaveLength(5);
      expect(await weightsOf(damaged)).toEqual(await weightsOf(other));
      await damaged.close();
      await other.close();
    },
  );
});

describe('a trainer that finds the weights of earlier policies damaged, which wait for their validation', () => {
  const asked = {
    ...recipe,
    evaluation: { ...recipe.evaluation, everyUpdates: 1 },
    checkpoint: { ...recipe.checkpoint, weights: { keepLast: 2, keepBest: 1, keepEvery: 100 } },
  };
  const fileOf = (name: string, sha256: string) =>
    join(directory, name, 'checkpoints', `${sha256}.safetensors`);

  /** A run of four updates whose policies nobody has validated, with these files. */
  async function begun(name: string): Promise<{ readonly runId: string; readonly weights: string[] }> {
    const run = await InProcessRun.begin(join(directory, name), asked);
    await run.work({ untilUpdate: 4, roles: ['trainer', 'collector'] });
    const weights = (await run.controlEvents()).flatMap((event) =>
      event.kind === 'PolicyPublished' ? [event.payload.weights.sha256] : [],
    );
    expect(weights).toHaveLength(5);
    await run.close();
    return { runId: run.id, weights };
  }

  it('makes them again from the nearest checkpoint, says so, and each version is validated', async () => {
    const { runId, weights } = await begun('run');
    await rm(fileOf('run', weights[0]));
    await rm(fileOf('run', weights[1]));
    await truncate(fileOf('run', weights[3]), 100);
    const run = await InProcessRun.reopen(join(directory, 'run'), asked, runId);
    const shown: string[] = [];
    await run.work({ onWarning: (line) => shown.push(line) });
    const said = shown.filter((line) => /^policy|^weights/.test(line));
    expect(said).toEqual([
      ...[0, 1, 3].map(
        (version) =>
          expect.stringMatching(
            new RegExp(`^policy ${version}: .*; making its weights again from the checkpoint before them$`),
          ) as string,
      ),
      'weights were made again, bit for bit: policy 0 from the start of the run, policy 1 from the start of the run, ' +
        'policy 3 from the checkpoint of update 2',
    ]);
    const validated = (await run.controlEvents()).flatMap((event) =>
      event.kind === 'PolicyValidated' && event.payload.split === 'validation'
        ? [event.payload.policyVersion]
        : [],
    );
    expect(validated).toEqual([0, 1, 2, 3, 4, 5]);
    await run.close();
  });

  it('leaves one that can not be made again as it is, and says what to do', async () => {
    const { runId, weights } = await begun('run');
    await truncate(fileOf('run', weights[3]), 100);
    const shown: string[] = [];
    const log = await openLmdbLog({ path: join(directory, 'run', 'log'), createdBy: 'test' });
    const control = new ControlTail(log);
    await control.catchUp();
    const checkpoints = new CheckpointFiles(join(directory, 'run', 'checkpoints'));
    const reader = {
      readEpisodes: () => Promise.reject(new Error('the store is gone')),
      readEpisodeTexts: () => Promise.reject(new Error('the store is gone')),
      findLost: () => Promise.resolve([]),
      untilCaughtUp: () => Promise.resolve(true),
      readAssignedRewards: () => Promise.resolve([]),
    };
    await remakePolicies(
      { log, checkpoints, reader, runId },
      [...control.run(runId).policies.all()],
      (line) => shown.push(line),
    );
    expect(shown[1]).toBe(
      "policy 3: its weights can't be made again (the store is gone); restore the file from a backup",
    );
    control.close();
    await log.close();
  });
});
