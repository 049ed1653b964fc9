import { serveContractProcess } from '../contract/process-main.contract.js';
import { openContractLog } from './contract-log.contract.js';

serveContractProcess(openContractLog);
