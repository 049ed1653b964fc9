import { setTimeout as sleep } from 'node:timers/promises';
import { EndpointError } from '@retrace/endpoints';
import { orAborted } from '@retrace/log';
import type { Transformer } from '@retrace/policy';
import { ProcessError } from '@retrace/process';
import { isLasting, type PolicyServer } from './policy-server.js';
import type { DeliveredPolicy, ServedWeights } from './served-weights.js';

/** Least time that the others get for a delivery once the first server has taken it. */
const LEAST_GRACE_MS = 10_000;

interface SamplingServersOptions {
  readonly servers: readonly PolicyServer[];
  readonly files: ServedWeights;
  /** Called for a server that goes on without a policy version, with the reason. */
  readonly onMissing: (server: PolicyServer, policyVersion: number, reason: string) => void;
  readonly signal: AbortSignal;
}

interface UnderWay {
  readonly policyVersion: number;
  readonly done: Promise<void>;
}

/** The servers of a run, which all get each policy version. One that does not take it is left out until it has. */
export class SamplingServers {
  /** The version that a server must have to be given turns: the newest, or one that is being delivered. */
  private versions: readonly number[] = [];
  /** The newest delivery, until it has ended. */
  private underWay: UnderWay | null = null;

  constructor(private readonly options: SamplingServersOptions) {}

  get all(): readonly PolicyServer[] {
    return this.options.servers;
  }

  /** Whether a server has the policy that turns are to be sampled by. */
  hasPolicy({ version }: PolicyServer): boolean {
    return version !== null && this.versions.includes(version);
  }

  /** @throws the error of a server that failed in the background, and that no other attempt mends */
  requireNoFault(): void {
    for (const { fault } of this.all) if (fault !== null) throw fault;
  }

  /** Turns that wait for a server which is down go to another one, if any has the policy. */
  moveTurns(): void {
    if (this.all.every((server) => server.isLeftOut || !this.hasPolicy(server))) return;
    for (const server of this.all) server.moveTurns();
  }

  /**
   * Brings a policy version to all servers, in parallel. Resolves when all have it that are not left out, or those have it that take no more
   * than twice the time of the fastest; the others get no turns until they have it. One delivery is made after the other.
   *
   * @throws the error of a server that no other attempt mends, at once or of an earlier delivery; any server's where none has taken it
   */
  async serve(policyVersion: number, model: Transformer, location: string): Promise<void> {
    this.requireNoFault();
    const { underWay } = this;
    if (underWay?.policyVersion === policyVersion) return underWay.done;
    if (underWay === null && this.versions.at(-1) === policyVersion) return;
    // Its files are written before the model's weights change again.
    const prepared = this.options.files.prepare(policyVersion, model, location);
    const done = Promise.allSettled([prepared, underWay?.done]).then(async () =>
      this.deliver(await prepared),
    );
    const delivery = { policyVersion, done };
    this.underWay = delivery;
    try {
      await done;
    } finally {
      if (this.underWay === delivery) this.underWay = null;
    }
  }

  private async deliver(policy: DeliveredPolicy): Promise<void> {
    this.requireNoFault();
    const { servers, files, onMissing, signal } = this.options;
    const { policyVersion } = policy;
    const before = this.versions;
    this.versions = [...before, policyVersion];
    // Some may have taken it at an attempt that failed for the others.
    this.moveTurns();
    const reasons = new Map<PolicyServer, string>();
    const attempts = servers.map(async (server) => {
      try {
        await server.serve(policy);
      } catch (error) {
        reasons.set(server, (error as Error).message);
        throw error;
      }
    });
    try {
      await untilMost(attempts, servers, signal);
    } catch (error) {
      this.versions = before;
      throw error;
    }
    this.versions = [policyVersion];
    for (const [n, server] of servers.entries()) {
      if (server.version === policyVersion) continue;
      // A server that is left out was named when it was.
      if (!server.isLeftOut)
        onMissing(server, policyVersion, reasons.get(server) ?? 'it takes longer than the others');
      void attempts[n].catch(() => server.catchUp());
    }
    await files.removeExcept(new Set(servers.flatMap(({ names }) => names)));
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.all.map((server) => server.close()));
  }
}

/** Waits for the first delivery, and for the others while they are about as fast. */
async function untilMost(
  attempts: readonly Promise<void>[],
  servers: readonly PolicyServer[],
  signal: AbortSignal,
): Promise<void> {
  const startedAt = performance.now();
  const enough = new AbortController();
  const lasting = Promise.all(
    attempts.map((attempt) =>
      attempt.catch((error: unknown) => {
        if (!mayPass(error)) throw error;
      }),
    ),
  );
  const first = Promise.any(attempts).catch((error: AggregateError) => {
    throw error.errors[0];
  });
  const others = Promise.all(
    attempts.map((attempt, n) =>
      orAborted(
        attempt.catch(() => undefined),
        servers[n].leftOut,
      ),
    ),
  );
  const most = first.then(async () => {
    const graceMs = Math.max(LEAST_GRACE_MS, performance.now() - startedAt);
    const late = sleep(graceMs, undefined, { signal: AbortSignal.any([signal, enough.signal]), ref: false });
    await Promise.race([others, late.catch(() => undefined)]);
  });
  try {
    await Promise.race([most, lasting.then(() => most)]);
  } finally {
    enough.abort();
  }
}

/** Whether a delivery failed as it may not fail again: the server was down, refused, or did not start. */
function mayPass(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(mayPass);
  if (isLasting(error)) return false;
  return error instanceof EndpointError || error instanceof ProcessError;
}
