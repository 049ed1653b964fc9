/** A torch worker that trainers of a bench open by its address (`engine.url`). */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServerProcess } from '@retrace/process';
import { engineCommand, pythonEnvironment } from '@retrace/trainer/torch';

const TOKEN = 'a token of a bench';
const START_TIMEOUT_MS = 240_000;

export class EngineWorker {
  constructor(server, url, tokenFile) {
    this.server = server;
    this.url = url;
    /** Of a recipe. */
    this.section = { kind: 'torch', url, tokenFile };
  }

  /** Starts so many ranks of so many threads each. */
  static async start(python, { directory, ranks = 1, threads }) {
    const tokenFile = join(directory, 'token');
    writeFileSync(tokenFile, TOKEN);
    const server = new ServerProcess({
      command: [
        ...engineCommand({ python, processes: ranks }),
        ...['--host', '127.0.0.1', '--port', '{port}', '--token-file', tokenFile],
      ],
      directory: undefined,
      environment: { ...pythonEnvironment(), OMP_NUM_THREADS: `${threads}` },
      port: null,
      startTimeoutMs: START_TIMEOUT_MS,
      check: (url, signal) => ask(url, 'engine', signal),
    });
    return new EngineWorker(server, await server.start(), tokenFile);
  }

  /** Seconds of its forward, backward and step calls so far, and tokens of the forward calls. */
  async work() {
    const { forwardSeconds, backwardSeconds, stepSeconds, tokens } = await ask(this.url, 'metrics');
    return { seconds: forwardSeconds + backwardSeconds + stepSeconds, tokens };
  }

  /** Process id of the only rank. */
  get pid() {
    const listed = execFileSync('pgrep', ['-f', `^[^ ]+ -m retrace.engine .*${this.section.tokenFile}`]);
    return Number(listed.toString());
  }

  stop() {
    return this.server.stop();
  }
}

async function ask(url, name, signal) {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const response = await fetch(`${url}/v1/${name}`, { headers, signal });
  if (!response.ok) throw new Error(`${url}/v1/${name}: status ${response.status}`);
  return response.json();
}
