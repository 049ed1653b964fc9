/**
 * Measures generation on two cores: a Qwen2-like model of 6 million parameters, batch 8, compared with `generate` of transformers on
 * the same directory in the same run; and episodes of many turns, with an episode's history kept in the cache or computed again.
 *
 *   RETRACE_PEER_PYTHON=~/.cache/retrace-peers/bin/python npm run bench -- policy-generation
 *
 * RETRACE_PEER_PYTHON names a Python with torch and transformers (`bench/peers/set-up.sh <directory>` makes one); without it the
 * peer's figures are left out. The two run in turn, and the figures are medians.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Generator, loadHuggingFaceModel } from '@retrace/policy';
import { openBackend } from '@retrace/compute';
import { FigureTable } from './figure-table.mjs';
import { TransformersPeer } from './transformers-peer.mjs';
import { writeRandomModel } from './random-model.mjs';
import { median } from './timing.mjs';

const NUM_ROUNDS = 5;
/** Rounds before the measured ones, for loading, first allocations and JIT compilation. */
const NUM_WARM_UP_ROUNDS = 3;
/** Pause between turns, because idle threads of either side spin for a while. */
const SETTLE_MS = 250;
const BATCH = 8;
const PROMPT_TOKENS = 128;
const NEW_TOKENS = 128;
const NUM_TURNS = 16;
const OBSERVATION_TOKENS = 64;
const ACTION_TOKENS = 8;

const shape = {
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  vocab_size: 8192,
  hidden_size: 256,
  intermediate_size: 1024,
  num_hidden_layers: 4,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  max_position_embeddings: 2048,
  rms_norm_eps: 1e-6,
  rope_theta: 1e6,
  tie_word_embeddings: true,
  hidden_act: 'silu',
  use_sliding_window: false,
  torch_dtype: 'bfloat16',
};

const table = new FigureTable(`Generation, batch ${BATCH}, ${cpus()[0].model.trim()}`);
const backend = await openBackend();
console.log(backend.reason);
const directory = mkdtempSync(join(tmpdir(), 'retrace-generation-'));
try {
  writeRandomModel(directory, shape);
  const model = await loadHuggingFaceModel(directory, { valueHead: false, maxPositions: 2048, seed: 1 });
  await againstTransformers(model);
  await overTurns(model);
  table.save();
} finally {
  rmSync(directory, { recursive: true });
}

async function againstTransformers(model) {
  const peer = process.env.RETRACE_PEER_PYTHON
    ? await TransformersPeer.start(process.env.RETRACE_PEER_PYTHON, directory)
    : null;
  const prompts = Array.from({ length: BATCH }, (_, slot) => tokens(PROMPT_TOKENS, slot));
  for (const sample of [false, true]) {
    const ours = [];
    const theirs = [];
    let agreed = 0;
    for (let round = 0; round < NUM_WARM_UP_ROUNDS + NUM_ROUNDS; round++) {
      await pause(SETTLE_MS);
      const own = await generate(model, prompts, sample);
      await pause(SETTLE_MS);
      const other = (await peer?.generate({ prompts, newTokens: NEW_TOKENS, sample })) ?? null;
      if (round < NUM_WARM_UP_ROUNDS) continue;
      ours.push(own.seconds);
      if (other === null) continue;
      theirs.push(other.seconds);
      agreed = own.tokens.filter((row, slot) => row.join() === other.tokens[slot].join()).length;
    }
    const mode = sample ? 'sampled' : 'greedy';
    const perSecond = (seconds) => (BATCH * NEW_TOKENS) / median(seconds);
    table.add(`${mode}, ${PROMPT_TOKENS} + ${NEW_TOKENS} tokens`, perSecond(ours), 'tokens/s');
    if (peer === null) continue;
    table.add(
      `${mode}, transformers ${peer.versions.transformers}, torch ${peer.versions.torch}`,
      perSecond(theirs),
      'tokens/s',
    );
    table.add(`${mode}, against transformers`, perSecond(ours) / perSecond(theirs), '×', { least: 1.5 });
    if (!sample) table.add('greedy, rows of equal tokens', agreed, `of ${BATCH}`);
  }
  peer?.stop();
}

async function generate(model, prompts, sample) {
  const generator = new Generator(model, {
    maxSlots: BATCH,
    maxTokens: PROMPT_TOKENS + NEW_TOKENS,
    maxNewTokens: NEW_TOKENS,
  });
  const start = performance.now();
  prompts.forEach((tokenIds, slot) => {
    generator.add({ ...turn(slot, tokenIds), maxNewTokens: NEW_TOKENS, greedy: !sample });
  });
  const finished = await drain(generator);
  const seconds = (performance.now() - start) / 1000;
  generator.dispose();
  return {
    seconds,
    tokens: finished.sort((a, b) => a.slot - b.slot).map(({ tokenIds }) => Array.from(tokenIds)),
  };
}

async function overTurns(model) {
  const seconds = { kept: [], recomputed: [] };
  for (let round = 0; round < NUM_WARM_UP_ROUNDS + NUM_ROUNDS; round++) {
    for (const name of ['kept', 'recomputed']) {
      const elapsed = await playTurns(model, name === 'kept');
      if (round >= NUM_WARM_UP_ROUNDS) seconds[name].push(elapsed);
    }
  }
  const perSecond = (name) => (BATCH * NUM_TURNS * ACTION_TOKENS) / median(seconds[name]);
  const what = `${NUM_TURNS} turns of ${OBSERVATION_TOKENS} + ${ACTION_TOKENS} tokens`;
  table.add(`${what}, history kept`, perSecond('kept'), 'tokens/s');
  table.add(`${what}, history computed again`, perSecond('recomputed'), 'tokens/s');
  table.add('history kept against computed again', perSecond('kept') / perSecond('recomputed'), '×', {
    least: 3,
  });
}

async function playTurns(model, keepsHistory) {
  const maxTokens = NUM_TURNS * (OBSERVATION_TOKENS + ACTION_TOKENS);
  const generator = new Generator(model, { maxSlots: BATCH, maxTokens, maxNewTokens: ACTION_TOKENS });
  const contexts = Array.from({ length: BATCH }, () => []);
  const start = performance.now();
  for (let n = 0; n < NUM_TURNS; n++) {
    // Invalidates the cache, which belongs to the former weights.
    if (!keepsHistory) generator.setPolicyVersion(n);
    contexts.forEach((context, slot) => {
      const observation = tokens(OBSERVATION_TOKENS, 100 * n + slot);
      generator.add({
        ...turn(slot, observation),
        keptPrefixTokens: context.length,
        maxNewTokens: ACTION_TOKENS,
      });
      context.push(...observation);
    });
    for (const { slot, tokenIds } of await drain(generator)) contexts[slot].push(...tokenIds);
  }
  const seconds = (performance.now() - start) / 1000;
  generator.dispose();
  return seconds;
}

function turn(slot, tokenIds) {
  return {
    slot,
    keptPrefixTokens: 0,
    tokenIds,
    temperature: 1,
    greedy: false,
    stopTokenIds: [],
    samplingSeed: slot,
  };
}

async function drain(generator) {
  const finished = [];
  while (generator.numPending > 0) finished.push(...(await generator.step()));
  return finished;
}

function tokens(length, seed) {
  return Int32Array.from({ length }, (_, n) => (n * 7919 + seed * 104_729) % shape.vocab_size);
}
