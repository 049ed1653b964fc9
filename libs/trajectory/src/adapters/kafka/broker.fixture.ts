import { inject } from 'vitest';
import {
  startBroker,
  type BrokerAddresses,
  type StartedBroker,
} from '../../../../../scripts/kafka/start-broker.mjs';
import type { EventLog } from '../../event-log.js';
import type { KafkaLogOptions } from './kafka-options.js';
import { openKafkaLog } from './open-kafka-log.js';

const provided = inject('kafkaBroker');

/** Whether specs that need a broker can't run; the reason then stands in their titles. */
export const noBroker = 'unavailable' in provided;

/** The title of a suite that needs a broker. */
export function onBroker(title: string): string {
  return 'unavailable' in provided ? `${title} (skipped, because ${provided.unavailable})` : title;
}

/** The broker that all Kafka specs share; each log takes a prefix of its own. */
export function sharedBroker(): BrokerAddresses {
  if ('unavailable' in provided) throw new Error(provided.unavailable);
  return provided;
}

/** A broker for one spec alone, which it may kill. */
export async function startOwnBroker(options?: { readonly proxiedPort: number }): Promise<StartedBroker> {
  const started = await startBroker(options);
  if ('unavailable' in started) throw new Error(started.unavailable);
  return started;
}

let numPrefixes = 0;

/** A prefix under which no log is yet. */
export function newPrefix(): string {
  numPrefixes += 1;
  return `t${process.pid}-${Date.now()}-${numPrefixes}.`;
}

/** Logs that one test opens, on the shared broker unless it says otherwise, and closes all at once. */
export class OpenLogs {
  readonly #logs: EventLog[] = [];

  async open(options: Partial<KafkaLogOptions> = {}): Promise<EventLog> {
    const log = await openKafkaLog({
      brokers: options.brokers ?? [sharedBroker().plaintext],
      prefix: newPrefix(),
      createdBy: 'test',
      numTrajectoryPartitions: 2,
      requestDeadlineMs: 10_000,
      ...options,
    });
    this.#logs.push(log);
    return log;
  }

  async close(): Promise<void> {
    await Promise.all(this.#logs.splice(0).map((log) => log.close()));
  }
}
