/**
 * Measures `retrace serve`: tokens a second of 16 streams at once beside those of one, what HTTP costs beside the generator by itself, and
 * memory over 1,000 requests. Server and clients share a process, so the figures are a lower bound.
 *
 *   npm run bench -- serve [-- --tokens 128 --requests 1000]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { countTensors, openBackend } from '@retrace/compute';
import { Generator, loadPolicyText, saveHuggingFaceModel, Transformer } from '@retrace/policy';
import { openDirectorySupply, startServer } from '@retrace/gateway/serve';
import { FigureTable } from './figure-table.mjs';

const { values } = parseArgs({
  options: { tokens: { type: 'string', default: '128' }, requests: { type: 'string', default: '1000' } },
});
const numTokens = Number(values.tokens);
const numRequests = Number(values.requests);
const NUM_STREAMS = 16;
const CONTEXT = 512;
const SHAPE = {
  ...{ vocabSize: 320, hiddenSize: 256, numLayers: 4, numHeads: 8, numKeyValueHeads: 2, headDim: 32 },
  ...{ intermediateSize: 768, ropeTheta: 10_000, rmsNormEps: 1e-6, tieWordEmbeddings: false },
  ...{ attentionBias: true, maxPositions: CONTEXT, valueHead: false },
};

async function openServer(directory) {
  const text = await loadPolicyText(fileURLToPath(new URL('../test/golden/policy/chat', import.meta.url)));
  const model = Transformer.initialize(SHAPE, 1);
  await saveHuggingFaceModel(join(directory, 'model'), model, { text });
  model.dispose();
  const supply = await openDirectorySupply(join(directory, 'model'));
  const server = await startServer(
    {
      ...{
        host: '127.0.0.1',
        port: 0,
        allowedHosts: [],
        keyDirectory: null,
        concurrency: NUM_STREAMS,
        maxQueued: 64,
      },
      ...{ contextLength: CONTEXT, maxBodyBytes: 1e6, logprobsMode: 'raw_logprobs' },
    },
    supply,
    { version: 'bench', warn: console.error },
  );
  return { server, supply };
}

const promptOf = (n) => Array.from({ length: 32 }, (_, i) => 1 + ((7 * i + 13 * n) % 250));

async function complete(url, n, fields) {
  const body = {
    prompt: promptOf(n),
    seed: n,
    ignore_eos: true,
    return_token_ids: true,
    logprobs: 0,
    ...fields,
  };
  const response = await fetch(`${url}/v1/completions`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.text();
}

/** Tokens a second of several streams at once. */
async function streamRate(url, numStreams) {
  const startedAt = performance.now();
  const fields = { max_tokens: numTokens, stream: true };
  await Promise.all(Array.from({ length: numStreams }, (_, n) => complete(url, n, fields)));
  return (1000 * numStreams * numTokens) / (performance.now() - startedAt);
}

/** Tokens a second of the generator by itself. */
async function generatorRate(model, numTurns) {
  const generator = new Generator(model, {
    maxSlots: NUM_STREAMS,
    maxTokens: CONTEXT,
    maxNewTokens: CONTEXT,
  });
  const startedAt = performance.now();
  for (let slot = 0; slot < numTurns; slot++) {
    const sampling = {
      temperature: 1,
      greedy: false,
      maxNewTokens: numTokens,
      stopTokenIds: [],
      samplingSeed: slot,
    };
    generator.add({ slot, keptPrefixTokens: 0, tokenIds: Int32Array.from(promptOf(slot)), ...sampling });
  }
  while (generator.numPending > 0) await generator.step();
  generator.dispose();
  return (1000 * numTurns * numTokens) / (performance.now() - startedAt);
}

async function measureRates(table, { server, supply }) {
  const best = { one: 0, many: 0, generator: 0 };
  for (let repeat = 0; repeat < 3; repeat++) {
    best.one = Math.max(best.one, await streamRate(server.url, 1));
    best.many = Math.max(best.many, await streamRate(server.url, NUM_STREAMS));
    best.generator = Math.max(best.generator, await generatorRate(supply.model, NUM_STREAMS));
  }
  table.add('one stream', best.one, 'tokens/s');
  table.add(`${NUM_STREAMS} streams`, best.many, 'tokens/s');
  table.add(`${NUM_STREAMS} streams beside one`, best.many / best.one, 'times', { least: 4 });
  table.add(`${NUM_STREAMS} streams beside the generator by itself`, best.many / best.generator, 'times');
}

async function measureMemory(table, { server }) {
  const run = async (count) => {
    for (let n = 0; n < count; n += NUM_STREAMS) {
      const fields = (i) => ({ max_tokens: 8, stream: i % 2 === 0 });
      await Promise.all(
        Array.from({ length: NUM_STREAMS }, (_, i) => complete(server.url, n + i, fields(i))),
      );
    }
    globalThis.gc?.();
    return { heap: process.memoryUsage().heapUsed, rss: process.memoryUsage().rss, tensors: countTensors() };
  };
  const before = await run(numRequests / 5);
  const after = await run(numRequests);
  const mib = (bytes) => bytes / 1024 ** 2;
  table.add(`heap after ${numRequests} more requests`, mib(after.heap - before.heap), 'MiB more', {
    most: 10,
  });
  table.add(`memory after ${numRequests} more requests`, mib(after.rss - before.rss), 'MiB more', {
    most: 30,
  });
  const tensors = after.tensors - before.tensors;
  table.add(`tensors after ${numRequests} more requests`, tensors, 'more', { most: 0 }, { required: true });
}

const directory = await mkdtemp(join(tmpdir(), 'retrace-serve-bench-'));
await openBackend();
const table = new FigureTable('Serving a policy');
const opened = await openServer(directory);
await measureRates(table, opened);
await measureMemory(table, opened);
await opened.server.close();
await rm(directory, { recursive: true, force: true });
table.save(
  `${numTokens} tokens an answer, prompts of 32, 4 layers of width 256. Server and clients share a process.`,
);
