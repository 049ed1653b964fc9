/**
 * A collector's part that starts sampling servers, as a process that a test can kill: `node sampling-servers-program.mjs DIRECTORY COUNT`. It delivers
 * version 0 to so many servers (`named-model-server.mjs`), and says when each has it.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { openPolicyText, Transformer } from '@retrace/policy';
import { PolicyEndpoint } from '../../apps/collector/dist/actors/policy-endpoint.js';

const [directory, count] = process.argv.slice(2);
const server = fileURLToPath(new URL('named-model-server.mjs', import.meta.url));
const RUN_ID = 'run';

await openBackend({ prefer: ['cpu'] });
// Weights that are written already.
await mkdir(join(directory, `retrace-${RUN_ID}-0`), { recursive: true });
const text = await openPolicyText({ tokenizer: 'byte', words: null, directory: undefined });
const model = Transformer.initialize(
  {
    ...{ vocabSize: text.tokenizer.vocabSize, hiddenSize: 8, numLayers: 1, numHeads: 2, numKeyValueHeads: 1 },
    ...{ headDim: 4, intermediateSize: 16, ropeTheta: 10_000, rmsNormEps: 1e-6, tieWordEmbeddings: true },
    ...{ attentionBias: true, maxPositions: 128, valueHead: false },
  },
  0,
);
const endpoint = {
  ...{ kind: 'vllm', directory, numServers: Number(count), maxLogprobDifference: null },
  command: [process.execPath, server, '{port}', '{name}', '{model}'],
};
const recipe = resolveRecipe('bandit-ppo', {
  assignments: [
    ...['model=null', 'context.tokenizer=model', 'loss.valueCoefficient=0', 'collection.groupSize=4'],
    `policy=${JSON.stringify({ model: directory, maxPositions: 64 })}`,
    'advantage={"estimator":"grpo","options":{},"shuffle":false}',
    ...['collection.temperature=1', `collection.endpoint=${JSON.stringify(endpoint)}`],
  ],
});
const servers = await PolicyEndpoint.open({
  ...{ runId: RUN_ID, recipe, text, weightsDirectory: directory, variables: {}, isAlone: true },
  warnings: { raise: ({ message }) => console.error(message) },
  signal: new AbortController().signal,
});
await servers.serve(0, model, '');
console.log('all servers have version 0');
