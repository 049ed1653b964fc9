/** The store of agent-lightning, a process of its own: it holds events in memory and takes one a request. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const READY_WITHIN_MS = 60_000;
const ATTEMPT = '0';

export class AgentLightningPeer {
  /**
   * Starts `python -m agentlightning.server`, as its documentation does.
   *
   * @param python one with agentlightning 1.0
   */
  static async start(python) {
    const port = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-agent-lightning-'));
    const options = [
      'host=127.0.0.1',
      `port=${port}`,
      `hydra.run.dir=${directory}`,
      'hydra.output_subdir=null',
    ];
    const child = spawn(python, ['-m', 'agentlightning.server', ...options], {
      cwd: directory,
      // It prints a line a request; a server that is measured writes no terminal.
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const peer = new AgentLightningPeer(child, directory, `http://127.0.0.1:${port}`);
    await peer.#untilReady();
    return peer;
  }

  #errors = '';

  constructor(child, directory, url) {
    Object.assign(this, { child, directory, url });
    child.stderr.on('data', (chunk) => (this.#errors = (this.#errors + chunk).slice(-2000)));
  }

  /** Makes a rollout for each id; returns the addresses that take their events. */
  async makeRollouts(ids) {
    const body = ids.map((id) => ({ rollout_id: id, input: {} }));
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${this.url}/api/rollouts`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`agent-lightning answered ${answer.status}: ${await answer.text()}`);
    return ids.map((id) => `${this.url}/api/rollouts/${id}/attempt/${ATTEMPT}/events`);
  }

  async numEvents(ids) {
    let sum = 0;
    for (const id of ids) sum += (await (await fetch(`${this.url}/api/rollouts/${id}/events`)).json()).length;
    return sum;
  }

  async stop() {
    if (this.child.exitCode === null) {
      this.child.kill('SIGKILL');
      await once(this.child, 'exit');
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  async #untilReady() {
    for (const startedAt = Date.now(); Date.now() - startedAt < READY_WITHIN_MS; await sleep(100)) {
      if (this.child.exitCode !== null) break;
      const answer = await fetch(`${this.url}/healthz`).catch(() => null);
      if (answer?.ok) return;
    }
    await this.stop();
    throw new Error(`agent-lightning did not start: ${this.#errors}`);
  }
}

async function freePort() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** The event of a model call with this observation and this action. */
export function modelRequest(observation, action) {
  const data = {
    model: 'bench',
    request: { messages: [{ role: 'user', content: observation }] },
    response: { choices: [{ message: { role: 'assistant', content: action } }] },
  };
  return JSON.stringify({ event_type: 'model_request', data });
}
