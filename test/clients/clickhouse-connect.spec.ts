import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openStoreFixture, type StoreFixture } from '@retrace/store-server/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pythonWith } from './python-package.js';

const found = await pythonWith('clickhouse-connect==1.12.0');
const TITLE = 'clickhouse-connect 1.12.0 on the embedded store, with its defaults';
const title = found.kind === 'available' ? TITLE : `${TITLE} (skipped, because ${found.reason})`;

describe.skipIf(found.kind === 'unavailable')(title, () => {
  let store: StoreFixture;

  beforeAll(async () => {
    store = await openStoreFixture();
  });

  afterAll(() => store.close());

  it('reads under a session id, and is told that a session keeps no state', async () => {
    if (found.kind === 'unavailable') return;
    const program = join(import.meta.dirname, 'clickhouse_connect_client.py');
    const { port } = new URL(store.url);
    const { stdout } = await promisify(execFile)(found.python, [program, port, 'retrace', 'fixture']);
    expect(stdout.trim().split('\n')).toEqual([
      'session True',
      "rows [(0, '0'), (1, '1'), (2, '2')]",
      'parameter (42,)',
      'setting (45,)',
      'rows of steps (0,)',
      'refused True',
    ]);
  });
});
