import { describe } from 'vitest';
import { describeEventLog } from '../contract/event-log.contract.js';
import { newPrefix, noBroker, onBroker, sharedBroker } from './broker.fixture.js';
import { openContractLog } from './contract-log.contract.js';

describe.skipIf(noBroker)(onBroker('on a real broker'), () => {
  describeEventLog({
    adapter: 'Kafka',
    createLocation: () => Promise.resolve(`${sharedBroker().plaintext}/${newPrefix()}`),
    removeLocation: () => Promise.resolve(),
    openLog: openContractLog,
    processModule: new URL('./kafka-process.contract.ts', import.meta.url),
  });
});
