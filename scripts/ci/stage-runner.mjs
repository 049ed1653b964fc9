import { spawn } from 'node:child_process';
import { closeSync, createReadStream, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pipeline } from 'node:stream/promises';
import { readProcessorTime } from './processor-time.mjs';

/**
 * A step of CI: one command, which passes with exit code 0.
 *
 * @typedef {object} Stage
 * @property {string} name
 * @property {readonly [string, ...string[]]} command
 * @property {Readonly<Record<string, string>>} [environment] added to that of this process
 * @property {readonly string[]} [after] names of stages that must have passed before this one begins
 * @property {number} [cores] processors that it keeps busy (default 1)
 */

/**
 * @typedef {object} StageResult
 * @property {string} name
 * @property {'passed' | 'failed' | 'skipped'} outcome `skipped`: not begun, since another stage had failed
 * @property {number} seconds
 * @property {number | null} processorSeconds of its process and of those that it waited for; null where this can't be known
 */

/**
 * Runs stages side by side, in their order, as far as processors are free. No stage begins after one has failed; those that run then
 * end as they do. The output of a stage is printed as one piece when it ends.
 *
 * @param {readonly Stage[]} stages
 * @param {{ cores: number, root: string, outputs: string, environment?: NodeJS.ProcessEnv, print?: (text: string) => void }} options `outputs` is a folder for what the
 *   stages print
 * @returns {Promise<readonly StageResult[]>} in the order of the stages
 */
export async function runStages(stages, options) {
  mkdirSync(options.outputs, { recursive: true });
  const { cores, print = (text) => process.stdout.write(text) } = options;
  /** @type {Map<string, StageResult>} */
  const results = new Map();
  /** @type {Map<Stage, Promise<void>>} */
  const running = new Map();
  const freeCores = () => cores - [...running.keys()].reduce((sum, stage) => sum + coresOf(stage, cores), 0);
  for (;;) {
    const hasFailed = [...results.values()].some(({ outcome }) => outcome === 'failed');
    const waiting = stages.filter((stage) => !results.has(stage.name) && !running.has(stage));
    for (const stage of hasFailed ? [] : waiting) {
      const isReady = (stage.after ?? []).every((name) => results.get(name)?.outcome === 'passed');
      if (!isReady || coresOf(stage, cores) > freeCores()) continue;
      print(`\n=== ${stage.name} begins\n`);
      const ended = runStage(stage, options).then(async (result) => {
        await printOutput(stage, result, options.outputs, print);
        results.set(stage.name, result);
        running.delete(stage);
      });
      running.set(stage, ended);
    }
    if (running.size === 0) break;
    await Promise.race(running.values());
  }
  return stages.map(
    ({ name }) => results.get(name) ?? { name, outcome: 'skipped', seconds: 0, processorSeconds: null },
  );
}

/** Processor seconds of the stages that have ended. */
let countedSeconds = readProcessorTime()?.ofChildren ?? null;

/** Counts what the stage that has just ended added; of two that end in one moment the first gets both. */
function countProcessorSeconds() {
  const before = countedSeconds;
  countedSeconds = readProcessorTime()?.ofChildren ?? null;
  return before === null || countedSeconds === null ? null : countedSeconds - before;
}

/** @param {Stage} stage @param {number} available */
function coresOf({ cores = 1 }, available) {
  return Math.min(cores, available);
}

/** @param {Stage} stage @param {Parameters<typeof runStages>[1]} options @returns {Promise<StageResult>} */
async function runStage(
  { name, command: [program, ...args], environment = {} },
  { root, outputs, environment: common },
) {
  const startedAt = performance.now();
  const output = openSync(outputOf(name, outputs), 'w');
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...common, ...environment },
    stdio: ['ignore', output, output],
  });
  /** @type {number | null} */
  let processorSeconds = null;
  child.once('exit', () => (processorSeconds = countProcessorSeconds()));
  /** @type {number | null} */
  const code = await new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  closeSync(output);
  return {
    name,
    outcome: code === 0 ? 'passed' : 'failed',
    seconds: (performance.now() - startedAt) / 1000,
    processorSeconds,
  };
}

/** @param {Stage} stage @param {StageResult} result @param {string} outputs @param {(text: string) => void} print */
async function printOutput({ name, command }, { outcome, seconds }, outputs, print) {
  print(`\n=== ${name}: ${command.join(' ')}\n`);
  await pipeline(createReadStream(outputOf(name, outputs), 'utf8'), async (pieces) => {
    for await (const piece of pieces) print(piece);
  });
  print(`=== ${name} ${outcome} (${Math.round(seconds)} s)\n`);
}

/** @param {string} name @param {string} outputs */
function outputOf(name, outputs) {
  return join(outputs, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.txt`);
}
