/**
 * Measures how many steps of about 1 kB agents record over HTTP, each acknowledged by the event log: in batches of 100, and one at a
 * time from 64 clients. Clients, API, sink and store share this machine. Afterwards the store must have every acknowledged step once.
 *
 * Where RETRACE_AGENT_LIGHTNING_PYTHON names a Python with agent-lightning (`peers/set-up-agent-lightning.sh`), the same 64 clients then
 * append the same texts to its store, which keeps them in memory only and has no way to take several at once.
 *
 *   npm run bench -- ingest [-- --seconds 10 --no-peer]
 */
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { makeDataDirectory, startRetrace } from '../test/support/cli.mjs';
import { AgentLightningPeer, modelRequest } from './agent-lightning-peer.mjs';
import { FigureTable } from './figure-table.mjs';
import { percentile } from './timing.mjs';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, 'no-peer': { type: 'boolean', default: false } },
});
const lastsMs = Number(values.seconds) * 1000;
const BATCH_STEPS = 100;
const NUM_BATCH_CLIENTS = 4;
const NUM_SINGLE_CLIENTS = 64;
const EPISODE_STEPS = 20;
const STORED_WITHIN_MS = 120_000;
const OBSERVATION = 'what the agent saw '.repeat(40);
const ACTION = 'what it did '.repeat(10);

/** Steps that the API has acknowledged so far. */
let acknowledged = 0;

const agent = new Agent({ keepAlive: true, maxSockets: NUM_SINGLE_CLIENTS });
const directory = makeDataDirectory();
const table = new FigureTable('Recording over HTTP');
const session = startRetrace(['up', '--no-training', '--port', '0', '--data-dir', directory.path]);
try {
  const url = await session.untilServing();
  const singleRate = await measure(url);
  await session.stop('SIGINT');
  await measurePeer(singleRate);
  table.save();
} finally {
  agent.destroy();
  await session.killTree();
  directory.remove();
}

/** Returns the steps per second that were acknowledged one at a time. */
async function measure(url) {
  const { runId } = JSON.parse(await post(`${url}/api/runs`, 'application/json', '{"name":"bench"}'));
  const records = `${url}/api/runs/${runId}/records`;
  table.add('size of a step', Buffer.byteLength(JSON.stringify(stepOf('0'.repeat(36), 0))), 'bytes');
  await drive(NUM_BATCH_CLIENTS, 1000, () => sendBatch(records));
  const batches = await drive(NUM_BATCH_CLIENTS, lastsMs, () => sendBatch(records));
  table.add('steps acknowledged in batches of 100', batches.rate, 'steps/s', { least: 10_000 });
  table.add('… a batch, p50', percentile(batches.timesMs, 0.5), 'ms');
  table.add('… a batch, p99', percentile(batches.timesMs, 0.99), 'ms');
  const singles = await drive(NUM_SINGLE_CLIENTS, lastsMs, newSingleClient(records));
  table.add('steps acknowledged one at a time, 64 clients', singles.rate, 'steps/s', { least: 3_000 });
  table.add('… a step, p50', percentile(singles.timesMs, 0.5), 'ms');
  table.add('… a step, p99', percentile(singles.timesMs, 0.99), 'ms');
  const difference = Math.abs(acknowledged - (await numStored(url, runId)));
  table.add(
    'acknowledged steps against those in the store',
    difference,
    'apart',
    { most: 0 },
    { required: true },
  );
  return singles.rate;
}

/** Drives agent-lightning's store with the clients that send one step at a time. */
async function measurePeer(ownRate) {
  const python = process.env.RETRACE_AGENT_LIGHTNING_PYTHON;
  if (values['no-peer'] || !python) {
    const reason = values['no-peer'] ? '--no-peer was given' : 'RETRACE_AGENT_LIGHTNING_PYTHON is not set';
    console.log(`agent-lightning: skipped, because ${reason}`);
    return;
  }
  const peer = await AgentLightningPeer.start(python);
  try {
    // Its rollouts are made before the clock starts; ours begin with their first step.
    const ids = Array.from({ length: NUM_SINGLE_CLIENTS }, () => randomUUID());
    const addresses = await peer.makeRollouts(ids);
    const event = modelRequest(OBSERVATION, ACTION);
    const send = async (number) => {
      await post(addresses[number], 'application/json', event);
      return 1;
    };
    const before = acknowledged;
    await drive(NUM_SINGLE_CLIENTS, 1000, send);
    const { rate, timesMs } = await drive(NUM_SINGLE_CLIENTS, lastsMs, send);
    table.add('agent-lightning, in memory: events one at a time, 64 clients', rate, 'events/s');
    table.add('… an event, p50', percentile(timesMs, 0.5), 'ms');
    table.add('… an event, p99', percentile(timesMs, 0.99), 'ms');
    const lost = acknowledged - before - (await peer.numEvents(ids));
    table.add('… acknowledged events that it does not have', lost, 'events');
    table.add('Retrace, on disk, against agent-lightning, one at a time', ownRate / rate, '×', { least: 1 });
  } finally {
    await peer.stop();
  }
}

/** Runs clients beside one another for a time; each calls `send` again as soon as it resolves with its number of steps. */
async function drive(numClients, forMs, send) {
  const startedAt = performance.now();
  const timesMs = [];
  let numSteps = 0;
  const client = async (number) => {
    while (performance.now() - startedAt < forMs) {
      const sentAt = performance.now();
      // Read after the answer: the clients share the counter.
      const numSent = await send(number);
      numSteps += numSent;
      timesMs.push(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: numClients }, (_, number) => client(number)));
  acknowledged += numSteps;
  return { rate: (numSteps * 1000) / (performance.now() - startedAt), timesMs };
}

/** Whole episodes, which begin and end in the batch. */
async function sendBatch(records) {
  const lines = [];
  for (let begun = 0; begun < BATCH_STEPS; begun += EPISODE_STEPS) {
    const episode = randomUUID();
    lines.push(JSON.stringify({ type: 'episode', episode, environment: 'bench' }));
    for (let step = 0; step < EPISODE_STEPS; step++) lines.push(JSON.stringify(stepOf(episode, step)));
    lines.push(JSON.stringify({ type: 'end', episode }));
  }
  await post(records, 'application/x-ndjson', lines.join('\n'));
  return BATCH_STEPS;
}

/** Each client records one episode after the other, a step a request. */
function newSingleClient(records) {
  const places = new Map();
  return async (number) => {
    const place = places.get(number) ?? { episode: randomUUID(), step: 0 };
    const body = [];
    if (place.step === 0) body.push({ type: 'episode', episode: place.episode, environment: 'bench' });
    body.push(stepOf(place.episode, place.step));
    await post(records, 'application/json', JSON.stringify(body));
    places.set(number, place.step + 1 < EPISODE_STEPS ? { ...place, step: place.step + 1 } : undefined);
    return 1;
  };
}

function stepOf(episode, step) {
  return { type: 'step', episode, step, observation: OBSERVATION, action: ACTION, reward: 0 };
}

async function numStored(url, runId) {
  const query = `SELECT count() FROM steps WHERE run_id = '${runId}'`;
  const until = performance.now() + STORED_WITHIN_MS;
  for (;;) {
    const { rows } = JSON.parse(await post(`${url}/api/sql`, 'application/json', JSON.stringify({ query })));
    if (rows[0][0] >= acknowledged || performance.now() > until) return rows[0][0];
    await sleep(500);
  }
}

function post(url, type, body) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode < 300) resolve(text);
        else reject(new Error(`${url} answered ${response.statusCode}: ${text.slice(0, 500)}`));
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
