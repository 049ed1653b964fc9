import type { Admin } from 'kafkajs';
import { inject, vi } from 'vitest';
import {
  startBroker,
  type BrokerAddresses,
  type StartedBroker,
} from '../../../../scripts/kafka/start-broker.mjs';
import type { EventLog } from '../event-log.js';
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

const TOPIC = 2;
/** Where Kafka says that a setting comes from when the topic has it itself. */
const TOPIC_SOURCE = 1;

/** Settings of a topic's own, beside those it has; resolves when the broker goes by them, a moment after the controller took them. */
export async function setOnTopic(
  admin: Admin,
  topic: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const resource = { type: TOPIC, name: topic };
  const describe = async () => {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] });
    return resources[0].configEntries;
  };
  // kafkajs's request replaces all that the topic has.
  const own = (await describe())
    .filter((entry) => (entry as { configSource?: number }).configSource === TOPIC_SOURCE)
    .map(({ configName, configValue }) => [configName, configValue]);
  const all = { ...(Object.fromEntries(own) as Record<string, string>), ...settings };
  const configEntries = Object.entries(all).map(([name, value]) => ({ name, value }));
  await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
  await vi.waitUntil(
    async () => {
      const described = await describe();
      return configEntries.every(({ name, value }) =>
        described.some((entry) => entry.configName === name && entry.configValue === value),
      );
    },
    { timeout: 10_000 },
  );
}

/** Logs that one test opens, on the shared broker unless it says otherwise, and closes all at once. */
export class OpenLogs {
  private readonly logs: EventLog[] = [];

  async open(options: Partial<KafkaLogOptions> = {}): Promise<EventLog> {
    const log = await openKafkaLog({
      brokers: options.brokers ?? [sharedBroker().plaintext],
      prefix: newPrefix(),
      createdBy: 'test',
      numTrajectoryPartitions: 2,
      requestDeadlineMs: 10_000,
      ...options,
    });
    this.logs.push(log);
    return log;
  }

  async close(): Promise<void> {
    await Promise.all(this.logs.splice(0).map((log) => log.close()));
  }
}
