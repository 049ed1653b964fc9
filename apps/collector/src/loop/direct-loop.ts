import type { ChatMessage } from '@retrace/policy';
import { EpisodeContext, type ContextOptions } from './episode-context.js';
import type { Prompt, Turn } from '../turn/turn.js';
import { describeThrown } from '../environment/guarded-environment.js';
import type { BeginLoop, EpisodeLoop, LoopMove, LoopStart, SeenAnswer } from './episode-loop.js';

type DirectOptions = Pick<ContextOptions, 'window' | 'maxNewTokens' | 'whenContextFull'>;

/** The loop of recipes without `agent`: observations are shown as they are, and the text of a turn is the action. */
export function directLoop(options: DirectOptions): BeginLoop {
  return (start) => new DirectLoop(start, options);
}

class DirectLoop implements EpisodeLoop {
  private readonly context: EpisodeContext;
  private readonly keepsHistory: boolean;
  private readonly history: ChatMessage[] = [];
  private asked: Prompt | null = null;

  constructor({ prompts, maxTokens }: LoopStart, options: DirectOptions) {
    this.context = new EpisodeContext({ ...options, prompts, maxTokens });
    this.keepsHistory = options.window === 'history';
  }

  observe({ observation, isOver }: SeenAnswer): LoopMove {
    let prompt: Prompt;
    try {
      prompt = this.context.promptFor(observation);
    } catch (error) {
      const failure = `its observation can't be tokenized: ${describeThrown(error)}`;
      return { kind: 'fail', of: 'environment', failure };
    }
    if (!isOver && this.context.fits(prompt)) return this.ask(prompt);
    if (this.asked === null) return this.refuse(prompt);
    const final = this.context.finalPrompt(prompt);
    return { kind: 'end', endDetail: isOver ? '' : 'context full', final };
  }

  read(turn: Turn): LoopMove {
    if (this.asked !== null) this.context.append(this.asked, turn);
    if (this.keepsHistory) this.history.push({ role: 'assistant', content: turn.action });
    const { numHiddenTurns } = this.asked ?? {};
    const note = numHiddenTurns === undefined ? null : { numHiddenTurns };
    return { kind: 'act', actions: [turn.action], isValid: true, note };
  }

  close(): void {
    // Holds nothing.
  }

  private ask(prompt: Prompt): LoopMove {
    this.asked = prompt;
    const message: ChatMessage = { role: 'user', content: prompt.observation.text };
    if (this.keepsHistory) {
      // Turns that were dropped from a full context are no longer part of its conversation.
      this.history.splice(0, 2 * (prompt.numHiddenTurns ?? 0));
      this.history.push(message);
    }
    const messages = this.keepsHistory ? [...this.history] : [message];
    return { kind: 'ask', prompt, messages, purpose: null, isTrained: true };
  }

  /** Ends an episode whose first prompt is too long, before any action. */
  private refuse(prompt: Prompt): LoopMove {
    const endDetail = `task refused: its first prompt has ${prompt.tokenIds.length} tokens, and the context has room for ${this.context.maxPromptTokens} before an action`;
    return { kind: 'end', endDetail, final: { ...prompt, tokenIds: new Int32Array(0) } };
  }
}
