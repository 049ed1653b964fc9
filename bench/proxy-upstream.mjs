/**
 * A model server for `proxy-latency.bench.mjs`, in a process of its own: chat completions, streamed or not. The text of the last message says what to
 * answer: `{ "tokens": 20, "everyMs": 10 }`. It gives token ids and log-probabilities when they are asked for, as vLLM does. Writes
 * its port as a line.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const HEAD = { id: 'chatcmpl-bench', created: 1_700_000_000, model: 'bench' };
const LOGPROB = { token: ' word', logprob: -0.5, bytes: [32, 119, 111, 114, 100], top_logprobs: [] };

const server = createServer((request, response) => {
  answer(request, response).catch((error) => response.destroy(error));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

async function answer(request, response) {
  if (request.method === 'GET')
    return sendJson(response, { object: 'list', data: [{ id: 'bench', object: 'model' }] });
  const body = JSON.parse(await text(request));
  const { tokens, everyMs } = JSON.parse(body.messages.at(-1).content);
  const usage = { prompt_tokens: 12, completion_tokens: tokens, total_tokens: 12 + tokens };
  if (!body.stream) {
    const message = { role: 'assistant', content: ' word'.repeat(tokens) };
    return sendJson(response, {
      ...HEAD,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    });
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.socket.setNoDelay(true);
  const startedAt = performance.now();
  for (let i = 0; i < tokens; i++) {
    // To a schedule, so that a delay of one token does not move the others.
    await sleep(Math.max(0, startedAt + (i + 1) * everyMs - performance.now()));
    response.write(`data: ${JSON.stringify(chunk(body, i, tokens))}\n\n`);
  }
  if (body.stream_options?.include_usage)
    response.write(
      `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
    );
  response.end('data: [DONE]\n\n');
}

function chunk(body, i, tokens) {
  const choice = {
    index: 0,
    delta: { ...(i === 0 && { role: 'assistant' }), content: ' word' },
    logprobs: body.logprobs ? { content: [LOGPROB] } : null,
    finish_reason: i === tokens - 1 ? 'stop' : null,
    ...(body.return_token_ids && { token_ids: [7] }),
  };
  const prompt =
    body.return_token_ids && i === 0 ? { prompt_token_ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] } : {};
  return { ...HEAD, object: 'chat.completion.chunk', choices: [choice], ...prompt };
}

function sendJson(response, body) {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
