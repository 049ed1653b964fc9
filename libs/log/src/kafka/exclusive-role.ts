import './kafkajs-internals.js';
import kafkajs, { type Consumer, type PartitionAssigner } from 'kafkajs';
import { LogError } from '../log-error.js';
import { isUnauthorized, rootError, toLogError } from './kafka-errors.js';
import {
  CLIENT_ID,
  resolveKafkaOptions,
  type KafkaLogOptions,
  type ResolvedKafkaOptions,
} from './kafka-options.js';
import { topicNames } from './log-topics.js';

const { AssignerProtocol, Kafka, logLevel } = kafkajs;

/** A holder without a heartbeat for this long counts as dead. */
const SESSION_TIMEOUT_MS = 10_000;
const HEARTBEAT_MS = 1_000;
/** Wait between a failure and joining the group again. */
const REJOIN_MS = 500;
const ASSIGNER = 'retrace-holder';

export interface ExclusiveRole {
  /** Aborts when another process may hold the role: this one must stop. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** One of `count` parts of a role, each of which has its own holder. */
export interface Share {
  /** 0 … count − 1. */
  readonly index: number;
  readonly count: number;
}

export interface HoldOptions {
  readonly waitMs?: number;
  /** Defaults to the whole role. */
  readonly share?: Share;
}

interface Member {
  readonly isHolder: boolean;
  readonly sinceMs: number;
  readonly share: Share;
}

/**
 * Takes a role that only one process at a time may play, such as the collector of a run, or one share of it. The holder is the member of
 * a Kafka group to which partition 0 is assigned, and stays so. All holders have the same number of shares: while one of two halves is
 * held, no third can be taken. Waits for as long as a dead predecessor may still count as alive.
 *
 * A process that was suspended for longer than a session learns only from its next heartbeat that it lost the role. Records that it appends until
 * then come after its successor's in the log, and the first in log order wins.
 *
 * @throws LogError `LOG_ROLE_TAKEN` when another process holds it
 */
export async function holdExclusively(
  options: KafkaLogOptions,
  role: string,
  { waitMs = 2 * SESSION_TIMEOUT_MS, share = { index: 0, count: 1 } }: HoldOptions = {},
): Promise<ExclusiveRole> {
  const resolved = resolveKafkaOptions(options);
  const { prefix } = resolved;
  const topic = topicNames(resolved).control;
  const sinceMs = Date.now();
  const membership = new Membership(topic);
  const self = (): Member => ({ isHolder: membership.isHolder, sinceMs, share });
  const consumer = newConsumer(resolved, prefix + role, keepHolders(topic, self));
  try {
    const taken = new LogError('LOG_ROLE_TAKEN', describeTaken(role, share));
    await membership.hold(consumer, { waitMs, taken });
  } catch (error) {
    await membership.release(consumer);
    throw toLogError(`taking role ${role}`, resolved.brokers.join(','), error);
  }
  return { lost: membership.lost.signal, release: () => membership.release(consumer) };
}

function newConsumer(
  { brokers, tls, sasl, stallTimeoutMs }: ResolvedKafkaOptions,
  groupId: string,
  assigner: PartitionAssigner,
): Consumer {
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId: CLIENT_ID,
    ssl: tls,
    sasl: sasl as never,
    requestTimeout: stallTimeoutMs,
    logLevel: logLevel.NOTHING,
  });
  return kafka.consumer({
    groupId,
    sessionTimeout: SESSION_TIMEOUT_MS,
    rebalanceTimeout: SESSION_TIMEOUT_MS,
    heartbeatInterval: HEARTBEAT_MS,
    maxWaitTimeInMs: HEARTBEAT_MS,
    // kafkajs restarts only after errors that it takes for temporary, and it does not take a missing group coordinator for one.
    retry: { restartOnFailure: () => Promise.resolve(false) },
    allowAutoTopicCreation: false,
    partitionAssigners: [assigner],
  });
}

/** The membership of this process in the group of a role: joins again after failures, until it is released or refused. */
class Membership {
  isHolder = false;
  readonly lost = new AbortController();
  private isReleased = false;
  private rejoining: NodeJS.Timeout | undefined;

  constructor(private readonly topic: string) {}

  /** Resolves once this process holds the role. @throws the last failure, or `taken`, after `waitMs` */
  async hold(
    consumer: Consumer,
    { waitMs, taken }: { readonly waitMs: number; readonly taken: LogError },
  ): Promise<void> {
    let resolve = (): void => undefined;
    let reject: (error: unknown) => void = () => undefined;
    const held = new Promise<void>((onHeld, onFailure) => {
      [resolve, reject] = [onHeld, onFailure];
    });
    held.catch(() => undefined);
    let failure: unknown = null;
    const timer = setTimeout(() => {
      reject(failure ?? taken);
    }, waitMs);
    const join = (): Promise<void> =>
      consumer.run({ autoCommit: false, eachMessage: () => Promise.resolve() });
    const fail = (error: unknown): void => {
      if (this.isReleased) return;
      failure = error;
      if (isUnauthorized(rootError(error))) {
        this.lost.abort();
        reject(error);
        return;
      }
      // While no broker answers, nobody else gets the role; the next join shows who has it.
      this.rejoining = setTimeout(() => void join().catch(fail), REJOIN_MS);
    };
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      failure = null;
      // Only the membership is of use, not the records.
      consumer.pause([{ topic: this.topic }]);
      const isAssigned = (payload.memberAssignment[this.topic] as number[] | undefined)?.includes(0);
      if (isAssigned === true) {
        this.isHolder = true;
        resolve();
      } else if (this.isHolder) {
        this.lost.abort();
      }
    });
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      fail(payload.error);
    });
    try {
      await consumer.connect();
      await consumer.subscribe({ topics: [this.topic] });
      await join();
      await held;
    } finally {
      clearTimeout(timer);
    }
  }

  async release(consumer: Consumer): Promise<void> {
    this.isReleased = true;
    clearTimeout(this.rejoining);
    await consumer.disconnect();
  }
}

function describeTaken(role: string, { index, count }: Share): string {
  if (count === 1) return `role ${role} is held by another process; stop that one, or wait until it is gone`;
  const other = `another process, or another number of shares than ${count} is in force`;
  return `share ${index + 1}/${count} of role ${role} is held by ${other}; stop that one, or wait until it is gone`;
}

/**
 * Assigns each share to its holder, or to the first that asked for it if there is no holder. The number of shares in force is that of the
 * holders; without holders, that of the first member.
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
