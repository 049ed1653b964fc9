import { serveContractProcess } from '../contract/process-main.contract.js';
import { openLmdbLog } from './open-lmdb-log.js';

serveContractProcess((path) => openLmdbLog({ path, createdBy: 'contract', numTrajectoryPartitions: 4 }));
