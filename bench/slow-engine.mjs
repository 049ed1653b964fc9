/**
 * A server of vLLM's completions, as far as the collector asks it: token ids in, token ids and logprobs out, each answer after a fixed time.
 * It runs in a process of its own (`node bench/slow-engine.mjs <milliseconds>`), and sends its address to the parent.
 *
 * It reads no more of HTTP/1.1 than where a request ends, so that it takes little of the machine that the collector is measured on.
 */
import { Buffer } from 'node:buffer';
import { createServer } from 'node:net';
import { performance } from 'node:perf_hooks';

const latencyMs = Number(process.argv[2]);
process.once('disconnect', () => process.exit());
/** Asked for, since when the last question was answered: how long it truly took for an answer, from its whole request to its last byte. */
let [sumHeldMs, numAnswered] = [0, 0];
process.on('message', () => {
  process.send({ meanHeldMs: sumHeldMs / numAnswered });
  [sumHeldMs, numAnswered] = [0, 0];
});

/** One token, which ends a turn at its greatest length: which one does not matter to the time. */
const body = JSON.stringify({
  choices: [
    { token_ids: [1], finish_reason: 'length', stop_reason: null, logprobs: { token_logprobs: [-0.5] } },
  ],
});
const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
const answer = Buffer.from(head + body);

/** Sockets that wait for their answer, the longest waiting first, since all wait equally long. */
let waiting = [];
let timer = null;

function answerDue() {
  timer = null;
  const nowMs = performance.now();
  const next = waiting.findIndex(({ dueMs }) => dueMs > nowMs);
  const due = waiting.splice(0, next < 0 ? waiting.length : next);
  for (const { socket, dueMs } of due) {
    socket.write(answer);
    sumHeldMs += latencyMs + performance.now() - dueMs;
  }
  numAnswered += due.length;
  schedule();
}

function schedule() {
  if (timer !== null || waiting.length === 0) return;
  timer = setTimeout(answerDue, Math.max(1, Math.ceil(waiting[0].dueMs - performance.now())));
}

/** Whether the bytes of a connection hold a whole request. */
function isWhole(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/i.exec(bytes.latin1Slice(0, headEnd));
  return bytes.length >= headEnd + 4 + Number(length?.[1] ?? 0);
}

const server = createServer({ noDelay: true }, (socket) => {
  let bytes = null;
  socket.on('data', (chunk) => {
    bytes = bytes === null ? chunk : Buffer.concat([bytes, chunk]);
    if (!isWhole(bytes)) return;
    bytes = null;
    waiting.push({ socket, dueMs: performance.now() + latencyMs });
    schedule();
  });
  socket.on('close', () => {
    waiting = waiting.filter((one) => one.socket !== socket);
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
