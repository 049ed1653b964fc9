import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openBackend } from '@retrace/compute';
import { CheckpointFiles, evaluateLogprobs, openPolicyCheckpoint } from '@retrace/policy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root, runRetrace } from '../support/cli.mjs';
import { makePythonEnvironment, pipInstall } from '../support/python-client.mjs';
import { ServedTraining } from '../support/served-training.js';
import { writeTinyModel } from '../support/tiny-model.mjs';
import { vllmPython } from '../support/vllm-server.mjs';

/** Largest difference of a log probability or an entropy, in nats. */
const TOLERANCE = 1e-4;
const TIMEOUT_MS = 900_000;
/** Any tokens of the tiny model. */
const TOKENS = Array.from({ length: 64 }, (_, n) => (7 + 31 * n + n * n) % 200);

const run = promisify(execFile);
const torch = await vllmPython();
const peft = await makePythonEnvironment('peft-0.21.2', (python) =>
  pipInstall(python, ['--no-deps', 'peft==0.21.2', 'accelerate==1.12.0']),
);
const unavailable = [torch, peft].flatMap((found) => ('unavailable' in found ? [found.unavailable] : []))[0];
const reason = unavailable === undefined ? '' : ` (skipped, because ${unavailable})`;

interface Evaluated {
  readonly logprobs: readonly number[];
  readonly entropies: readonly number[];
}

describe.skipIf(reason !== '')(`policies that save-policy writes${reason}`, () => {
  let base: string;
  let training: ServedTraining;

  beforeAll(async () => {
    if (!('python' in torch)) return;
    await openBackend({});
    base = await writeTinyModel(torch.python);
    training = new ServedTraining(base);
  });
  afterAll(() => training.removeAll());

  async function inPython(...args: string[]): Promise<Evaluated> {
    if (!('python' in torch) || !('python' in peft)) throw new Error(reason);
    const where = await run(peft.python, ['-c', "import sysconfig; print(sysconfig.get_path('purelib'))"]);
    const [directory, ...adapters] = args;
    const program = join(root, 'test', 'support', 'hugging_face_logits.py');
    const { stdout } = await run(torch.python, [program, directory, JSON.stringify(TOKENS), ...adapters], {
      env: { ...process.env, HF_HUB_OFFLINE: '1', PYTHONPATH: where.stdout.trim() },
    });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Evaluated;
  }

  /** Evaluates the tokens with the newest checkpoint of a run. */
  async function inRetrace(dataDirectory: string): Promise<Evaluated> {
    const [newest] = await training.sql<{ sha256: string; size: string }>(
      dataDirectory,
      'SELECT weights_sha256 AS sha256, weights_size_bytes AS size FROM policies ORDER BY policy_version DESC LIMIT 1',
    );
    const files = new CheckpointFiles(join(dataDirectory, 'checkpoints'));
    const model = await openPolicyCheckpoint(files, {
      sha256: newest.sha256,
      sizeBytes: Number(newest.size),
    });
    const batch = { tokenIds: Int32Array.from(TOKENS), sequenceOffsets: Int32Array.of(0, TOKENS.length) };
    const actionMask = Uint8Array.from(TOKENS, (_, n) => Number(n > 0));
    const options = { temperature: 1, maxTokensPerMicroBatch: 512, actionMask };
    const { logprobs, entropies } = await evaluateLogprobs(model, batch, options);
    model.dispose();
    return { logprobs: [...logprobs.subarray(1)], entropies: [...entropies.subarray(1)] };
  }

  function largestDifference(a: Evaluated, b: Evaluated): number {
    const columns = (of: Evaluated) => [...of.logprobs, ...of.entropies];
    const others = columns(b);
    expect(others).toHaveLength(2 * (TOKENS.length - 1));
    return Math.max(...columns(a).map((value, n) => Math.abs(value - others[n])));
  }

  const common = { endpoint: null, seed: 1, numUpdates: 3, maxStaleness: 0, concurrentEpisodes: 16 };

  it(
    'are the same model in transformers: all weights',
    async ({ task }) => {
      const data = await training.train({ ...common, adapters: false });
      const out = join(data, 'saved');
      await runRetrace(['save-policy', out, '--data-dir', data]);
      const own = await inRetrace(data);
      const difference = largestDifference(own, await inPython(out));
      expect(difference).toBeLessThan(TOLERANCE);
      // Training has changed it by more than is tolerated.
      expect(largestDifference(own, await inPython(base))).toBeGreaterThan(100 * TOLERANCE);
      Object.assign(task.meta, {
        figures: [{ name: 'largest difference', value: difference, unit: 'nats' }],
      });
    },
    TIMEOUT_MS,
  );

  it(
    'are the same model in transformers and peft: adapters, merged and by themselves',
    async ({ task }) => {
      const data = await training.train({ ...common, adapters: true });
      const [merged, adapter] = [join(data, 'merged'), join(data, 'adapter')];
      await runRetrace(['save-policy', merged, '--data-dir', data]);
      await runRetrace(['save-policy', adapter, '--adapter', '--data-dir', data]);
      const own = await inRetrace(data);
      const differences = [
        largestDifference(own, await inPython(merged)),
        largestDifference(own, await inPython(base, adapter)),
      ];
      expect(Math.max(...differences)).toBeLessThan(TOLERANCE);
      expect(largestDifference(own, await inPython(base))).toBeGreaterThan(100 * TOLERANCE);
      Object.assign(task.meta, {
        figures: [
          { name: 'largest difference, merged', value: differences[0], unit: 'nats' },
          { name: 'largest difference, adapter', value: differences[1], unit: 'nats' },
        ],
      });
    },
    TIMEOUT_MS,
  );
});
