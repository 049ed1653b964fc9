import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Runs `generate` of transformers on a model directory, in a process of its own (`generate.py`). */
export class TransformersPeer {
  /** @param python one with torch and transformers */
  static async start(python, directory) {
    const script = fileURLToPath(new URL('peers/generate.py', import.meta.url));
    const child = spawn(python, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return new TransformersPeer(child, lines, await readLine(lines));
  }

  constructor(child, lines, versions) {
    Object.assign(this, { child, lines, versions });
  }

  /** Generates for prompts of equal length; returns the seconds that it took, and the new tokens of each prompt. */
  async generate({ prompts, newTokens, sample }) {
    const request = { prompts: prompts.map((prompt) => Array.from(prompt)), newTokens, sample };
    this.child.stdin.write(JSON.stringify(request) + '\n');
    return readLine(this.lines);
  }

  stop() {
    this.child.stdin.end();
  }
}

async function readLine(lines) {
  const { value, done } = await lines.next();
  if (done) throw new Error('The peer exited; see its output above');
  return JSON.parse(value);
}
