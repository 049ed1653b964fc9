import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentServers, freePorts } from './environment-servers.mjs';

/**
 * Starts AgentGym's own server of a family in a new folder, and speaks with it over HTTP without any code of Retrace.
 *
 * @param {'textcraft' | 'babyai'} family
 * @param {{ agentgym?: string, directory: string }} options the repository that AgentGym comes from, and where the folder is made
 */
export async function startAgentGym(family, { agentgym, directory }) {
  const one = environmentServers(agentgym).find(({ name }) => name === family);
  const installed = await one.install();
  if ('unavailable' in installed) return installed;
  const folder = join(directory, family);
  mkdirSync(folder);
  const port = await freePorts(1);
  const [program, ...args] = one.prepare(installed, folder).map((part) => part.replace('{port}', `${port}`));
  const child = spawn(program, args, { cwd: folder, stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`${family}: its server ended with ${child.exitCode}`);
    await sleep(100);
  }
  return { url, folder, stop: () => child.kill() };
}

/** An episode of a server, by its routes. */
export class AgentGymEpisode {
  static async open(url) {
    const { id } = await post(url, 'create', {});
    return new AgentGymEpisode(url, id);
  }

  constructor(url, id) {
    this.url = url;
    this.id = id;
  }

  reset(index) {
    return post(this.url, 'reset', { id: this.id, data_idx: index });
  }

  step(action) {
    return post(this.url, 'step', { id: this.id, action });
  }

  close() {
    return post(this.url, 'close', { id: this.id });
  }
}

async function post(url, verb, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/${verb}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok || answer.error !== undefined)
    throw new Error(`${verb} ${JSON.stringify(body)}: ${JSON.stringify(answer)}`);
  return answer;
}

async function answers(url) {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
