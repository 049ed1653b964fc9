/**
 * A program that stands in for a vLLM which is started with its weights: `node named-model-server.mjs PORT NAME`. It serves them under their name, and each
 * of its turns is its process id, as digits of one token each, which is a digit and 1.
 */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const [port, name] = process.argv.slice(2);
const tokens = Array.from(`${process.pid}`, (digit) => Number(digit) + 1);
const logprobs = {
  token_logprobs: tokens.map(() => -0.5),
  top_logprobs: [{ 'token_id:1': -0.5, 'token_id:2': -1.5 }],
};
const turn = {
  choices: [{ token_ids: tokens, logprobs, finish_reason: 'length' }],
  usage: { completion_tokens: tokens.length },
};

createServer(async (request, response) => {
  const body = request.method === 'POST' ? await json(request) : {};
  const isTurn = request.url === '/v1/completions' && body.model === name;
  response.end(JSON.stringify(isTurn ? turn : { version: '0.32.0', data: [{ id: name }] }));
}).listen(Number(port), '127.0.0.1');
