import { createRequire } from 'node:module';
import type { Broker } from './kafkajs-internals.js';

interface SpiedBroker extends Broker {
  findGroupCoordinator(options: { readonly groupId: string }): Promise<unknown>;
  heartbeat(options: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
}

const BrokerClass = createRequire(import.meta.url)('kafkajs/src/broker/index.js') as {
  readonly prototype: SpiedBroker;
};

/** The methods of every broker of kafkajs, for tests that watch its requests or make them fail. */
export const brokerMethods = BrokerClass.prototype;
