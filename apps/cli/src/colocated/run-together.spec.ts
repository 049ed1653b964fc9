import type { RoleMessage, Supervised } from '@retrace/process';
import { describe, expect, it } from 'vitest';
import { runTogether, type Part } from './run-together.js';

function supervisor() {
  const stop = new AbortController();
  const sent: RoleMessage[] = [];
  const supervised: Supervised = {
    signal: stop.signal,
    isSupervised: true,
    send: (message) => sent.push(message),
    ask: () => Promise.reject(new Error('not asked')),
    warn: () => undefined,
  };
  return { stop, sent, supervised };
}

const untilStopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });

const readyWith = (detail: string, isLate = false): Part => ({
  isLate,
  run: ({ send }) => {
    send({ type: 'ready', detail });
    return Promise.resolve();
  },
});

describe('runTogether', () => {
  it('is ready once all parts are that are not late, and says once what several say', async () => {
    const { sent, supervised } = supervisor();
    await runTogether([readyWith('wasm; a', true), readyWith('wasm; b'), readyWith('wasm; c')], supervised);
    expect(sent).toEqual([{ type: 'ready', detail: 'wasm; b; c' }]);
  });

  it('passes on what parts say otherwise', async () => {
    const { sent, supervised } = supervisor();
    const warning: RoleMessage = { type: 'warning', severity: 'warning', message: 'slow' };
    const warns: Part = { run: ({ send }) => Promise.resolve(send(warning)), isLate: true };
    await runTogether([warns, readyWith('')], supervised);
    expect(sent).toContainEqual(warning);
  });

  it('asks all to stop when one fails, and throws its error whatever theirs are', async () => {
    const { supervised } = supervisor();
    const failsAfterwards: Part = {
      run: async ({ signal }) => {
        await untilStopped(signal);
        throw new Error('stopped half way');
      },
    };
    const fails: Part = { run: () => Promise.reject(new Error('the environment failed')) };
    const parts = [failsAfterwards, failsAfterwards, fails];
    await expect(runTogether(parts, supervised)).rejects.toThrow('the environment failed');
  });

  it('ends when it is asked to stop', async () => {
    const { stop, supervised } = supervisor();
    const parts: Part[] = [
      { run: ({ signal }) => untilStopped(signal) },
      { run: ({ signal }) => untilStopped(signal) },
    ];
    const running = runTogether(parts, supervised);
    stop.abort();
    await running;
  });
});
