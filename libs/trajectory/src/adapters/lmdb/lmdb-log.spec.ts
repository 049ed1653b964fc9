import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeEventLog } from '../../event-log.contract.js';
import { openLmdbLog } from './open-lmdb-log.js';

describeEventLog({
  adapter: 'LMDB',
  createLocation: () => mkdtemp(join(tmpdir(), 'retrace-lmdb-')),
  removeLocation: (location) => rm(location, { recursive: true, force: true }),
  openLog: (path) => openLmdbLog({ path, createdBy: 'contract' }),
  processModule: new URL('./lmdb-process.contract.ts', import.meta.url),
});
