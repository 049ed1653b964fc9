/**
 * Measures `retrace dataset create` of recorded episodes of three steps as a user runs it: the whole command, from its start to its end,
 * beside a server that has nothing else to do. Afterwards the data set must have a row for each episode, and its files their hashes.
 *
 *   npm run bench -- dataset [-- --episodes 20000]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeDataDirectory, runRetrace, startRetrace } from '../test/support/cli.mjs';
import { FigureTable } from './figure-table.mjs';

const { values } = parseArgs({ options: { episodes: { type: 'string', default: '20000' } } });
const numEpisodes = Number(values.episodes);
const EPISODES_PER_BATCH = 1000;
const NUM_STEPS = 3;
const STORED_WITHIN_MS = 300_000;
const MS_PER_MINUTE = 60_000;
const QUERY = 'SELECT run_id, episode_id FROM episodes WHERE sealed ORDER BY episode_id';
/** Texts of tasks differ from their second word on, so that the contamination check has n-grams to look up. */
const textOf = (episode, step) =>
  Array.from({ length: 40 }, (_, word) => `w${(episode * 31 + step * 7 + word * 13) % 5000}`).join(' ');

const directory = makeDataDirectory();
const table = new FigureTable('Data sets');
const session = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', directory.path]);
try {
  const url = await session.untilServing();
  await record(url);
  for (const [name, more] of [
    ['sft', ['--format', 'sft']],
    ['sft-parquet', ['--format', 'sft', '--file-format', 'parquet']],
  ]) {
    const tookMs = await create(name, more);
    table.add(
      `episodes into data set ${name}`,
      (numEpisodes / tookMs) * MS_PER_MINUTE,
      'episodes/min',
      name === 'sft' ? { least: 100_000 } : null,
    );
  }
  table.save();
} finally {
  await session.killTree();
  directory.remove();
}

/**
 * Records the episodes, and waits until the store has them.
 *
 * @param {string} url
 */
async function record(url) {
  const { runId } = await post(`${url}/api/runs`, { name: 'bench' });
  for (let from = 0; from < numEpisodes; from += EPISODES_PER_BATCH) {
    const length = Math.min(EPISODES_PER_BATCH, numEpisodes - from);
    const records = Array.from({ length }, (_, e) => episodeRecords(from + e)).flat();
    await post(`${url}/api/runs/${runId}/records`, records);
  }
  const deadlineMs = performance.now() + STORED_WITHIN_MS;
  for (;;) {
    const { rows } = await post(`${url}/api/sql`, { query: 'SELECT count() FROM episodes WHERE sealed' });
    if (Number(rows[0][0]) === numEpisodes) return;
    if (performance.now() > deadlineMs)
      throw new Error(`the store has ${rows[0][0]} of ${numEpisodes} episodes`);
    await sleep(200);
  }
}

/** @param {number} number */
function episodeRecords(number) {
  const episode = `episode-${number}`;
  const steps = Array.from({ length: NUM_STEPS }, (_, step) => ({
    type: 'step',
    episode,
    step,
    messages: {
      input: [{ role: 'user', content: textOf(number, step) }],
      output: { role: 'assistant', content: textOf(number + 1, step) },
    },
    reward: step,
  }));
  return [{ type: 'episode', episode, task: { number } }, ...steps, { type: 'end', episode, success: true }];
}

/**
 * Creates and checks a data set; returns the milliseconds that the creation took.
 *
 * @param {string} name
 * @param {readonly string[]} more
 */
async function create(name, more) {
  const start = performance.now();
  await retrace(['create', name, '--sql', QUERY, '--split', 'train=0.9,test=0.1', ...more]);
  const tookMs = performance.now() - start;
  await retrace(['verify', name]);
  const path = join(directory.path, 'datasets', name, 'manifest.json');
  /** @type {{ splits: readonly { numRows: number }[] }} */
  const { splits } = JSON.parse(readFileSync(path, 'utf8'));
  const numRows = splits.reduce((sum, split) => sum + split.numRows, 0);
  table.add(
    `… rows that data set ${name} lacks`,
    numEpisodes - numRows,
    'rows',
    { most: 0 },
    { required: true },
  );
  return tookMs;
}

/** @param {readonly string[]} args */
async function retrace(args) {
  const { code, stderr } = await runRetrace(['dataset', ...args, '--data-dir', directory.path]);
  if (code !== 0) throw new Error(`retrace dataset ${args.join(' ')}: ${stderr}`);
}

/**
 * @param {string} address
 * @param {unknown} body
 */
async function post(address, body) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${address}: ${await response.text()}`);
  return response.json();
}
