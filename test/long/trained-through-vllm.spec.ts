import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveRecipe } from '@retrace/config';
import { loadPolicyText } from '@retrace/policy';
import { afterAll, describe, expect, it } from 'vitest';
import capitals from '../support/capitals.js';
import { root } from '../support/cli.mjs';
import { ProxiedTraining } from '../support/proxied-training.js';
import { startVllm } from '../support/vllm-server.mjs';

const GAME = { environment: capitals(), numGroups: 64, groupSize: 8, maxTokens: 8 };
/** As Qwen's `generation_config.json` has it: what a request leaves out is sampled with these. */
const MODEL_DEFAULTS = { top_p: 0.8, top_k: 20, repetition_penalty: 1.05 };

/** Writes the recipe that trains a model directory on the recorded groups, and returns its path. */
function writeRecipe(data: string, model: string): string {
  const { model: own, compute, ...base } = structuredClone(resolveRecipe('bandit-ppo'));
  void [own, compute];
  const recipe = {
    ...base,
    name: 'capitals',
    environment: { module: join(root, 'test/support/capitals.ts') },
    context: { window: 'observation', tokenizer: 'model', maxNewTokens: GAME.maxTokens },
    policy: { model, maxPositions: 512 },
    reward: { ...base.reward, components: [{ reward: 'goal' }] },
    collection: { ...base.collection, groupsPerRound: GAME.numGroups, groupSize: GAME.groupSize },
    advantage: { estimator: 'grpo', options: {} },
    loss: { ...base.loss, policyLoss: 'ppo', valueCoefficient: 0, entropyCoefficient: 0 },
    evaluation: { ...base.evaluation, everyUpdates: 0, numTestEpisodes: 0 },
    optimizer: { ...base.optimizer, miniBatchActionTokens: 1024 },
  };
  const path = join(data, '..', 'capitals.json');
  writeFileSync(path, JSON.stringify(recipe));
  return path;
}

describe('a model that an agent uses through the proxy before a real vLLM', () => {
  const training = new ProxiedTraining(GAME);

  afterAll(() => training.end());

  it('becomes better at the tasks by what the proxy recorded', async ({ task, skip }) => {
    const options = ['--override-generation-config', JSON.stringify(MODEL_DEFAULTS)];
    const vllm = await startVllm({ options });
    if ('unavailable' in vllm) return skip(`skipped, because ${vllm.unavailable}`);
    try {
      const recorded = await training.record(
        () => Promise.resolve([`${vllm.url}/v1`, () => Promise.resolve()]),
        ['--neutral-sampling'],
      );
      await vllm.kill?.();
      const [steps] = await training.rows<Record<string, unknown>>(
        `SELECT toUInt32(count()) AS steps, groupUniqArray(untrainable) AS reasons, groupUniqArray(temperature) AS temperatures,
           groupUniqArray(top_p) AS topPs, groupUniqArray(top_k) AS topKs, groupUniqArray(tokenizer_hash) AS tokenizers
         FROM steps WHERE run_id = '${recorded}'`,
      );
      expect(steps).toEqual({
        ...{
          steps: GAME.numGroups * GAME.groupSize,
          reasons: [''],
          temperatures: [1],
          topPs: [1],
          topKs: [0],
        },
        tokenizers: [(await loadPolicyText(vllm.model)).tokenizer.hash],
      });
      const recipe = writeRecipe(training.data, vllm.model);
      const summary = await training.retrace(
        ...['train', '--from-run', recorded, '--recipe', recipe, '--updates', '16', '--json'],
      );
      const { runId } = JSON.parse(summary) as { readonly runId: string };
      const gain = await training.compare(`run:${runId}@0`, `run:${runId}`, [
        ...['--recipe', recipe, '--attempts', '8'],
      ]);
      expect(gain.differenceLow).toBeGreaterThan(0);
      task.meta.figures = [
        { name: 'steps that the proxy recorded, all of them trainable', value: Number(steps.steps) },
        { name: 'success after training on them, less success before', value: gain.difference },
        { name: 'of that the lower bound, 95 %', value: gain.differenceLow },
      ];
    } finally {
      await vllm.stop();
    }
  }, 1_800_000);
});
