/**
 * Measures what `retrace proxy` adds to streamed calls: the time from the moment at which the model server writes an event to the moment at
 * which the client has it, directly and through the proxy, and how long the last event waits for the disk. Server, proxy and clients are
 * processes of their own; Retrace is down, so that all records are spooled.
 *
 *   npm run bench -- proxy [-- --streams 100 --events 200 --interval 50]
 */
import { Buffer } from 'node:buffer';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TextDecoderStream } from 'node:stream/web';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startProxy } from '@retrace/gateway/proxy';
import { FigureTable } from './figure-table.mjs';
import { percentile } from './timing.mjs';

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '100' },
    events: { type: 'string', default: '200' },
    interval: { type: 'string', default: '50' },
    role: { type: 'string', default: 'main' },
    config: { type: 'string', default: '{}' },
  },
});
const numStreams = Number(values.streams);
const numEvents = Number(values.events);
const intervalMs = Number(values.interval);
/** Microseconds since the epoch on the machine's steady clock: the same in every process. */
const nowUs = () => Number(process.hrtime.bigint() / 1000n);

/** A model server whose events carry the time at which they were written; with token ids when they are asked for, as vLLM's. */
async function serve() {
  const server = createServer(async (request, response) => {
    if (request.url === '/version') return response.end('{"version":"0.32.0"}');
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = JSON.parse(Buffer.concat(chunks).toString() || '{}');
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let i = 0; i < numEvents; i++) {
      const choice = {
        index: 0,
        delta: { content: ' word' },
        logprobs: null,
        finish_reason: null,
        token_ids: null,
      };
      if (asked.return_token_ids) choice.token_ids = [i];
      if (asked.logprobs)
        choice.logprobs = { content: [{ token: ' word', logprob: -1.5, bytes: [32], top_logprobs: [] }] };
      if (i === numEvents - 1) choice.finish_reason = 'length';
      const ids = { prompt_token_ids: i === 0 && asked.return_token_ids ? [1, 2, 3] : null };
      const chunk = {
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        ...ids,
        choices: [choice],
      };
      response.write(`data: ${JSON.stringify({ ...chunk, writtenUs: nowUs() })}\n\n`);
      await sleep(intervalMs);
    }
    response.end('data: [DONE]\n\n');
  });
  server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
}

/** Reads one stream; returns the delay of each event in milliseconds. */
async function readStream(url, index) {
  const delays = [];
  const messages = [{ role: 'user', content: `stream ${index}` }];
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', temperature: 1, stream: true, messages }),
  });
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const arrivedUs = nowUs();
    const parts = (rest + text).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const written = /"writtenUs":(\d+)/.exec(part);
      if (written) delays.push((arrivedUs - Number(written[1])) / 1000);
    }
  }
  return delays;
}

async function delaysOf(url) {
  const streams = Array.from({ length: numStreams }, async (_, i) => {
    // Streams do not write in step.
    await sleep((i * intervalMs) / numStreams);
    return readStream(url, i);
  });
  return (await Promise.all(streams)).flat();
}

async function child(role, config = {}) {
  const args = [
    '--role',
    role,
    '--config',
    JSON.stringify(config),
    '--events',
    values.events,
    '--interval',
    values.interval,
  ];
  const started = fork(fileURLToPath(import.meta.url), args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [url] = await once(started, 'message');
  return { url, stop: () => started.kill('SIGKILL') };
}

async function main() {
  const directory = await mkdtemp(join(tmpdir(), 'retrace-proxy-bench-'));
  const server = await child('server');
  const table = new FigureTable(
    `Delay of streamed events, ${numStreams} streams of ${numEvents} events every ${intervalMs} ms`,
  );
  const measure = async (url) => {
    await delaysOf(url);
    return delaysOf(url);
  };
  const direct = await measure(server.url);
  for (const q of [0.5, 0.99]) table.add(`directly: p${q * 100}`, percentile(direct, q), 'ms');
  for (const [name, upstreamKind] of [
    ['through the proxy, bytes untouched', 'other'],
    ['through the proxy, token ids asked for and hidden', 'vllm'],
  ]) {
    const proxy = await child('proxy', {
      upstream: server.url,
      upstreamKind,
      upstreamKey: null,
      upstreamTimeoutMs: 60_000,
      host: '127.0.0.1',
      port: 0,
      allowedHosts: [],
      retraceUrl: 'http://127.0.0.1:9',
      retraceKey: null,
      run: 'bench',
      stateDirectory: join(directory, upstreamKind),
      idleMs: 3_600_000,
      maxBodyBytes: 1024 ** 2,
      logprobMode: null,
    });
    const delays = await measure(proxy.url);
    for (const [q, most] of [
      [0.5, 5],
      [0.99, 20],
    ]) {
      table.add(`${name}: p${q * 100}, added`, percentile(delays, q) - percentile(direct, q), 'ms', { most });
    }
    const metrics = await (await fetch(`${proxy.url}/metrics`)).text();
    const number = (suffix) => Number(new RegExp(`disk_wait_seconds_${suffix} (\\S+)`).exec(metrics)?.[1]);
    table.add(`${name}: mean wait for the disk`, (number('sum') / number('count')) * 1000, 'ms', { most: 1 });
    proxy.stop();
  }
  server.stop();
  await rm(directory, { recursive: true, force: true });
  table.save();
}

if (values.role === 'server') await serve();
else if (values.role === 'proxy')
  process.send((await startProxy(JSON.parse(values.config), { warn: () => undefined })).url);
else await main();
