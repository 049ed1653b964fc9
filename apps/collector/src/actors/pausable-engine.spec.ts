import type { GeneratedTokens, GenerationRequest } from '@retrace/chat';
import type { TokenEngine } from '@retrace/endpoints';
import { describe, expect, it } from 'vitest';
import { PausableEngine } from './pausable-engine.js';

describe('PausableEngine', () => {
  it('changes the weights after the turns under way, and before those that are asked for meanwhile', async () => {
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const engine: Partial<TokenEngine> = {
      generate: ({ model }: GenerationRequest) => {
        order.push(`begin ${model}`);
        return new Promise((resolve) => {
          ends.push(() => {
            order.push(`end ${model}`);
            resolve({} as GeneratedTokens);
          });
        });
      },
    };
    const pausable = new PausableEngine(engine as TokenEngine);
    const ask = (model: string) => pausable.generate({ model } as GenerationRequest);
    const first = ask('1');
    const changing = pausable.whilePaused(() => {
      order.push('change');
      return Promise.resolve();
    });
    const second = ask('2');
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(['begin 1']);
    ends[0]();
    await Promise.all([first, changing]);
    await expect.poll(() => ends.length).toBe(2);
    ends[1]();
    await second;
    expect(order).toEqual(['begin 1', 'end 1', 'change', 'begin 2', 'end 2']);
  });

  it('goes on after a change that failed, and says why', async () => {
    const engine: Partial<TokenEngine> = { generate: () => Promise.resolve({} as GeneratedTokens) };
    const pausable = new PausableEngine(engine as TokenEngine);
    const changing = pausable.whilePaused(() => Promise.reject(new Error('no memory')));
    await expect(changing).rejects.toThrow('no memory');
    await pausable.generate({} as GenerationRequest);
  });
});
