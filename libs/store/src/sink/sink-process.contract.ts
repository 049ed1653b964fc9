import { openLmdbLog } from '@retrace/log/lmdb';
import { createStoreClient } from '../client/store-client.js';
import { Sink } from './sink.js';

/** A sink in a process of its own, which tests can kill: `node sink-process <log path> <store url> <user> <password>`. */
const [path, url, username, password] = process.argv.slice(2);
const log = await openLmdbLog({ path, createdBy: 'sink process' });
const client = createStoreClient({ url, username, password });
const sink = new Sink({ lingerMs: 2, minInsertIntervalMs: 2, maxBatchRecords: 40 });
await sink.run({
  log,
  client,
  signal: new AbortController().signal,
  onProgress: () => process.send?.('progress'),
});
