import type { Observation } from '@retrace/environments';
import type { PromptFormat } from '@retrace/policy';
import { concatTokens } from '../turn/concat-tokens.js';
import type { Prompt, Turn } from '../turn/turn.js';

export interface ContextOptions {
  readonly prompts: PromptFormat;
  readonly window: 'observation' | 'history';
  /** Positions that a prompt and its action may fill together. */
  readonly maxTokens: number;
  /** Positions that are left for each action. */
  readonly maxNewTokens: number;
  readonly whenContextFull: 'truncate' | 'dropOldest';
}

interface PastTurn {
  readonly observation: string;
  /** The observation as a continuation of the turn before it. */
  readonly continuation: Int32Array;
  readonly action: Int32Array;
}

/** The tokens that the policy sees of one episode: each prompt is a fresh context, or an observation appended to the context so far. */
export class EpisodeContext {
  private numTokens = 0;
  /** Whether the agent ended its last turn itself. */
  private turnIsClosed = false;
  /** The turns of the context so far, where they may be dropped. */
  private turns: PastTurn[] = [];

  constructor(private readonly options: ContextOptions) {}

  /** The prompt that shows this observation. It may be too long: see `fits`. Where the recipe says so, it drops the oldest turns first. */
  promptFor(observation: Observation): Prompt {
    const prompt = this.plainPromptFor(observation);
    if (this.fits(prompt) || this.numTokens === 0 || !this.mayDrop) return prompt;
    return this.withoutOldest(observation);
  }

  /** Whether the prompt leaves room for an action. */
  fits({ keptPrefixTokens, tokenIds }: Pick<Prompt, 'keptPrefixTokens' | 'tokenIds'>): boolean {
    return keptPrefixTokens + tokenIds.length <= this.maxPromptTokens;
  }

  /**
   * The prompt whose value an episode that ends here is bootstrapped from. A full context has no room for the final observation, which is then
   * read as a separate sequence, as far as it fits.
   */
  finalPrompt(prompt: Prompt): Prompt {
    if (this.fits(prompt)) return prompt;
    const numCut = Math.max(0, prompt.tokenIds.length - this.maxPromptTokens);
    return { ...prompt, keptPrefixTokens: 0, tokenIds: prompt.tokenIds.slice(numCut) };
  }

  /** Most tokens of a prompt. */
  get maxPromptTokens(): number {
    return this.options.maxTokens - this.options.maxNewTokens;
  }

  /** Adds the turn that answered the prompt. */
  append({ observation, tokenIds, keptPrefixTokens }: Prompt, turn: Turn): void {
    const wasClosed = this.turnIsClosed;
    this.numTokens = keptPrefixTokens + tokenIds.length + turn.tokenIds.length;
    this.turnIsClosed = this.options.prompts.stopTokenIds.includes(turn.tokenIds[turn.tokenIds.length - 1]);
    if (!this.mayDrop) return;
    const continuation = this.options.prompts.continuation(observation.text, wasClosed);
    this.turns.push({ observation: observation.text, continuation, action: turn.tokenIds });
  }

  private get mayDrop(): boolean {
    return this.options.window === 'history' && this.options.whenContextFull === 'dropOldest';
  }

  private plainPromptFor(observation: Observation): Prompt {
    const { prompts, window } = this.options;
    const keptPrefixTokens = window === 'history' ? this.numTokens : 0;
    const tokenIds =
      keptPrefixTokens === 0
        ? prompts.opening(observation.text)
        : prompts.continuation(observation.text, this.turnIsClosed);
    return { observation, tokenIds, keptPrefixTokens };
  }

  /** A context that begins again with the newest turns. They fill at most half of it, so that the turns to come can be appended. */
  private withoutOldest(observation: Observation): Prompt {
    const { prompts } = this.options;
    const last = prompts.continuation(observation.text, this.turnIsClosed);
    let parts: readonly Int32Array[] = [prompts.opening(observation.text)];
    let later: readonly Int32Array[] = [last];
    let from = this.turns.length;
    while (from > 0) {
      const { observation: first, continuation, action } = this.turns[from - 1];
      const candidate = [prompts.opening(first), action, ...later];
      if (totalLength(candidate) > this.options.maxTokens / 2) break;
      parts = candidate;
      later = [continuation, action, ...later];
      from -= 1;
    }
    this.turns = this.turns.slice(from);
    return { observation, tokenIds: concatTokens(...parts), keptPrefixTokens: 0, numHiddenTurns: from };
  }
}

function totalLength(parts: readonly Int32Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
