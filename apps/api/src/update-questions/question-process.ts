import { spawn, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';
import type { UpdateAnswerMessage, UpdateQuestion } from '@retrace/process';
import type { ApiConfig } from '../config/api-config.js';

/** Steps of priority below the servers of this machine. */
const BEHIND_SERVERS = 10;

/** The process that answers a question about recorded updates: it gets one, and ends after its answer. */
export class QuestionProcess {
  private readonly child: ChildProcess;
  private lastLine = '';
  /** Resolves once the process is gone. */
  readonly ended: Promise<void>;

  /** @param onMessage called with each message; the last is `finished` or `failed`, also where the process ends without one */
  constructor(
    { script, environment }: NonNullable<ApiConfig['questionProcess']>,
    question: UpdateQuestion,
    onMessage: (message: UpdateAnswerMessage) => void,
  ) {
    this.child = spawn(process.execPath, [script], {
      // Metrics have one port, which is that of the process that has this environment.
      env: { ...environment, RETRACE_RUN_ID: question.runId, RETRACE_METRICS_PORT: '' },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.lastLine = text.trimEnd().split('\n').pop() || this.lastLine;
    });
    let isAnswered = false;
    this.child.on('message', (message: UpdateAnswerMessage) => {
      isAnswered ||= message.type === 'finished' || message.type === 'failed';
      onMessage(message);
    });
    this.ended = new Promise((resolve) => {
      const end = (how: string) => {
        if (!isAnswered) onMessage({ type: 'failed', code: 'PROCESS_ENDED', message: this.described(how) });
        isAnswered = true;
        resolve();
      };
      this.child.once('error', (error) => end(error.message));
      this.child.once('close', (code, signal) => end(signal === null ? `code ${code ?? 'unknown'}` : signal));
    });
    this.child.send(question, (error) => {
      if (error) this.kill();
    });
    if (this.child.pid !== undefined) lowerPriority(this.child.pid);
  }

  /** Ends the process at once: it has nothing to save. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  private described(how: string): string {
    const said = this.lastLine === '' ? '' : `: ${this.lastLine}`;
    return `the process that computes it ended (${how})${said}`;
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, BEHIND_SERVERS);
  } catch {
    // The process has ended already; its `exit` event reports that.
  }
}
