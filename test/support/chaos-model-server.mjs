/**
 * A server of vLLM's completions and adapters that fails in the ways in which servers do. Its tokens are drawn at random, one of those that it
 * was told of; which request fails, and how, follows from a seed and the number of the request. It also counts what it did.
 *
 * It is a stand-in: it has the routes and fields of vLLM 0.32 that the collector uses, and none of its model.
 */
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { deriveSeed, Pcg32 } from '@retrace/environments';

const STORM_EVERY_MS = 4_000;
const STORM_MS = 300;

/** Each gets the request, its response, and the answer that is right. */
const FAULTS = {
  hang: () => undefined,
  closeAtOnce: ({ request }) => request.socket.destroy(),
  closeInTheMiddle: ({ response, answer }) => {
    response.writeHead(200, { 'content-length': answer.length });
    response.write(answer.slice(0, answer.length / 2), () => response.destroy());
  },
  serverError: ({ response }) => response.writeHead(500).end('CUDA error: out of memory'),
  overloaded: ({ response }) => response.writeHead(503, { 'retry-after': '0' }).end(),
  garbage: ({ response }) => response.end('<html>Bad gateway</html>'),
  noChoices: ({ response }) => response.end('{"choices":[]}'),
  hugeText: ({ response }) => response.end(JSON.stringify({ error: 'x'.repeat(10_000_000) })),
  hugeTokens: ({ respond }) => respond({ token_ids: new Array(2_000_000).fill(3) }),
  nanLogprob: ({ respond }) => respond({ logprobs: { token_logprobs: ['NaN'] } }),
  missingLogprobs: ({ respond }) => respond({ logprobs: null }),
  tooManyLogprobs: ({ respond }) => respond({ logprobs: { token_logprobs: [-1, -1, -1] } }),
  negativeToken: ({ respond }) => respond({ token_ids: [-7] }),
  unknownToken: ({ respond }) => respond({ token_ids: [2_000_000_000] }),
  doubled: ({ request, answer }) => {
    const one = `HTTP/1.1 200 OK\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`;
    request.socket.write(one + one);
  },
  slow: async ({ response, answer }) => {
    await sleep(200);
    response.end(answer);
  },
};
const FAULT_NAMES = Object.keys(FAULTS);
/** These cost some tenths of a second each, so they come a tenth as often. */
const RARE = ['hugeText', 'hugeTokens'];

/** @param {Pcg32} random */
function drawFault(random) {
  const fault = FAULT_NAMES[random.nextBelow(FAULT_NAMES.length)];
  return RARE.includes(fault) && random.nextFloat() < 0.9 ? 'serverError' : fault;
}

/**
 * @param {{ seed: number, faultFraction: number, tokenIds: readonly number[] }} options tokens that it draws from
 * @returns {Promise<{ url: string, counts: Record<string, number>, close: () => void }>}
 */
export async function startChaosModelServer({ seed, faultFraction, tokenIds }) {
  const adapters = new Set();
  /** @type {Record<string, number>} */
  const counts = { requests: 0, storm: 0, right: 0 };
  const startedAt = performance.now();

  const complete = (request, response) => {
    const random = new Pcg32(deriveSeed('chaos model', seed, counts.requests++));
    const tokenId = tokenIds[random.nextBelow(tokenIds.length)];
    const choice = {
      token_ids: [tokenId],
      finish_reason: 'length',
      stop_reason: null,
      logprobs: { token_logprobs: [-Math.log(tokenIds.length)] },
    };
    const answer = JSON.stringify({ choices: [choice] });
    const respond = (change) => response.end(JSON.stringify({ choices: [{ ...choice, ...change }] }));
    if ((performance.now() - startedAt) % STORM_EVERY_MS < STORM_MS) {
      counts.storm++;
      response.writeHead(429, { 'retry-after': '0' }).end('rate limit');
      return;
    }
    const fault = random.nextFloat() < faultFraction ? drawFault(random) : null;
    counts[fault ?? 'right'] = (counts[fault ?? 'right'] ?? 0) + 1;
    if (fault === null) response.end(answer);
    else void FAULTS[fault]({ request, response, answer, respond });
  };

  const routes = {
    'GET /version': (_, response) => response.end('{"version":"0.32.0"}'),
    'GET /v1/models': (_, response) =>
      response.end(JSON.stringify({ data: [...adapters].map((id) => ({ id })) })),
    'POST /v1/load_lora_adapter': (body, response) => {
      adapters.add(body.lora_name);
      response.end('"loaded"');
    },
    'POST /v1/unload_lora_adapter': (body, response) => {
      adapters.delete(body.lora_name);
      response.end('"unloaded"');
    },
  };

  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = chunks.length === 0 ? null : JSON.parse(chunks.join(''));
      const route = `${request.method} ${request.url}`;
      // The collector asks for the likeliest tokens when it finds out which logprobs it gets.
      if (route === 'POST /v1/completions' && body.logprobs > 0) response.end(likeliest(body, tokenIds));
      else if (route === 'POST /v1/completions') complete(request, response);
      else routes[route](body, response);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    counts,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Logprobs after temperature, as vLLM gives them with `--logprobs-mode processed_logprobs`: of weights 1, 2, 3 … */
function likeliest({ temperature, logprobs: numTokens }, tokenIds) {
  const scores = tokenIds.map((_, n) => n / temperature);
  const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
  const top = scores
    .map((score, n) => [`token_id:${tokenIds[n]}`, score - total])
    .sort(([, a], [, b]) => b - a)
    .slice(0, numTokens);
  const logprobs = { token_logprobs: [top[0][1]], top_logprobs: [Object.fromEntries(top)] };
  return JSON.stringify({ choices: [{ token_ids: [tokenIds[0]], finish_reason: 'length', logprobs }] });
}
