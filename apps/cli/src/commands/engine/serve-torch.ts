import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { engineCommand, pythonEnvironment } from '@retrace/trainer/torch';
import { CliError } from '../../cli-error.js';
import type { CommonOptions } from '../../options.js';
import { withInterrupt } from '../../terminal/with-interrupt.js';

interface ServeTorchOptions extends CommonOptions {
  readonly nproc: number;
  readonly python: string;
  readonly host: string;
  readonly port: number;
  readonly tokenFile: string;
}

/**
 * Runs a torch worker in the foreground; it ends with this process.
 *
 * @throws CliError `ENGINE_FAILED` when it ends by itself
 */
export async function serveTorch({ nproc, python, host, port, tokenFile }: ServeTorchOptions): Promise<void> {
  if (!existsSync(tokenFile)) {
    writeFileSync(tokenFile, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' });
    console.error(`wrote a new token to ${tokenFile}`);
  }
  const [program, ...launch] = engineCommand({ python, processes: nproc });
  const serving = ['--host', host, '--port', `${port}`, '--token-file', tokenFile];
  // Several processes have torchrun's standard input, which is none; it ends them with SIGTERM.
  const follow = nproc === 1 ? ['--follow-stdin'] : [];
  const child = spawn(program, [...launch, ...serving, ...follow], {
    env: { ...process.env, ...pythonEnvironment() },
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code ?? 'unknown'}`));
  });
  const isStopped = await withInterrupt(
    (signal) =>
      new Promise<boolean>((resolve) => {
        signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
        void ended.then(() => resolve(signal.aborted));
      }),
    { signals: ['SIGTERM', 'SIGINT'] },
  );
  if (isStopped) return;
  throw new CliError(
    'ENGINE_FAILED',
    `the torch worker ended: ${await ended}; see "retrace doctor --engine torch"`,
  );
}
