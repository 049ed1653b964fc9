/**
 * Measures `retrace import` of AgentTraj JSON, one list of conversations, into a new data directory: MB a minute from the file to SQL,
 * and the peak of the importing process's own memory; the pages of the log's file, which the system may drop, are not counted. The rows
 * are random text of the length that AgentTraj-L has: 1 kB an observation.
 *
 *   npm run bench -- import [-- --megabytes 200]
 */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '200' } } });
const WANTED_BYTES = Number(values.megabytes) * 1e6;
const STEPS_PER_EPISODE = 8;
const OBSERVATION_CHARACTERS = 1000;
const POLL_MS = 100;

const root = fileURLToPath(new URL('..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-import-'));

/** A random generator for texts: the recurrence of Numerical Recipes. */
function makeRandom(seed) {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
}

const random = makeRandom(1);
const words = Array.from({ length: 500 }, () =>
  random()
    .toString(36)
    .slice(0, 2 + (random() % 6)),
);
const text = (characters) => {
  let line = '';
  while (line.length < characters) line += `${words[random() % words.length]} `;
  return line;
};

function conversation(index) {
  const turns = [
    { from: 'human', loss: null, value: text(OBSERVATION_CHARACTERS) },
    { from: 'gpt', loss: false, value: "OK. I'll follow your instructions and try my best." },
  ];
  for (let step = 0; step < STEPS_PER_EPISODE; step++) {
    turns.push({ from: 'human', loss: null, value: text(OBSERVATION_CHARACTERS) });
    turns.push({ from: 'gpt', loss: true, value: `Thought:\n${text(200)}\n\nAction:\nmove ${step}` });
  }
  return { item_id: `babyai_${index}`, conversations: turns };
}

async function writeDump(path) {
  const file = createWriteStream(path);
  let bytes = 0;
  let rows = 0;
  for (; bytes < WANTED_BYTES; rows++) {
    const row = `${rows === 0 ? '[' : ',\n'}${JSON.stringify(conversation(rows))}`;
    bytes += Buffer.byteLength(row);
    if (!file.write(row)) await new Promise((resolve) => file.once('drain', resolve));
  }
  await new Promise((resolve) => file.end(']', resolve));
  return rows;
}

/** Runs the import and returns its report, how long it took, and the most memory that its process had, MiB. */
function importDump(path) {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const cli = join(root, 'apps/cli/bin/retrace.mjs');
    const dataDir = join(directory, 'data');
    const child = spawn(process.execPath, [cli, 'import', path, '--json', '--data-dir', dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let peakMiB = 0;
    const poll = setInterval(() => {
      try {
        const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
        peakMiB = Math.max(peakMiB, Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      } catch {
        // The process has just ended.
      }
    }, POLL_MS);
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => {
      clearInterval(poll);
      if (code !== 0) return reject(new Error(`retrace import ended with ${code}`));
      resolve({ report: JSON.parse(output), seconds: (performance.now() - start) / 1000, peakMiB });
    });
  });
}

try {
  const path = join(directory, 'agenttraj.json');
  const rows = await writeDump(path);
  const megabytes = statSync(path).size / 1e6;
  const first = await importDump(path);
  const again = await importDump(path);
  if (first.report.numEpisodes !== rows || again.report.numKnownRecords !== again.report.numRecords) {
    throw new Error(`imported ${first.report.numEpisodes} of ${rows} rows`);
  }
  const figures = [
    { name: 'AgentTraj JSON into SQL', value: (megabytes * 60) / first.seconds, unit: 'MB/min' },
    { name: 'the same again, adding nothing', value: (megabytes * 60) / again.seconds, unit: 'MB/min' },
    { name: 'steps into SQL', value: first.report.numSteps / first.seconds, unit: 'steps/s' },
    { name: 'peak memory of the import', value: Math.max(first.peakMiB, again.peakMiB), unit: 'MiB' },
  ];
  for (const { name, value, unit } of figures) console.log(`${name}: ${value.toFixed(0)} ${unit}`);
  if (process.env.RETRACE_RESULT_FILE !== undefined) {
    const title = `Import of ${megabytes.toFixed(0)} MB of AgentTraj JSON`;
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
