import { describe, expect, it } from 'vitest';
import type { FinishedAct } from '../turn/actor.js';
import { TurnQueue } from './turn-queue.js';

const failed = (slot: number): FinishedAct => ({ slot, failure: { of: 'model', reason: 'none' } });

/** A turn that ends when it is told to, and keeps its signal. */
function heldTurn(turns: TurnQueue, slot: number) {
  let finish: () => void = () => undefined;
  let signal!: AbortSignal;
  turns.add(slot, (ended) => {
    signal = ended;
    return new Promise((resolve) => {
      finish = () => {
        resolve(failed(slot));
      };
    });
  });
  return { signal, finish };
}

describe('TurnQueue', () => {
  it('cancels the turn of a released slot, and neither the next turn of the slot nor those of others', async () => {
    const turns = new TurnQueue(new AbortController().signal);
    const other = heldTurn(turns, 1);
    const first = heldTurn(turns, 0);
    turns.release(0);
    const second = heldTurn(turns, 0);
    expect([first, second, other].map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    first.finish();
    second.finish();
    expect(await turns.next()).toEqual([failed(0)]);
    expect(turns.numPending).toBe(1);
  });

  it('cancels a later turn of a slot whose earlier turns ended by themselves, and not the one after it', async () => {
    const turns = new TurnQueue(new AbortController().signal);
    for (let turn = 0; turn < 3; turn++) {
      const { signal, finish } = heldTurn(turns, 0);
      expect(signal.aborted).toBe(false);
      finish();
      expect(await turns.next()).toEqual([failed(0)]);
    }
    const { signal } = heldTurn(turns, 0);
    turns.release(0);
    expect(signal.aborted).toBe(true);
    expect(turns.numPending).toBe(0);
    expect(heldTurn(turns, 0).signal.aborted).toBe(false);
  });

  it('cancels turns under way, and those that begin afterwards, when its signal aborts', () => {
    const stop = new AbortController();
    const turns = new TurnQueue(stop.signal);
    const before = heldTurn(turns, 0);
    stop.abort(new Error('stopped'));
    const after = heldTurn(turns, 1);
    expect(before.signal.reason).toEqual(new Error('stopped'));
    expect(after.signal.reason).toEqual(new Error('stopped'));
  });
});
