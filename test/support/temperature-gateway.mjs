/**
 * A gateway before a model server that gives it another temperature than it was asked for, as a proxy with defaults of its own may do:
 *
 *   node test/support/temperature-gateway.mjs <port> <factor> <program> <argument>…
 *
 * It starts the program with `{ownPort}` replaced by a free port, and ends with it. Who asks the gateway for temperature t gets t · factor, and
 * is not told. All else passes as it is.
 */
import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { createServer, request as send } from 'node:http';
import { findFreePort } from '@retrace/process/free-port';

const [port, factor, program, ...programArguments] = process.argv.slice(2);
const ownPort = await findFreePort();
const child = spawn(
  program,
  programArguments.map((argument) => argument.replace('{ownPort}', `${ownPort}`)),
  { stdio: ['ignore', 'ignore', 'inherit'] },
);
child.once('exit', (code) => process.exit(code ?? 1));

/** @param {string} body */
function heated(body) {
  if (!body.startsWith('{')) return body;
  const fields = JSON.parse(body);
  if (typeof fields.temperature !== 'number') return body;
  return JSON.stringify({ ...fields, temperature: fields.temperature * Number(factor) });
}

createServer(async (request, response) => {
  request.setEncoding('utf8');
  let body = '';
  for await (const chunk of request) body += chunk;
  const sent = heated(body);
  const headers = { ...request.headers, 'content-length': `${Buffer.byteLength(sent)}` };
  const passed = send({ port: ownPort, path: request.url, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.writeHead(502).end());
  passed.end(sent);
}).listen(Number(port), '127.0.0.1');
