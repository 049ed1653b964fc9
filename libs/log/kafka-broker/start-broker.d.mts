/** Where a broker for tests listens, `host:port`, and who may enter. */
export interface BrokerAddresses {
  readonly plaintext: string;
  readonly sasl: string;
  readonly saslTls: string;
  readonly tls: string;
  /** Clients of this listener are told to connect to `proxiedPort`, where a test puts a proxy. */
  readonly proxied: string;
  readonly username: string;
  readonly password: string;
  readonly caFile: string;
  readonly directory: string;
}

export interface StartedBroker {
  readonly addresses: BrokerAddresses;
  /** `kill` is SIGKILL; `start` brings it up again with its data, at the same ports. */
  command(name: 'kill' | 'start' | 'stop'): Promise<void>;
  close(): Promise<void>;
}

/** Completes "skipped, because …". */
export interface NoBroker {
  readonly unavailable: string;
}

/** Starts a broker of its own for whoever calls; it ends with this process at the latest. */
export function startBroker(options?: { readonly proxiedPort?: number }): Promise<StartedBroker | NoBroker>;

declare module 'vitest' {
  export interface ProvidedContext {
    /** From `vitest-setup.mjs`. */
    kafkaBroker: BrokerAddresses | NoBroker;
  }
}
