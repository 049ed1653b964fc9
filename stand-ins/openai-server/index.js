/**
 * A server of OpenAI's API for tests: the HTTP protocol is exact (chat completions and responses, streamed or not, tools, errors), the
 * model is a function of the test. It counts words as tokens.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatChunks, chatCompletion } from './chat.js';
import { responseEvents, responseObject } from './responses.js';

/** @param {string} value */
export function countTokens(value) {
  return value.split(/\s+/).filter((word) => word !== '').length;
}

export async function startOpenAiServer(reply, { port = 0 } = {}) {
  const requests = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      response.destroy(error);
    });
  });

  async function answer(request, response) {
    const path = new URL(request.url, 'http://localhost').pathname;
    if (request.method === 'GET' && path === '/v1/models') {
      return sendJson(response, 200, {
        object: 'list',
        data: [{ id: 'stand-in', object: 'model', created: 1, owned_by: 'tests' }],
      });
    }
    const api = { '/v1/chat/completions': 'chat', '/v1/responses': 'responses' }[path];
    if (request.method !== 'POST' || api === undefined)
      return sendError(response, 404, `Unknown path ${path}`);
    const body = JSON.parse(await text(request));
    const asked = readRequest(api, body, request.headers);
    const n = requests.push(asked);
    const told = await reply(asked);
    if (told.delayMs) await sleep(told.delayMs);
    if ((told.status ?? 200) !== 200) return sendError(response, told.status, told.content ?? 'error');
    const made = completeReply(told, asked, n);
    if (!asked.stream)
      return sendJson(response, 200, api === 'chat' ? chatCompletion(made) : responseObject(made));
    return sendEvents(
      response,
      api === 'chat' ? chatChunks(made) : responseEvents(made),
      told.breaks ?? false,
    );
  }

  await new Promise((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}

function readRequest(api, body, headers) {
  const input =
    api === 'chat'
      ? body.messages
      : typeof body.input === 'string'
        ? [{ role: 'user', content: body.input }]
        : body.input;
  const users = input.filter(({ role }) => role === 'user');
  const results = input.filter(({ role, type }) => role === 'tool' || type === 'function_call_output');
  return {
    api,
    model: body.model,
    stream: body.stream === true,
    body,
    headers,
    input,
    question: textOf(users.at(-1)?.content),
    toolResults: results.map(({ content, output }) => textOf(content ?? output)),
    toolNames: (body.tools ?? []).map(({ name, function: declared }) => name ?? declared?.name),
  };
}

/** Gives an answer the ids and counts that a server would. */
function completeReply(told, { body, model, input }, n) {
  const toolCalls = (told.toolCalls ?? []).map(({ id, name, arguments: given }, i) => ({
    id: id ?? `call_${n}_${i}`,
    name,
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
  }));
  const content = told.content ?? '';
  const reasoning = told.reasoning ?? '';
  const outputTokens = countTokens(
    `${reasoning} ${content} ${toolCalls.map((call) => call.arguments).join(' ')}`,
  );
  return {
    n,
    body,
    model,
    content,
    reasoning,
    toolCalls,
    finishReason: told.finishReason ?? 'stop',
    usage: {
      input: countTokens(JSON.stringify(input)),
      cached: n > 1 ? 1 : 0,
      output: outputTokens,
      reasoning: countTokens(reasoning),
    },
  };
}

function textOf(content) {
  if (Array.isArray(content)) return content.map((part) => part.text ?? '').join('');
  return content ?? '';
}

function sendJson(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_test' });
  response.end(JSON.stringify(body));
}

function sendError(response, status, message) {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  sendJson(response, status, { error: { message, type, param: null, code: null } });
}

async function sendEvents(response, events, breaks) {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const sent = breaks ? events.slice(0, Math.ceil(events.length / 2)) : events;
  for (const { event, data } of sent) {
    const payload = typeof data === 'string' ? data : JSON.stringify(data);
    response.write(`${event ? `event: ${event}\n` : ''}data: ${payload}\n\n`);
    // Each in a packet of its own, as a model's tokens come.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  if (breaks) response.destroy();
  else response.end();
}
