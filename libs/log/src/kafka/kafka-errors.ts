import { TrajectoryError } from '@retrace/trajectory';
import { LogError, type LogErrorCode } from '../log-error.js';

/** An error of kafkajs; `type` is Kafka's name for the error with which a broker answered. */
interface KafkaJsError extends Error {
  readonly type?: string;
  readonly retriable?: boolean;
  readonly cause?: unknown;
}

/** A request had no answer in time: whether it took effect is unknown, and its connection can't be trusted. */
export class StalledError extends Error {
  readonly retriable = true;
  constructor(what: string, timeoutMs: number) {
    super(`${what}: no answer within ${timeoutMs} ms`);
    this.name = 'StalledError';
  }
}

/** A temporary state of the cluster, such as the election of a leader. */
export class NotReadyError extends Error {
  readonly retriable = true;
}

const UNAUTHORIZED = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
]);

/** Answers that mean for certain that the broker did not take the batch. */
const REFUSALS = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_ENOUGH_REPLICAS',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'KAFKA_STORAGE_ERROR',
  'MESSAGE_TOO_LARGE',
]);

/** Answers after which the producer's id or count is useless: it must start again under another id. */
const LOST_PRODUCER = new Set([
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'DUPLICATE_SEQUENCE_NUMBER',
  'UNKNOWN_PRODUCER_ID',
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'PRODUCER_FENCED',
]);

/** Unwraps an error from kafkajs's retry errors. */
export function rootError(error: unknown): KafkaJsError {
  let root = error instanceof Error ? (error as KafkaJsError) : new Error(String(error));
  while (isWrapper(root) && root.cause instanceof Error) root = root.cause;
  return root;
}

function isWrapper({ name }: Error): boolean {
  return name === 'KafkaJSNumberOfRetriesExceeded' || name === 'KafkaJSNonRetriableError';
}

export function errorType(error: unknown): string {
  return rootError(error).type ?? '';
}

export function isRetriable(error: unknown): boolean {
  if (error instanceof TrajectoryError) return false;
  const root = rootError(error);
  // kafkajs does not say why no broker named the group's coordinator; on a new cluster the coordinator's topic is still being created.
  return (
    !isUnauthorized(root) && (root.retriable === true || root.name === 'KafkaJSGroupCoordinatorNotFound')
  );
}

export function isRefusal(error: unknown): boolean {
  return REFUSALS.has(errorType(error));
}

export function isLostProducer(error: unknown): boolean {
  return LOST_PRODUCER.has(errorType(error));
}

/** Whether the connection to the broker failed, as opposed to an error that the broker answered. */
export function isConnectionError(error: unknown): boolean {
  const { name } = rootError(error);
  return (
    error instanceof StalledError ||
    name.startsWith('KafkaJSConnection') ||
    name === 'KafkaJSRequestTimeoutError' ||
    name === 'KafkaJSBrokerNotFound' ||
    name === 'KafkaJSLockTimeout'
  );
}

/** Whether the user, password or access rights were refused, which no retry mends. */
export function isUnauthorized({ name, type = '' }: KafkaJsError): boolean {
  return UNAUTHORIZED.has(type) || name === 'KafkaJSSASLAuthenticationError';
}

/** Turns an error of kafkajs into a `LogError` that says what failed; leaves our own errors as they are. */
export function toLogError(what: string, where: string, error: unknown): LogError | TrajectoryError {
  if (error instanceof TrajectoryError) return error;
  const root = rootError(error);
  const failed = `${what} failed in the event log on Kafka at ${where}`;
  const fail = (code: LogErrorCode, reason: string, retriable: boolean): LogError =>
    new LogError(code, `${failed}: ${reason}`, { retriable, cause: error });
  if (isUnauthorized(root))
    return fail('LOG_UNAUTHORIZED', `${root.message}; check user, password and access rights`, false);
  if (isConnectionError(root))
    return fail(
      'LOG_UNREACHABLE',
      `${root.message}; check that a broker runs there, and whether its listener uses TLS`,
      true,
    );
  return fail('LOG_FAILED', root.message, isRetriable(root));
}
