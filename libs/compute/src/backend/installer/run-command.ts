import { spawn } from 'node:child_process';

export interface CommandResult {
  /** 0 on success, null if the command was not started or was killed. */
  readonly exitCode: number | null;
  /** The last 8 KiB of standard output and standard error together. */
  readonly output: string;
}

export interface CommandOptions {
  readonly directory?: string;
  /** Variables that are set in addition to those of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const KEPT_OUTPUT = 8192;

/**
 * Runs a command without a shell and waits for its end. Returns a result, and never throws, also where the command can't
 * be started, fails, runs past its timeout or is cancelled; the last two end its whole process group.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  { directory, environment, timeoutMs = 600_000, signal }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    // With a process group of its own, a compiler that a build tool started ends with that tool.
    const child = spawn(command, args, {
      cwd: directory,
      env: { ...process.env, ...environment },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-KEPT_OUTPUT);
    };
    const endGroup = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended already.
      }
    };
    const timer = setTimeout(() => {
      output += `\nstopped after ${timeoutMs} ms`;
      endGroup();
    }, timeoutMs);
    const settle = (exitCode: number | null): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', endGroup);
      resolve({ exitCode, output });
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => {
      output += error.message;
      settle(null);
    });
    child.once('close', settle);
    signal?.addEventListener('abort', endGroup, { once: true });
    if (signal?.aborted === true) endGroup();
  });
}

/** The last line of the output that is not empty, for a message of one sentence. */
export function lastLine({ output }: CommandResult): string {
  const lines = output.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').at(-1) ?? 'no output';
}
