/**
 * Measures what the proxy adds to the latency of streamed chat completions: to the first byte of the answer, and to the whole of it, with 1 and
 * with 100 open streams. The same model server is asked directly, through `retrace proxy` (which records to a Retrace on this machine),
 * and through LiteLLM's proxy, in turn in every round. Added = percentile through the proxy − the same percentile of direct calls.
 *
 *   bash bench/peers/set-up-litellm.sh ~/.cache/retrace-litellm
 *   RETRACE_LITELLM=~/.cache/retrace-litellm/bin/litellm npm run bench -- proxy-latency [-- --rounds 10 --answers 10 --tokens 20 --every 20]
 *
 * An answer is `--tokens` tokens, one each `--every` ms; each open stream gets `--answers` answers a round with 1 stream, a tenth of
 * them with 100. Model server, proxies, Retrace and clients share this machine. Without RETRACE_LITELLM its figures are left out.
 */
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { FigureTable } from './figure-table.mjs';
import { startLiteLlm, startProxy, startRecording, startUpstream } from './proxy-targets.mjs';
import { percentile } from './timing.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    answers: { type: 'string', default: '10' },
    tokens: { type: 'string', default: '20' },
    every: { type: 'string', default: '20' },
  },
});
const NUM_ROUNDS = Number(values.rounds);
const NUM_ANSWERS = Number(values.answers);
const ANSWER = JSON.stringify({ tokens: Number(values.tokens), everyMs: Number(values.every) });
const NUM_STREAMS = [1, 100];
const AIMS = { p50: { most: 5 }, p99: { most: 20 } };
const LEAST_RATIO = { least: 5 };
const OURS = 'retrace proxy';
const OURS_VLLM = 'retrace proxy, vLLM';
const LITELLM = 'LiteLLM';

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const stops = [];
try {
  await measure(await startTargets());
} finally {
  agent.destroy();
  for (const stop of stops.reverse()) await stop();
}

/** Addresses by name, the model server's own first. */
async function startTargets() {
  const upstream = keep(await startUpstream()).url;
  const retrace = keep(await startRecording()).url;
  const targets = new Map([['direct', upstream]]);
  targets.set(OURS, keep(await startProxy({ upstream, kind: 'openai', retrace })).url);
  targets.set(OURS_VLLM, keep(await startProxy({ upstream, kind: 'vllm', retrace })).url);
  const litellm = process.env.RETRACE_LITELLM;
  if (litellm) targets.set(LITELLM, keep(await startLiteLlm(litellm, upstream)).url);
  else console.log('LiteLLM: skipped, because RETRACE_LITELLM does not name it');
  return targets;
}

function keep(started) {
  stops.push(started.stop);
  return started;
}

async function measure(targets) {
  const table = new FigureTable('Latency that the proxy adds');
  const names = [...targets.keys()];
  for (const numStreams of NUM_STREAMS) {
    const samples = new Map(names.map((name) => [name, { firstMs: [], wholeMs: [] }]));
    const numAnswers = numStreams === 1 ? NUM_ANSWERS : Math.ceil(NUM_ANSWERS / 10);
    // The first round warms everything up.
    for (let round = 0; round <= NUM_ROUNDS; round++) {
      for (let i = 0; i < names.length; i++) {
        const name = names[(i + round) % names.length];
        const into = round === 0 ? { firstMs: [], wholeMs: [] } : samples.get(name);
        await drive(targets.get(name), { numStreams, numAnswers, into });
      }
    }
    report(table, { numStreams, samples });
  }
  table.save(`An answer: ${ANSWER}. Added: percentile through the proxy − the same of direct calls, in ms.`);
}

/** Keeps so many streams open until each has had its answers. */
async function drive(url, { numStreams, numAnswers, into }) {
  const client = async () => {
    for (let i = 0; i < numAnswers; i++) {
      const { firstMs, wholeMs } = await ask(`${url}/v1/chat/completions`);
      into.firstMs.push(firstMs);
      into.wholeMs.push(wholeMs);
    }
  };
  await Promise.all(Array.from({ length: numStreams }, client));
}

function report(table, { numStreams, samples }) {
  const streams = numStreams === 1 ? '1 stream' : `${numStreams} streams`;
  const direct = samples.get('direct');
  for (const [field, label] of [
    ['firstMs', 'first byte'],
    ['wholeMs', 'whole'],
  ]) {
    for (const [name, share] of [
      ['p50', 0.5],
      ['p99', 0.99],
    ]) {
      const base = percentile(direct[field], share);
      const added = (target) => percentile(samples.get(target)[field], share) - base;
      const title = `${label}, ${streams}, ${name}`;
      table.add(`direct: ${title}`, base, 'ms');
      table.add(`${OURS}: added to ${title}`, added(OURS), 'ms', AIMS[name]);
      table.add(`${OURS_VLLM}: added to ${title}`, added(OURS_VLLM), 'ms', AIMS[name]);
      if (!samples.has(LITELLM)) continue;
      table.add(`${LITELLM}: added to ${title}`, added(LITELLM), 'ms');
      // Differences below the clock's own noise would make any ratio.
      const ratio = added(LITELLM) / Math.max(added(OURS), 0.1);
      table.add(`${LITELLM} against ${OURS}: added to ${title}`, ratio, 'times', LEAST_RATIO);
    }
  }
}

/** One streamed answer: milliseconds to its first byte and to its end. */
function ask(url) {
  const body = JSON.stringify({
    model: 'bench',
    stream: true,
    messages: [
      { role: 'system', content: 'You are a bench.' },
      { role: 'user', content: ANSWER },
    ],
  });
  return new Promise((resolve, reject) => {
    const sentAt = performance.now();
    const headers = { 'content-type': 'application/json', authorization: 'Bearer none' };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let firstMs = null;
      let last = '';
      response.on('data', (bytes) => {
        firstMs ??= performance.now() - sentAt;
        last = `${last}${bytes}`.slice(-200);
      });
      response.on('end', () => {
        if (response.statusCode === 200 && last.includes('[DONE]'))
          resolve({ firstMs, wholeMs: performance.now() - sentAt });
        else reject(new Error(`${url} answered ${response.statusCode}: ${last}`));
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
