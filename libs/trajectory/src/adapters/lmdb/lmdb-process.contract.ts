import { serveContractProcess } from '../../event-log-process.contract.js';
import { openLmdbLog } from './open-lmdb-log.js';

serveContractProcess((path) => openLmdbLog({ path, createdBy: 'contract' }));
