import { inject } from 'vitest';

/** Where the broker of the tests listens, `host:port`, and who may enter; `scripts/kafka/broker.mjs` starts it. */
export interface BrokerAddresses {
  readonly plaintext: string;
  readonly sasl: string;
  readonly saslTls: string;
  readonly tls: string;
  /** Advertised at the port that the broker was started with, where a test puts a proxy. */
  readonly proxied: string;
  readonly username: string;
  readonly password: string;
  readonly caFile: string;
  readonly directory: string;
}

export interface NoBroker {
  /** Completes "skipped, because …". */
  readonly unavailable: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    kafkaBroker: BrokerAddresses | NoBroker;
  }
}

const provided = inject('kafkaBroker');

/** Null, or why specs that need a broker are skipped: part of their titles. */
export const skipReason = 'unavailable' in provided ? `skipped, because ${provided.unavailable}` : null;

/** The broker that all Kafka specs share; each takes a prefix of its own. */
export function sharedBroker(): BrokerAddresses {
  if ('unavailable' in provided) throw new Error(provided.unavailable);
  return provided;
}

let numPrefixes = 0;

/** A prefix under which no log is yet. */
export function newPrefix(): string {
  numPrefixes += 1;
  return `t${process.pid}-${Date.now()}-${numPrefixes}.`;
}
