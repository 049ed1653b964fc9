import './request-queue-fix.js';
import kafkajs, { type PartitionAssigner } from 'kafkajs';
import { LogError } from '../../errors.js';
import { toLogError } from './kafka-errors.js';
import { resolveKafkaOptions, type KafkaLogOptions } from './kafka-options.js';
import { topicNames } from './log-topics.js';

const { AssignerProtocol, Kafka, logLevel } = kafkajs;

/** After this long without a heartbeat a holder counts as gone. */
const SESSION_TIMEOUT_MS = 10_000;
const HEARTBEAT_MS = 1_000;
const ASSIGNER = 'retrace-holder';

export interface ExclusiveRole {
  /** Aborts when another process may hold the role: this one must stop. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

interface Member {
  readonly isHolder: boolean;
  readonly sinceMs: number;
}

/**
 * Holds a role that only one process at a time may play, such as the collector of a run: the membership of a Kafka group whose one
 * partition goes to the holder and stays there. Waits for as long as a predecessor that died may still count as alive.
 *
 * A process that was stopped for longer than that learns of its loss only with its next heartbeat; what it appends until then is
 * later in the log than its successor's, and the first in log order wins.
 *
 * @throws LogError `LOG_ROLE_TAKEN` when another process holds it
 */
export async function holdExclusively(
  options: KafkaLogOptions,
  role: string,
  { waitMs = 2 * SESSION_TIMEOUT_MS }: { readonly waitMs?: number } = {},
): Promise<ExclusiveRole> {
  const resolved = resolveKafkaOptions(options);
  const { brokers, clientId, tls, sasl, prefix, stallTimeoutMs } = resolved;
  const topic = topicNames(resolved).control;
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    ssl: tls,
    sasl: sasl as never,
    requestTimeout: stallTimeoutMs,
    logLevel: logLevel.NOTHING,
  });
  let isHolder = false;
  const sinceMs = Date.now();
  const lost = new AbortController();
  const consumer = kafka.consumer({
    groupId: prefix + role,
    sessionTimeout: SESSION_TIMEOUT_MS,
    rebalanceTimeout: SESSION_TIMEOUT_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: HEARTBEAT_MS,
    retry: { restartOnFailure: () => Promise.resolve(true) },
    allowAutoTopicCreation: false,
    partitionAssigners: [keepHolder(topic, () => ({ isHolder, sinceMs }))],
  });
  const held = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      const message = `role ${role} is held by another process; stop that one, or wait until it is gone`;
      reject(new LogError('LOG_ROLE_TAKEN', message));
    }, waitMs);
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      // The group is the point, not what it would read.
      consumer.pause([{ topic }]);
      const isAssigned = payload.memberAssignment[topic] as number[] | undefined;
      if (isAssigned?.includes(0)) {
        isHolder = true;
        clearTimeout(timer);
        resolve();
      } else if (isHolder) {
        lost.abort();
      }
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      // While no broker answers nobody else gets the role; the next join tells.
      if (payload.restart) return;
      lost.abort();
      clearTimeout(timer);
      reject(payload.error);
    });
  });
  held.catch(() => undefined);
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic] });
    await consumer.run({ autoCommit: false, eachMessage: () => Promise.resolve() });
    await held;
  } catch (error) {
    await consumer.disconnect();
    throw toLogError(`taking role ${role}`, brokers.join(','), error);
  }
  return { lost: lost.signal, release: () => consumer.disconnect() };
}

/** The partition stays with its holder; with none, whoever came first gets it. */
function keepHolder(topic: string, self: () => Member): PartitionAssigner {
  return () => ({
    name: ASSIGNER,
    version: 0,
    protocol: ({ topics }) => ({
      name: ASSIGNER,
      metadata: AssignerProtocol.MemberMetadata.encode({
        version: 0,
        topics,
        userData: Buffer.from(JSON.stringify(self())),
      }),
    }),
    assign: ({ members }) => {
      const candidates = members.map(({ memberId, memberMetadata }) => {
        const userData = AssignerProtocol.MemberMetadata.decode(memberMetadata)?.userData;
        return { memberId, ...(JSON.parse(String(userData)) as Member) };
      });
      candidates.sort((a, b) => Number(b.isHolder) - Number(a.isHolder) || a.sinceMs - b.sinceMs);
      const chosen = candidates[0].memberId;
      return Promise.resolve(
        members.map(({ memberId }) => ({
          memberId,
          memberAssignment: AssignerProtocol.MemberAssignment.encode({
            version: 0,
            assignment: memberId === chosen ? { [topic]: [0] } : {},
            userData: Buffer.alloc(0),
          }),
        })),
      );
    },
  });
}
