import type { Admin } from 'kafkajs';
import { inject, vi } from 'vitest';
import { startBroker, type BrokerAddresses, type StartedBroker } from '../../kafka-broker/start-broker.mjs';
import type { EventLog } from '../event-log.js';
import type { KafkaLogOptions } from './kafka-options.js';
import { openKafkaLog } from './open-kafka-log.js';

const provided = inject('kafkaBroker');

/** Whether specs that need a broker can't run; their titles then give the reason. */
export const noBroker = 'unavailable' in provided;

/** The title of a suite that needs a broker. */
export function onBroker(title: string): string {
  return 'unavailable' in provided ? `${title} (skipped, because ${provided.unavailable})` : title;
}

/** The broker that all Kafka specs share; each log has its own prefix. */
export function sharedBroker(): BrokerAddresses {
  if ('unavailable' in provided) throw new Error(provided.unavailable);
  return provided;
}

/** A broker for one spec only, which it may kill. */
export async function startOwnBroker(options?: { readonly proxiedPort: number }): Promise<StartedBroker> {
  const started = await startBroker(options);
  if ('unavailable' in started) throw new Error(started.unavailable);
  return started;
}

let numPrefixes = 0;

/** A prefix that no log uses yet. */
export function newPrefix(): string {
  numPrefixes += 1;
  return `t${process.pid}-${Date.now()}-${numPrefixes}.`;
}

const TOPIC = 2;
/** Kafka's number for the source of a setting that is set on the topic itself. */
const TOPIC_SOURCE = 1;

/** Adds settings to those of a topic; resolves when the broker applies them, a moment after the controller has accepted them. */
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
  // kafkajs's request replaces all settings of the topic.
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

/** Opens logs for a test, on the shared broker by default, and closes all of them at once. */
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
