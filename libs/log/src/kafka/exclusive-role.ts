import './kafkajs-internals.js';
import kafkajs, { type PartitionAssigner } from 'kafkajs';
import { LogError } from '../log-error.js';
import { isUnauthorized, rootError, toLogError } from './kafka-errors.js';
import { resolveKafkaOptions, type KafkaLogOptions } from './kafka-options.js';
import { topicNames } from './log-topics.js';

const { AssignerProtocol, Kafka, logLevel } = kafkajs;

/** After this long without a heartbeat a holder counts as gone. */
const SESSION_TIMEOUT_MS = 10_000;
const HEARTBEAT_MS = 1_000;
/** After a failure, before the group is joined again. */
const REJOIN_MS = 500;
const ASSIGNER = 'retrace-holder';

export interface ExclusiveRole {
  /** Aborts when another process may hold the role: this one must stop. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** One of `count` parts of a role, each with a holder of its own. */
export interface RoleShare {
  /** 0 … count − 1. */
  readonly index: number;
  readonly count: number;
}

export interface HoldOptions {
  readonly waitMs?: number;
  /** Without it the whole role. */
  readonly share?: RoleShare;
}

interface Member {
  readonly isHolder: boolean;
  readonly sinceMs: number;
  readonly share: RoleShare;
}

/**
 * Holds a role that only one process at a time may play, or one share of it, such as the collector of a run: the membership of a
 * Kafka group that assigns partition 0 to whoever holds, and keeps it so. Holders agree in the number of shares: while one of two halves is
 * held, a third isn't given away. Waits for as long as a predecessor that died may still count as alive.
 *
 * A process that was stopped for longer than that learns of its loss only with its next heartbeat; what it appends until then is
 * later in the log than its successor's, and the first in log order wins.
 *
 * @throws LogError `LOG_ROLE_TAKEN` when another process holds it
 */
export async function holdExclusively(
  options: KafkaLogOptions,
  role: string,
  { waitMs = 2 * SESSION_TIMEOUT_MS, share = { index: 0, count: 1 } }: HoldOptions = {},
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
    // kafkajs begins again only after errors that it takes for passing, and a group whose coordinator isn't found is none of them.
    retry: { restartOnFailure: () => Promise.resolve(false) },
    allowAutoTopicCreation: false,
    partitionAssigners: [keepHolders(topic, () => ({ isHolder, sinceMs, share }))],
  });
  let isReleased = false;
  let rejoin: NodeJS.Timeout | undefined;
  let failure: unknown = null;
  const join = (): Promise<void> => consumer.run({ autoCommit: false, eachMessage: () => Promise.resolve() });
  const held = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(failure ?? new LogError('LOG_ROLE_TAKEN', describeTaken(role, share)));
    }, waitMs);
    const fail = (error: unknown): void => {
      if (isReleased) return;
      failure = error;
      if (isUnauthorized(rootError(error))) {
        lost.abort();
        clearTimeout(timer);
        reject(error);
        return;
      }
      // While no broker answers nobody else gets the role; the next join tells.
      rejoin = setTimeout(() => void join().catch(fail), REJOIN_MS);
    };
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      failure = null;
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
      fail(payload.error);
    });
  });
  held.catch(() => undefined);
  const release = async (): Promise<void> => {
    isReleased = true;
    clearTimeout(rejoin);
    await consumer.disconnect();
  };
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic] });
    await join();
    await held;
  } catch (error) {
    await release();
    throw toLogError(`taking role ${role}`, brokers.join(','), error);
  }
  return { lost: lost.signal, release };
}

function describeTaken(role: string, { index, count }: RoleShare): string {
  if (count === 1) return `role ${role} is held by another process; stop that one, or wait until it is gone`;
  const other = `another process, or another number of shares than ${count} is in force`;
  return `share ${index + 1}/${count} of role ${role} is held by ${other}; stop that one, or wait until it is gone`;
}

/**
 * A share stays with its holder; with none, whoever came first gets it. The number of shares in force is that of the holders, or
 * with none of whoever came first.
 */
function keepHolders(topic: string, self: () => Member): PartitionAssigner {
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
      const { count } = candidates[0].share;
      const chosen = new Map<number, string>();
      for (const { memberId, share } of candidates) {
        if (share.count === count && !chosen.has(share.index)) chosen.set(share.index, memberId);
      }
      const holders = new Set(chosen.values());
      return Promise.resolve(
        members.map(({ memberId }) => ({
          memberId,
          memberAssignment: AssignerProtocol.MemberAssignment.encode({
            version: 0,
            assignment: holders.has(memberId) ? { [topic]: [0] } : {},
            userData: Buffer.alloc(0),
          }),
        })),
      );
    },
  });
}
