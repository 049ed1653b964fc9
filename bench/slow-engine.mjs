/**
 * A server of vLLM's completions, as far as the collector asks it: token ids in, token ids and logprobs out, each answer after a fixed time.
 * It runs in a process of its own (`node bench/slow-engine.mjs <milliseconds>`), and sends its address to the parent.
 */
import { createServer } from 'node:http';

const latencyMs = Number(process.argv[2]);
process.once('disconnect', () => process.exit());

/** Two tokens that end a turn at its greatest length: which ones does not matter to the time. */
const answer = JSON.stringify({
  choices: [
    { token_ids: [1], finish_reason: 'length', stop_reason: null, logprobs: { token_logprobs: [-0.5] } },
  ],
});

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
    }, latencyMs);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
