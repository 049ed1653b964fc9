/**
 * Compares the torch engine, through the trainer's port and a real worker, with a plain torch loop (`scripts/gpu-check/plain.py`) and with
 * TensorFlow.js: the same weights, the same batch, float32, steps in turn in one run, so that other load on the machine affects all
 * sides. The torch sides have a thread for each core; TensorFlow.js has as many as its backend takes. Then the share of an update of `retrace train`
 * that the worker does not compute, two gloo ranks beside one, and the peak memory of a LoRA step.
 *
 *   npm run bench -- engines [-- --only step,share,ranks,memory --steps 5]
 *
 * Installs torch with transformers and peft once (1 GB); skipped with the reason where that is impossible. What batches to torch take: `batches`.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { makeDataDirectory, startRetrace } from '../test/support/cli.mjs';
import { torchPeerEnvironment } from '../test/support/torch-environment.mjs';
import { EngineWorker } from './engine-worker.mjs';
import { writeBatch } from './engine-batch.mjs';
import { FigureTable } from './figure-table.mjs';
import { qwenHalfBillion, writeRandomModel } from './random-model.mjs';
import { recordedWaits } from './recorded-times.mjs';
import { StepWorker } from './step-worker.mjs';
import { median } from './timing.mjs';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: 'step,share,ranks,memory' },
    steps: { type: 'string', default: '5' },
  },
});
const NUM_STEPS = Number(flags.steps);
const NUM_THREADS = availableParallelism();
const WARM_UPS = 2;
/** Sides begin with the same weights; bfloat16 rounds the half-billion model's. */
const LOSS_TOLERANCE = { float32: 1e-3, bfloat16: 3e-2 };

const smallModel = {
  ...qwenHalfBillion,
  ...{ vocab_size: 8192, hidden_size: 256, intermediate_size: 1024 },
  ...{ num_hidden_layers: 4, num_attention_heads: 4, num_key_value_heads: 2 },
};
const LORA = {
  rank: 16,
  alpha: 32,
  targets: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
};

/** Of Linux: writing to it sets the peak of a process's memory to what is used now. */
const CLEAR_REFS = '/proc/self/clear_refs';
/** Sentences on what could not be measured. */
const leftOut = [];
const PARTS = { step: measureStep, share: measureShare, ranks: measureRanks, memory: measureMemory };
const parts = flags.only.split(',');
const unknown = parts.filter((part) => !Object.hasOwn(PARTS, part));
if (unknown.length > 0) {
  console.error(`--only is ${flags.only}; must be some of ${Object.keys(PARTS).join(', ')}, with commas`);
  process.exit(2);
}
const table = new FigureTable('The torch engine on a processor');
const environment = await torchPeerEnvironment();
const directory = mkdtempSync(join(tmpdir(), 'retrace-engines-'));
try {
  if ('unavailable' in environment) {
    table.save(`Skipped, because ${environment.unavailable}.`);
  } else {
    for (const part of parts) await PARTS[part](environment.python);
    table.save(
      `${cpus()[0].model}, ${NUM_THREADS} cores, on which the sides take turns; ratios are medians of pairs. A step is PPO with entropy bonus and critic on sequences of which ` +
        'the last half is trained. In `share` the worker has all cores and collector, trainer and worker take turns as a synchronous run has them; counted is the time in which the collector can play nothing, from the sixth update on.' +
        leftOut.map((sentence) => ` ${sentence}`).join(''),
    );
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** The engine's step, that of a plain loop and that of TensorFlow.js. */
async function measureStep(python) {
  const job = writeInputs('step', smallModel, { numSequences: 8, length: 256 });
  const worker = await EngineWorker.start(python, { directory, threads: NUM_THREADS });
  const sides = { torch: ourSide({ ...job, engine: { ...worker.section, precision: 'float32' } }) };
  const { weights } = await sides.torch.answer();
  sides.tensorflow = ourSide(job);
  sides.plain = plainSide(python, { ...job, weights, trained: weights, kind: 'float32' });
  await Promise.all([sides.tensorflow.answer(), sides.plain.answer()]);
  const times = await takeSteps(sides, LOSS_TOLERANCE.float32);
  const names = { torch: 'torch engine', plain: 'plain torch', tensorflow: 'TensorFlow.js' };
  for (const [side, name] of Object.entries(names))
    table.add(`PPO step of 5 M parameters, 2,048 tokens: ${name}`, median(times[side]), 'ms');
  table.add('… torch engine over plain torch', medianRatio(times.torch, times.plain), '×', { most: 1.05 });
  table.add('… torch engine over TensorFlow.js', medianRatio(times.torch, times.tensorflow), '×');
  await endAll(sides, worker);
}

/** Two ranks of one thread beside one. */
async function measureRanks(python) {
  const job = writeInputs('ranks', smallModel, { numSequences: 8, length: 256 });
  const workers = [];
  for (const ranks of [1, 2])
    workers.push(await EngineWorker.start(python, { directory, ranks, threads: 1 }));
  const [one, two] = workers.map(({ section }) => ourSide({ ...job, engine: section }));
  await Promise.all([one.answer(), two.answer()]);
  const times = await takeSteps({ one, two }, LOSS_TOLERANCE.float32);
  for (const [name, list] of Object.entries(times))
    table.add(`PPO step of 5 M parameters: ${name} gloo rank(s) of one thread`, median(list), 'ms');
  table.add(
    `… two ranks, part of ideal, on ${NUM_THREADS} cores`,
    medianRatio(times.one, times.two) / 2,
    '',
    { least: 0.85 },
  );
  await endAll({ one, two }, ...workers);
}

/** Peak memory of LoRA steps with bfloat16 products, of the worker's process and of a plain loop with peft. */
async function measureMemory(python) {
  if (!existsSync(CLEAR_REFS)) {
    leftOut.push(`The part \`memory\` is left out, because there is no ${CLEAR_REFS}, which sets the peak.`);
    return;
  }
  const size = { numSequences: 4, length: 256 };
  const job = writeInputs('memory', qwenHalfBillion, size, { lora: LORA });
  const worker = await EngineWorker.start(python, { directory, threads: NUM_THREADS });
  const ours = ourSide({ ...job, engine: { ...worker.section, precision: 'bfloat16' } });
  const { weights: trained } = await ours.answer();
  const peaks = { worker: await peakOf(worker.pid, ours) };
  await endAll({ ours }, worker);
  const frozen = join(job.policy.model, 'model.safetensors');
  const plain = plainSide(python, { ...job, weights: frozen, trained, kind: 'autocast' });
  peaks.plain = await peakOf((await plain.answer()).pid, plain);
  await endAll({ plain });
  const name = 'LoRA step of 0.5 B parameters, 1,024 tokens, bfloat16: peak memory';
  table.add(`${name} of the worker`, peaks.worker.mib, 'MiB');
  table.add(`${name} of plain torch with peft`, peaks.plain.mib, 'MiB');
  table.add('… worker over plain torch', peaks.worker.mib / peaks.plain.mib, '×', { most: 1.1 });
  requireSameLoss([peaks.worker.loss, peaks.plain.loss], LOSS_TOLERANCE.bfloat16);
}

/** Highest resident memory of a process in the second of two steps, MiB. */
async function peakOf(pid, side) {
  const { loss } = await side.step();
  // Sets the peak to what is used now.
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  await side.step();
  return { mib: Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024, loss };
}

/** The part of an update of `retrace train` that the worker does not compute. */
async function measureShare(python) {
  const worker = await EngineWorker.start(python, { directory, threads: NUM_THREADS });
  const data = makeDataDirectory();
  const numUpdates = 12;
  // Before it the trainer's code is not compiled yet.
  const first = 5;
  const settings = [
    ...['model.numLayers=8', 'model.hiddenSize=256', 'model.numHeads=8', 'model.numKeyValueHeads=8'],
    ...['model.headDim=32', 'model.intermediateSize=688', 'optimizer.epochs=1'],
    ...['collection.groupsPerRound=64', 'collection.concurrentEpisodes=64'],
    ...['evaluation.everyUpdates=0', 'evaluation.numTestEpisodes=0'],
  ];
  const session = startRetrace([
    ...['train', '--recipe', 'frozen-lake-ppo', '--updates', `${numUpdates}`, '--no-store', '--nice', '0'],
    ...['--data-dir', data.path, '--engine-url', worker.url, '--engine-token-file', worker.section.tokenFile],
    ...settings.flatMap((setting) => ['--set', setting]),
  ]);
  // No round follows the last update.
  const last = numUpdates - 1;
  try {
    const done = {};
    for (const update of [first, last]) {
      await session.waitFor(new RegExp(`update ${update} of`), 600_000);
      done[update] = await worker.work();
    }
    await session.ended;
    const perUpdate = (name) => (done[last][name] - done[first][name]) / (last - first);
    const waits = recordedWaits(data.path, { from: first + 1, to: last });
    addShare(waits, { computed: perUpdate('seconds'), numTokens: perUpdate('tokens') });
  } finally {
    await session.killTree();
    data.remove();
    await worker.stop();
  }
}

/**
 * Counts the time in which the collector does not play: from the end of a round until it gets the next policy; while the log takes what it
 * played; and after a round whose policy is not published yet. Of the save that is all until the weights are on offer, and what outlasts the round.
 *
 * @param waits of `recordedWaits`
 * @param computed mean seconds of an update in the worker
 */
function addShare({ idle, log, held, read, update, checkpoint }, { computed, numTokens }) {
  const total = idle + log + held;
  const rest = 1000 * (total - computed);
  table.add('update of 6 M parameters by `retrace train`, until the next round begins', 1000 * total, 'ms');
  table.add('… tokens of its forward passes', numTokens, '');
  table.add('… not forward, backward or optimizer', (100 * rest) / (1000 * total), '%', { most: 5 });
  table.add('… the same in time; may be 50 ms + 30 ns a token', rest, 'ms', { most: 50 + 30e-6 * numTokens });
  table.add('… of that reading the episodes', 1000 * read, 'ms');
  table.add('… of that rewards, loss, transfer', 1000 * (update - computed), 'ms');
  table.add('… of that log and plan before, weights on offer after', 1000 * (idle - read - update), 'ms');
  table.add('… of that the log takes the end of a round', 1000 * log, 'ms');
  table.add('… of that a played round waits for the commit', 1000 * held, 'ms');
  table.add('saving weights and moments in all, while the next round is played', 1000 * checkpoint, 'ms');
}

/** Steps in turn; times by side, of those after the warm-ups. */
async function takeSteps(sides, tolerance) {
  const times = Object.fromEntries(Object.keys(sides).map((side) => [side, []]));
  for (let step = 0; step < WARM_UPS + NUM_STEPS; step++) {
    const losses = [];
    for (const [side, worker] of Object.entries(sides)) {
      const { ms, loss } = await worker.step();
      losses.push(loss);
      if (step >= WARM_UPS) times[side].push(ms);
    }
    requireSameLoss(losses, tolerance);
  }
  return times;
}

function requireSameLoss(losses, tolerance) {
  if (Math.max(...losses) - Math.min(...losses) <= tolerance) return;
  throw new Error(`the sides compute different losses: ${losses.join(', ')}`);
}

/** Writes a model directory and a batch; returns what the sides' jobs share. */
function writeInputs(name, model, size, policy = {}) {
  const path = join(directory, name);
  writeRandomModel(path, model);
  const batch = join(path, 'batch.json');
  const vocabSize = model.vocab_size;
  const numTokens = writeBatch(batch, { ...size, vocabSize });
  return {
    ...{ directory: join(path, 'checkpoints'), batch, vocabSize, numThreads: NUM_THREADS, ...policy },
    policy: { model: path, maxPositions: 512, ...policy },
    maxTokensPerMicroBatch: numTokens,
    shape: [
      ...[model.num_hidden_layers, model.hidden_size, model.num_attention_heads],
      ...[model.num_key_value_heads, model.intermediate_size, vocabSize],
    ],
  };
}

function ourSide(job) {
  const program = fileURLToPath(new URL('engine-step-worker.mjs', import.meta.url));
  return new StepWorker([process.execPath, program, JSON.stringify(job)]);
}

function plainSide(python, job) {
  const program = fileURLToPath(new URL('peers/plain_step.py', import.meta.url));
  return new StepWorker([python, program, JSON.stringify(job)]);
}

async function endAll(sides, ...workers) {
  for (const side of Object.values(sides)) await side.end();
  for (const worker of workers) await worker.stop();
}

function medianRatio(times, others) {
  return median(times.map((ms, step) => ms / others[step]));
}
