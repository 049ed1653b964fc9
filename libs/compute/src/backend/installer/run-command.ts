import { spawn } from 'node:child_process';

export interface CommandResult {
  /** 0 on success; null if the command could not be started or was killed. */
  readonly exitCode: number | null;
  /** The last 8 KiB of standard output and standard error together. */
  readonly output: string;
}

export interface CommandOptions {
  readonly directory?: string;
  readonly environment?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

const KEPT_OUTPUT = 8192;

/**
 * Runs a command without a shell and waits for its end. A command that can't be started, fails, runs past its
 * timeout or is cancelled gives a result, never an exception; the last two end all of its descendants.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  { directory, environment = process.env, timeoutMs = 600_000, signal }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    // A group of its own, so that a compiler started by a build tool ends with it.
    const child = spawn(command, args, {
      cwd: directory,
      env: environment,
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
        // It has ended just now.
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

/** The last line that says something, for a message of one sentence. */
export function lastLine({ output }: CommandResult): string {
  const lines = output.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').at(-1) ?? 'no output';
}
