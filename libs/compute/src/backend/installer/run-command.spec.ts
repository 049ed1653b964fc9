import { describe, expect, it } from 'vitest';
import { lastLine, runCommand } from './run-command.js';

const node = process.execPath;

describe('runCommand', () => {
  it('returns the exit code and the output of both streams', async () => {
    const script = 'console.log("out"); console.error("err"); process.exit(3)';
    const { exitCode, output } = await runCommand(node, ['-e', script]);
    expect(exitCode).toBe(3);
    expect(output.split('\n').filter(Boolean).sort()).toEqual(['err', 'out']);
  });

  it('returns a result for a command that does not exist', async () => {
    const result = await runCommand('no-such-command', []);
    expect(result.exitCode).toBeNull();
    expect(lastLine(result)).toContain('ENOENT');
  });

  it('ends a command, and its children, after its timeout', async () => {
    const result = await runCommand('sh', ['-c', 'sleep 60 & sleep 60'], { timeoutMs: 100 });
    expect(result.exitCode).toBeNull();
    expect(result.output).toContain('stopped after 100 ms');
  });

  it('ends a command that is cancelled', async () => {
    const abort = new AbortController();
    setTimeout(() => {
      abort.abort();
    }, 50);
    const { exitCode } = await runCommand('sleep', ['60'], { signal: abort.signal });
    expect(exitCode).toBeNull();
  });

  it('returns at once where the signal was aborted before', async () => {
    const { exitCode } = await runCommand('sleep', ['60'], { signal: AbortSignal.abort() });
    expect(exitCode).toBeNull();
  });
});
