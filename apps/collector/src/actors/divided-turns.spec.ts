import { EndpointError } from '@retrace/endpoints';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DividedTurns } from './divided-turns.js';
import type { PolicyServer } from './policy-server.js';

type Server = Pick<
  PolicyServer,
  | 'isLeftOut'
  | 'leaveOut'
  | 'leftOutReason'
  | 'logprobMode'
  | 'numTurns'
  | 'numUnderWay'
  | 'sampleUnlessMoved'
  | 'url'
>;

const DEADLINE_MS = 1_000;
const REQUEST = {
  ...{ tokenIds: [1], temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 1 },
  ...{ stopTokenIds: [], stopStrings: [], seed: 1 },
};
const TURN = {
  generated: { tokenIds: [7], logprobs: Float32Array.of(-1), stopReason: 'length' as const, versions: null },
  ...{ policyVersion: 0, logprobMode: 'raw' as const },
};

/** A server of which only the turns count. */
function serverOf(sample: (ended: AbortSignal) => Promise<unknown>, fields: Partial<Server> = {}): Server {
  return {
    ...{
      isLeftOut: false,
      leftOutReason: null,
      logprobMode: 'raw',
      numTurns: 0,
      numUnderWay: 0,
      url: 'http://a',
    },
    leaveOut: vi.fn(),
    sampleUnlessMoved: (_, ended) => sample(ended) as never,
    ...fields,
  };
}

function turnsOf(
  servers: readonly Server[],
  onUntrainable: (server: PolicyServer) => void = () => undefined,
) {
  const all = servers as readonly PolicyServer[];
  return new DividedTurns(
    { all, hasPolicy: () => true },
    { isTrainable: (mode) => mode === 'raw', onUntrainable, deadlineMs: DEADLINE_MS },
  );
}

const after = (delayMs: number, error: Error) => () =>
  new Promise((_, reject) => {
    setTimeout(() => {
      reject(error);
    }, delayMs);
  });
const untilEnded = (ended: AbortSignal) =>
  new Promise((_, reject) => {
    ended.addEventListener('abort', () => {
      reject(ended.reason as Error);
    });
  });

describe('DividedTurns', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('ends a turn at its deadline, however many servers it went to', async () => {
    const malformed = new EndpointError('MALFORMED_ANSWER', 'no tokens');
    const turns = turnsOf([serverOf(after(900, malformed)), serverOf(untilEnded)]);
    const failed = expect(turns.sample(0, REQUEST, new AbortController().signal)).rejects.toThrow(
      'no answer within the deadline of 1000 ms',
    );
    await vi.advanceTimersByTimeAsync(DEADLINE_MS);
    await failed;
  });

  it.each([
    ['too long for its server', new EndpointError('TIMEOUT', 'no answer'), 0],
    ['refused by its server only', new EndpointError('HTTP_STATUS', 'no', { status: 500 }), 0],
    ['above the limits of its server', new EndpointError('DEADLINE', 'no room', { status: 429 }), 0],
    ['at a server that is down', new EndpointError('UNREACHABLE', 'no connection'), 1],
    ['at a server that is not asked any more', new EndpointError('NOT_ASKED', 'not asked'), 1],
  ])(
    'gives a turn that is %s to another one, and leaves out servers that are down',
    async (_, error, times) => {
      const failing = serverOf(() => Promise.reject(error));
      const other = serverOf(() => Promise.resolve(TURN));
      const turns = turnsOf([failing, other]);
      await expect(turns.sample(0, REQUEST, new AbortController().signal)).resolves.toBe(TURN);
      expect(failing.leaveOut).toHaveBeenCalledTimes(times);
      expect(other.leaveOut).not.toHaveBeenCalled();
    },
  );

  it('names a server once that gets no turns because of its logprobs', async () => {
    const named = vi.fn();
    const other = serverOf(() => Promise.resolve(TURN), { logprobMode: 'processed' });
    const turns = turnsOf([other, serverOf(() => Promise.resolve(TURN))], named);
    for (const slot of [0, 1]) await turns.sample(slot, REQUEST, new AbortController().signal);
    expect(named.mock.calls).toEqual([[other]]);
  });
});
