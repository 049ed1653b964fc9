/** A process that takes training steps on request (`training-worker.mjs`, `peers/torch_training.py`). */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export class StepWorker {
  constructor([program, ...args]) {
    this.process = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.errors = '';
    this.process.stderr.on('data', (chunk) => (this.errors += chunk));
    this.lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
  }

  /** Returns the next line that is JSON; skips the output of libraries. */
  async answer() {
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done) throw new Error(`A worker exited early: ${this.errors}`);
      if (value.startsWith('{')) return JSON.parse(value);
    }
  }

  step() {
    this.process.stdin.write('step\n');
    return this.answer();
  }

  /** Peak resident memory, MiB. */
  async end() {
    this.process.stdin.write('end\n');
    return (await this.answer()).peakMiB;
  }
}
