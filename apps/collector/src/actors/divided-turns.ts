import type { GenerationRequest, LogprobMode } from '@retrace/chat';
import { EndpointError } from '@retrace/endpoints';
import type { ServedTurn, TurnSampler } from './endpoint-actor.js';
import { isOfServer, type PolicyServer } from './policy-server.js';
import type { SamplingServers } from './sampling-servers.js';

interface DividedTurnsOptions {
  /** Whether updates can use such logprobs, which servers that come later may not give. */
  readonly isTrainable: (mode: LogprobMode) => boolean;
  /** A turn that failed later than this goes to no other server. */
  readonly deadlineMs: number;
}

/** Times that one turn goes to another server because its own was left out meanwhile. */
const MAX_MOVES = 20;

/**
 * Divides episodes among servers: a new one goes to the server with the fewest turns under way and stays there, where its prefix is cached. Where that is
 * left out or does not give a turn, the turn and the rest of the episode go to another. If all are left out, turns wait for theirs.
 */
export class DividedTurns implements TurnSampler {
  private readonly chosen = new Map<number, PolicyServer>();

  constructor(
    private readonly servers: Pick<SamplingServers, 'all' | 'hasPolicy'>,
    private readonly options: DividedTurnsOptions,
  ) {}

  async sample(
    slot: number,
    request: Omit<GenerationRequest, 'model'>,
    ended: AbortSignal,
  ): Promise<ServedTurn> {
    const [only, ...more] = this.servers.all;
    // Its faults are the turn's, as there is no other.
    if (more.length === 0) return only.sample(request, ended);
    const endMs = performance.now() + this.options.deadlineMs;
    const failed = new Map<PolicyServer, unknown>();
    for (let numMoves = 0; numMoves < MAX_MOVES;) {
      const server = this.choose(slot, failed);
      if (server === null) throw [...failed.values()].at(-1) ?? unavailable();
      try {
        const turn = await server.sampleUnlessMoved(request, ended);
        if (turn !== null) return turn;
        numMoves++;
      } catch (error) {
        ended.throwIfAborted();
        if (!isOfServer(error)) throw error;
        server.leaveOut((error as Error).message);
        if (performance.now() >= endMs) throw error;
        failed.set(server, error);
      }
    }
    throw new EndpointError(
      'NOT_ASKED',
      `its servers went down during each of ${MAX_MOVES} attempts at a turn`,
    );
  }

  release(slot: number): void {
    this.chosen.delete(slot);
  }

  private choose(slot: number, failed: ReadonlyMap<PolicyServer, unknown>): PolicyServer | null {
    const able = this.servers.all.filter(
      (server) =>
        !failed.has(server) &&
        this.servers.hasPolicy(server) &&
        server.logprobMode !== null &&
        this.options.isTrainable(server.logprobMode),
    );
    const up = able.filter(({ isLeftOut }) => !isLeftOut);
    const candidates = up.length > 0 ? up : able;
    const kept = this.chosen.get(slot);
    const server = kept && candidates.includes(kept) ? kept : leastBusy(candidates);
    if (server !== null) this.chosen.set(slot, server);
    return server;
  }
}

function leastBusy(servers: readonly PolicyServer[]): PolicyServer | null {
  let least: PolicyServer | null = null;
  for (const server of servers) {
    const busier =
      least === null ? 1 : least.numUnderWay - server.numUnderWay || least.numTurns - server.numTurns;
    if (busier > 0) least = server;
  }
  return least;
}

function unavailable(): EndpointError {
  return new EndpointError('NOT_ASKED', 'no server has the policy, and logprobs that an update can use');
}
