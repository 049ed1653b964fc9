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
  it('answers requests that come again, after later changes and the deletion too, and refuses their id for other content', async () => {
    const recorder = await open(store.log);
    const { notebooks } = recorder;
    const id = '01a22902-0000-7000-8000-000000000001';
    const first = { id, title: 'once', cells: [{ kind: 'sql', text: 'SELECT 1' }] };
    const second = { revision: 1, title: 'twice', cells: [] };
    const taken = {
      code: 'NOTEBOOK_CONFLICT',
      faults: [{ field: 'id', value: id, rule: 'must be an id that no notebook has or had' }],
    };
    const again = async () => {
      expect(await notebooks.create(first)).toEqual({ notebookId: id, revision: 1, isNew: false });
      expect(await notebooks.save(id, second)).toEqual({ notebookId: id, revision: 2, isNew: false });
      await expect(notebooks.create({ ...first, title: 'other' })).rejects.toMatchObject(taken);
    };
    expect(await notebooks.create(first)).toEqual({ notebookId: id, revision: 1, isNew: true });
    expect(await notebooks.save(id, second)).toEqual({ notebookId: id, revision: 2, isNew: true });
    await again();
    await notebooks.delete(id, 2, '');
    await again();
    expect(await notebooks.delete(id, 2, '')).toEqual({ notebookId: id, revision: 3, isNew: false });
    const late = notebooks.save(id, { ...second, title: 'late' });
    await expect(late).rejects.toMatchObject({ code: 'NOTEBOOK_UNKNOWN' });
    await recorder.close();
  });

  it('takes the same content of two processes once, and tells one that is late of the newest revision', async () => {
    const other = await open(store.log);
    const { notebookId } = await other.notebooks.create({ title: 'shared', cells: [] });
    const save = (recorder: Recorder, revision: number, title: string) =>
      recorder.notebooks.save(notebookId, { revision, title, cells: [] });
    const same = await open(overtakenBy(() => save(other, 1, 'same')));
    expect(await save(same, 1, 'same')).toEqual({ notebookId, revision: 2, isNew: false });
    const late = await open(
      overtakenBy(async () => {
        await save(other, 2, 'third');
        await save(other, 3, 'fourth');
      }),
    );
    await expect(save(late, 2, 'late')).rejects.toMatchObject({
      faults: [{ field: 'revision', value: 2, rule: 'must be 4, the newest revision' }],
    });
    for (const recorder of [late, same, other]) await recorder.close();
  });

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
    const query = 'SELECT title, revision FROM notebooks WHERE notebook_id = {notebookId:String}';
    expect(await store.client.queryRows(query, { params: { notebookId } })).toEqual([
      { title: 'first', revision: 2 },
    ]);
    await late.close();
    await other.close();
  });
});
