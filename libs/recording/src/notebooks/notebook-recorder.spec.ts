import type { EventLog } from '@retrace/log';
import { catchUp } from '@retrace/store';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Recorder } from '../recorder.js';

let store: StoreFixture;

beforeAll(async () => {
  store = await openStoreFixture();
});

afterAll(() => store?.close());

function open(log: EventLog): Promise<Recorder> {
  return Recorder.open(log, store.client, { catchUp: () => catchUp(store.log, store.client) });
}

/** The log, where something is written before the next append. */
function overtakenBy(write: () => Promise<unknown>): EventLog {
  let isNext = true;
  return new Proxy(store.log, {
    get(log, name) {
      const value: unknown = Reflect.get(log, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(log) as (...args: unknown[]) => unknown;
      if (name !== 'append') return method;
      return async (...args: unknown[]) => {
        if (isNext) {
          isNext = false;
          await write();
        }
        return method(...args);
      };
    },
  });
}

describe('recorder of notebooks', () => {
  it('refuses a save that another process overtook between its check and the log', async () => {
    const other = await open(store.log);
    const { notebookId } = await other.notebooks.create({ title: 'made', cells: [] });
    const save = (recorder: Recorder, title: string) =>
      recorder.notebooks.save(notebookId, { revision: 1, title, cells: [] });
    const late = await open(overtakenBy(() => save(other, 'first')));
    await expect(save(late, 'second')).rejects.toMatchObject({
      code: 'NOTEBOOK_CONFLICT',
      faults: [{ field: 'revision', value: 1, rule: 'must be 2, the newest revision' }],
    });
    expect(await store.client.queryRows('SELECT title, revision FROM notebooks')).toEqual([
      { title: 'first', revision: 2 },
    ]);
    await late.close();
    await other.close();
  });
});
