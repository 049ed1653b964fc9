/**
 * A server of OpenAI's and Anthropic's APIs for tests: the HTTP protocol is exact (chat completions, completions, responses and messages,
 * streamed or not, tools, errors), the model is a function of the test. It counts words as tokens. As the engine `vllm` it answers chat
 * completions and completions with the fields of vLLM, token ids and log-probabilities among them.
 */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatChunks, chatCompletion } from './chat.js';
import { messageError, messageEvents, messageObject, readMessages } from './messages.js';
import { responseEvents, responseObject } from './responses.js';
import { tokensOf, vllmChatCompletion, vllmCompletion, vllmError, vllmEvents, Vocabulary } from './vllm.js';

/** @param {string} value */
export function countTokens(value) {
  return value.split(/\s+/).filter((word) => word !== '').length;
}

const MESSAGES = { path: '/v1/messages', object: messageObject, events: messageEvents, error: messageError };
const APIS = {
  openai: {
    chat: { path: '/v1/chat/completions', object: chatCompletion, events: chatChunks, error: openAiError },
    responses: { path: '/v1/responses', object: responseObject, events: responseEvents, error: openAiError },
    messages: MESSAGES,
  },
  vllm: {
    chat: { path: '/v1/chat/completions', object: vllmChatCompletion, events: vllmEvents, error: vllmError },
    completions: { path: '/v1/completions', object: vllmCompletion, events: vllmEvents, error: vllmError },
    responses: { path: '/v1/responses', object: responseObject, events: responseEvents, error: vllmError },
    messages: MESSAGES,
  },
};
/** Fields of vLLM and SGLang, which OpenAI refuses. */
const ENGINE_FIELDS = ['return_token_ids', 'return_prompt_token_ids', 'return_meta_info', 'top_k'];

export async function startOpenAiServer(reply, { port = 0, engine = 'openai' } = {}) {
  const requests = [];
  const vocabulary = new Vocabulary();
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      response.destroy(error);
    });
  });

  async function answer(request, response) {
    const path = new URL(request.url, 'http://localhost').pathname;
    if (request.method === 'GET' && path === '/v1/models') return sendJson(response, 200, modelList(engine));
    if (request.method === 'GET' && path === '/version' && engine === 'vllm')
      return sendJson(response, 200, { version: '0.32.0' });
    const [api, protocol] = Object.entries(APIS[engine]).find(([, known]) => known.path === path) ?? [];
    if (request.method !== 'POST' || api === undefined)
      return sendJson(response, 404, openAiError(404, `Unknown path ${path}`));
    const body = JSON.parse(await text(request));
    const unknown = engine === 'openai' && api !== 'messages' && ENGINE_FIELDS.find((name) => name in body);
    if (unknown)
      return sendJson(response, 400, openAiError(400, `Unrecognized request argument supplied: ${unknown}`));
    const asked = readRequest(api, body, request.headers);
    const n = requests.push(asked);
    const told = await reply(asked);
    if (told.delayMs) await sleep(told.delayMs);
    if ((told.status ?? 200) !== 200)
      return sendJson(response, told.status, protocol.error(told.status, told.content ?? 'error'));
    const made = completeReply(told, asked, n);
    if (engine === 'vllm' && api !== 'responses' && api !== 'messages')
      made.tokens = tokensOf(vocabulary, made);
    if (!asked.stream) return sendJson(response, 200, protocol.object(made));
    return sendEvents(response, protocol.events(made), told);
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
  return {
    api,
    model: body.model,
    stream: body.stream === true,
    body,
    headers,
    ...(api === 'messages' ? readMessages(body) : readOpenAi(api, body)),
  };
}

function readOpenAi(api, body) {
  const given = api === 'chat' ? body.messages : api === 'completions' ? String(body.prompt) : body.input;
  const input = typeof given === 'string' ? [{ role: 'user', content: given }] : given;
  const users = input.filter(({ role }) => role === 'user');
  const results = input.filter(({ role, type }) => role === 'tool' || type === 'function_call_output');
  return {
    input,
    question: textOf(users.at(-1)?.content),
    toolResults: results.map(({ content, output }) => textOf(content ?? output)),
    toolNames: (body.tools ?? []).map(({ name, function: declared }) => name ?? declared?.name),
  };
}

/** Gives an answer the ids and counts that a server would. */
function completeReply(told, { api, body, model, input }, n) {
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
    id: n.toString(16).padStart(16, '0'),
    api,
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

function modelList(engine) {
  const model = {
    id: 'stand-in',
    object: 'model',
    created: 1,
    owned_by: engine === 'vllm' ? 'vllm' : 'tests',
  };
  return { object: 'list', data: [model] };
}

function sendJson(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_test' });
  response.end(JSON.stringify(body));
}

function openAiError(status, message) {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error';
  return { error: { message, type, param: null, code: null } };
}

async function sendEvents(response, events, { breaks = false, betweenMs = 0 }) {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const sent = breaks ? events.slice(0, Math.ceil(events.length / 2)) : events;
  for (const { event, data } of sent) {
    const payload = typeof data === 'string' ? data : JSON.stringify(data);
    response.write(`${event ? `event: ${event}\n` : ''}data: ${payload}\n\n`);
    // Each in a packet of its own, as a model's tokens come.
    if (betweenMs > 0) await sleep(betweenMs);
    else
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  }
  if (breaks) response.destroy();
  else response.end();
}
