import type { GenerationRequest, LogprobMode } from '@retrace/chat';
import { EndpointError } from '@retrace/endpoints';
import { CollectorError } from '../collector-error.js';
import type { ServedTurn, TurnSampler } from './endpoint-actor.js';
import type { PolicyServer } from './policy-server.js';
import type { SamplingServers } from './sampling-servers.js';

interface DividedTurnsOptions {
  /** Whether updates can use such logprobs, which servers that come later may not give. */
  readonly isTrainable: (mode: LogprobMode) => boolean;
  /** Called once for each server that gets no turns because of its logprobs. */
  readonly onUntrainable: (server: PolicyServer) => void;
  /** Limit of a turn, on all servers together. */
  readonly deadlineMs: number;
}

/** Times that one turn goes to another server because its own was left out meanwhile. */
const MAX_MOVES = 20;
/** Statuses of a request that every server refuses. */
const REFUSALS = new Set([400, 413, 422]);

/**
 * Divides episodes among servers: a new one goes to the server with the fewest turns under way and stays there, where its prefix is cached. Where that is
 * left out or does not give a turn, the turn and the rest of the episode go to another. If all are left out, turns wait for theirs.
 */
export class DividedTurns implements TurnSampler {
  private readonly chosen = new Map<number, PolicyServer>();
  private readonly untrainable = new Set<PolicyServer>();

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
    const { deadlineMs } = this.options;
    const limit = new AbortController();
    const end = () => {
      limit.abort(ended.reason);
    };
    const timer = setTimeout(() => {
      const { leftOutReason = null } = this.chosen.get(slot) ?? {};
      const cause = leftOutReason === null ? '' : `: ${leftOutReason}`;
      limit.abort(new EndpointError('TIMEOUT', `no answer within the deadline of ${deadlineMs} ms${cause}`));
    }, deadlineMs);
    ended.addEventListener('abort', end);
    if (ended.aborted) end();
    try {
      return await this.sampleByAny(slot, request, limit.signal);
    } finally {
      clearTimeout(timer);
      ended.removeEventListener('abort', end);
    }
  }

  release(slot: number): void {
    this.chosen.delete(slot);
  }

  private async sampleByAny(
    slot: number,
    request: Omit<GenerationRequest, 'model'>,
    ended: AbortSignal,
  ): Promise<ServedTurn> {
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
        // Another failure may be of this turn only, as one that takes too long.
        if (showsDown(error)) server.leaveOut(error.message);
        failed.set(server, error);
      }
    }
    throw new EndpointError(
      'NOT_ASKED',
      `its servers went down during each of ${MAX_MOVES} attempts at a turn`,
    );
  }

  private choose(slot: number, failed: ReadonlyMap<PolicyServer, unknown>): PolicyServer | null {
    const able = this.servers.all.filter(
      (server) => !failed.has(server) && this.servers.hasPolicy(server) && this.isTrainable(server),
    );
    const up = able.filter(({ isLeftOut }) => !isLeftOut);
    const candidates = up.length > 0 ? up : able;
    const kept = this.chosen.get(slot);
    const server = kept && candidates.includes(kept) ? kept : leastBusy(candidates);
    if (server !== null) this.chosen.set(slot, server);
    return server;
  }

  private isTrainable(server: PolicyServer): boolean {
    if (server.logprobMode === null) return false;
    if (this.options.isTrainable(server.logprobMode)) return true;
    if (!this.untrainable.has(server)) this.options.onUntrainable(server);
    this.untrainable.add(server);
    return false;
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

/** Whether a server is down, as every turn would find it. */
function showsDown(error: unknown): error is EndpointError {
  return error instanceof EndpointError && (error.showsServerDown || error.code === 'NOT_ASKED');
}

/** Whether a turn failed for its server, so that another one may give it. */
function isOfServer(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isOfServer);
  if (error instanceof CollectorError) return error.code === 'WEIGHTS_DIFFER';
  if (!(error instanceof EndpointError)) return false;
  return error.code !== 'INVALID_SETTING' && !REFUSALS.has(error.status ?? 0);
}
