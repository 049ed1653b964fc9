import { EnvironmentError, type EnvironmentSpec, type ScriptedAgent } from '@retrace/environments';
import { Pcg32 } from '@retrace/random';
import { encodePlain, type PolicyText } from '@retrace/policy';
import type { EpisodeLoops } from '../loop/episode-loop.js';
import type { Turn } from '../turn/turn.js';
import { describeThrown } from '../environment/guarded-environment.js';
import type { ActRequest, Actor, FinishedAct } from '../turn/actor.js';

const PLAIN: Pick<EpisodeLoops, 'write' | 'stopStrings'> = { write: (action) => action, stopStrings: [] };

/** Worlds whose actions are texts have any number of them. */
const MAX_KNOWN_ACTIONS = 1_024;

/**
 * A scripted agent (expert or baseline). Its action is tokenised as a policy would say it, so that imitation can train on it: with the token
 * that ends the turn, unless the action fills `maxNewTokens` or ends with a stop string. Its logprobs are missing (NaN) and its policy version is −1, so that no
 * policy gradient ever trains on it.
 */
export class ScriptedActor implements Actor {
  readonly isRemote = false;
  readonly sampling = null;
  readonly maxTokens = Number.POSITIVE_INFINITY;
  private readonly pending: ActRequest[] = [];
  /** Turns by their action; agents take few different ones. */
  private readonly turns = new Map<string, Turn>();
  private readonly randoms = new Map<number, () => number>();

  constructor(
    private readonly agent: ScriptedAgent,
    private readonly text: Pick<PolicyText, 'tokenizer' | 'stopTokenIds'>,
    /** Tokens after which a policy's turn ends by itself. */
    private readonly maxNewTokens: number,
    /** How the learned policy would say an action. */
    private readonly voice: Pick<EpisodeLoops, 'write' | 'stopStrings'> = PLAIN,
  ) {}

  request(request: ActRequest): void {
    this.pending.push(request);
  }

  get numPending(): number {
    return this.pending.length;
  }

  step(): Promise<readonly FinishedAct[]> {
    const finished = this.pending.map((request): FinishedAct => {
      const { slot } = request;
      try {
        return { slot, turn: this.turnOf(request) };
      } catch (error) {
        const reason = `${this.agent.name} threw "${describeThrown(error)}"`;
        return { slot, failure: { of: 'agent', reason } };
      }
    });
    this.pending.length = 0;
    return Promise.resolve(finished);
  }

  release(slot: number): void {
    this.randoms.delete(slot);
  }

  private turnOf(request: ActRequest): Turn {
    const started = performance.now();
    if (request.purpose !== null) throw new Error(`it takes actions only, asked for ${request.purpose}`);
    const action = this.voice.write(
      this.agent.act(request.environment, request.observation, this.randomOf(request)),
    );
    return { ...this.saying(action), generationMs: performance.now() - started };
  }

  private randomOf(request: ActRequest): () => number {
    const known = this.randoms.get(request.slot);
    if (known) return known;
    const generator = new Pcg32(request.samplingSeed);
    const random = () => generator.nextFloat();
    this.randoms.set(request.slot, random);
    return random;
  }

  private saying(action: string): Turn {
    const known = this.turns.get(action);
    if (known) return known;
    const tokenIds = scriptedTokens(action, this.text, {
      maxNewTokens: this.maxNewTokens,
      stopStrings: this.voice.stopStrings,
    });
    const turn = unsampledTurn(action, tokenIds);
    if (this.turns.size >= MAX_KNOWN_ACTIONS) this.turns.clear();
    this.turns.set(action, turn);
    return turn;
  }
}

/** An action as a policy would say it: with the token that ends the turn, unless the action fills `maxNewTokens` or ends with a stop string. */
export function scriptedTokens(
  action: string,
  { tokenizer, stopTokenIds }: Pick<PolicyText, 'tokenizer' | 'stopTokenIds'>,
  {
    maxNewTokens,
    stopStrings = [],
  }: { readonly maxNewTokens: number; readonly stopStrings?: readonly string[] },
): Int32Array {
  const said = encodePlain(tokenizer, action);
  const isStopped = stopStrings.some((stopString) => action.endsWith(stopString));
  const isEnded = maxNewTokens > 1 && said.length < maxNewTokens && !isStopped;
  return isEnded ? Int32Array.of(...said, stopTokenIds[0]) : said;
}

/** A turn whose tokens no policy sampled: their logprobs are missing (NaN) and their policy version is −1. */
export function unsampledTurn(action: string, tokenIds: Int32Array): Turn {
  return {
    action,
    tokenIds,
    logprobs: new Float32Array(tokenIds.length).fill(Number.NaN),
    rawLogprobs: null,
    entropies: null,
    policyVersions: new Int32Array(tokenIds.length).fill(-1),
    logprobMode: 'none',
    generationMs: 0,
  };
}

/** @throws EnvironmentError `INVALID_ARGUMENT` naming the agents that the environment has */
export function scriptedAgent(spec: EnvironmentSpec, name: string): ScriptedAgent {
  const agent = spec.agents.find((candidate) => candidate.name === name);
  if (agent) return agent;
  const known = spec.agents.map((candidate) => candidate.name).join(', ');
  throw new EnvironmentError('UNKNOWN_AGENT', `Unknown agent "${name}" in ${spec.name}; use one of ${known}`);
}
