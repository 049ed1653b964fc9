import { describe } from 'vitest';
import { describeEventLog } from '../../event-log.contract.js';
import { newPrefix, sharedBroker, skipReason } from './broker.fixture.js';
import { openContractLog } from './contract-log.contract.js';

describe.skipIf(skipReason !== null)(
  `on a real broker${skipReason === null ? '' : ` (${skipReason})`}`,
  () => {
    describeEventLog({
      adapter: 'Kafka',
      createLocation: () => Promise.resolve(`${sharedBroker().plaintext}/${newPrefix()}`),
      removeLocation: () => Promise.resolve(),
      openLog: openContractLog,
      processModule: new URL('./kafka-process.contract.ts', import.meta.url),
    });
  },
);
