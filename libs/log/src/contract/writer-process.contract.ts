import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessReport } from './process-main.contract.js';

type Acknowledgement = Extract<ProcessReport, { readonly acknowledged: number }>;

/** A child process that appends, and its reports so far. */
export class WriterProcess {
  readonly reports: ProcessReport[] = [];
  private readonly child: ChildProcess;
  private readonly exit: Promise<unknown[]>;

  constructor(child: ChildProcess) {
    this.child = child;
    this.exit = once(child, 'exit');
    child.on('message', (report) => this.reports.push(report as ProcessReport));
  }

  acknowledged(): Acknowledgement[] {
    return this.reports.filter((report) => 'acknowledged' in report);
  }

  async acknowledgedAtLeast(numAppends: number): Promise<void> {
    while (this.acknowledged().length < numAppends) {
      if (this.child.exitCode !== null) throw new Error(`writer exited with ${this.child.exitCode}`);
      await pause(2);
    }
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exit;
    // The last reports may arrive after the exit, but before the disconnect.
    if (this.child.connected) await once(this.child, 'disconnect');
  }

  async exited(): Promise<void> {
    const [code] = await this.exit;
    if (this.child.connected) await once(this.child, 'disconnect');
    if (code !== 0) throw new Error(`child process exited with ${code}; must exit with 0`);
  }
}
