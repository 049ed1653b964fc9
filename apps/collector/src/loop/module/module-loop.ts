import type { AgentDecision, AgentMessage, AgentModel, AskOptions, CustomAgent } from '@retrace/agents';
import type { TemplateTool, PromptFormat } from '@retrace/policy';
import type { Prompt, Turn } from '../../turn/turn.js';
import { describeThrown } from '../../environment/guarded-environment.js';
import { joinTokens, numEqual } from '../agent/token-lists.js';
import type { EpisodeBudget } from '../episode-budget.js';
import type { EpisodeLoop, LoopMove, SeenAnswer } from '../episode-loop.js';
import { checkedDecision, checkedMessages } from './agent-answer.js';

interface ModuleLoopOptions {
  readonly name: string;
  readonly begin: () => CustomAgent;
  readonly prompts: PromptFormat;
  readonly tools: readonly TemplateTool[] | undefined;
  readonly budget: EpisodeBudget;
  readonly maxPromptTokens: number;
  readonly maxNewTokens: number;
  /** Longest time that the agent may take, apart from the model's turns. */
  readonly timeoutMs: number;
}

/** Why a call of the model will not be answered. */
class EpisodeOver extends Error {}

interface OpenCall {
  readonly answer: (text: string) => void;
  readonly refuse: (reason: Error) => void;
}

/**
 * The loop of an agent of the user's. Each call of its model is a prompt, which continues the context of the call before as far as it begins
 * with the same tokens.
 */
export class ModuleLoop implements EpisodeLoop {
  private seen!: SeenAnswer;
  private context: Int32Array = new Int32Array(0);
  private agent: CustomAgent | null = null;
  private prompt: Prompt | null = null;
  private call: OpenCall | null = null;
  private move: (move: LoopMove) => void = () => undefined;
  private hasEnded = false;

  constructor(private readonly options: ModuleLoopOptions) {}

  observe(seen: SeenAnswer): LoopMove | Promise<LoopMove> {
    const { budget } = this.options;
    if (budget.turns > 0) budget.takeOutcome(seen.wasValid);
    this.seen = seen;
    if (seen.isOver) return this.end('');
    const endDetail = budget.reasonToEnd(0);
    if (endDetail !== null) return this.end(endDetail);
    const next = this.nextMove();
    this.think();
    return next;
  }

  read(turn: Turn): Promise<LoopMove> {
    const { call, prompt } = this;
    this.call = null;
    if (prompt !== null) {
      const kept = this.context.subarray(0, prompt.keptPrefixTokens);
      this.context = joinTokens([kept, prompt.tokenIds, turn.tokenIds]);
      this.options.budget.takeTokens(prompt.tokenIds.length + turn.tokenIds.length);
    }
    const next = this.nextMove();
    call?.answer(turn.action);
    return next;
  }

  close(): void {
    this.hasEnded = true;
    this.call?.refuse(new EpisodeOver('the episode has ended'));
    this.call = null;
    try {
      this.agent?.close?.();
    } catch {
      // The episode is over, and nothing depends on it.
    }
  }

  /** The agent's next call of the model or its decision, whichever comes first. */
  private async nextMove(): Promise<LoopMove> {
    const { name, timeoutMs } = this.options;
    let timer: NodeJS.Timeout | undefined;
    const move = await new Promise<LoopMove>((resolve) => {
      this.move = resolve;
      timer = setTimeout(() => {
        resolve(this.failed(`agent ${name} neither acted nor asked within ${timeoutMs} ms`));
      }, timeoutMs);
    });
    clearTimeout(timer);
    return move;
  }

  private think(): void {
    const { begin, budget, name } = this.options;
    const { observation, wasValid } = this.seen;
    const { text, legalActions } = observation;
    const view = { observation: text, legalActions, turn: budget.turns + 1, wasValid };
    const model: AgentModel = { ask: (messages, options) => this.ask(messages, options) };
    Promise.resolve()
      .then(() => (this.agent ??= begin()).act(view, model))
      .then((decision) => {
        if (this.call !== null) throw new Error('it acted before the model had answered');
        this.act(checkedDecision(decision));
      })
      .catch((error: unknown) => {
        if (!(error instanceof EpisodeOver))
          this.move(this.failed(`agent ${name} threw "${describeThrown(error)}"`));
      });
  }

  private act({ actions, isValid = true }: AgentDecision): void {
    this.options.budget.takeTurn();
    this.move({ kind: 'act', actions, isValid, note: null });
  }

  private ask(
    messages: readonly AgentMessage[],
    { purpose, isTrained = true }: AskOptions = {},
  ): Promise<string> {
    if (this.hasEnded) return Promise.reject(new EpisodeOver('the episode has ended'));
    if (this.call !== null)
      return Promise.reject(new Error('asked while another call is open; one at a time'));
    const { prompts, tools, budget, maxPromptTokens, maxNewTokens } = this.options;
    const checked = checkedMessages(messages);
    const whole = prompts.conversation(checked, { tools });
    const keptPrefixTokens = Math.min(numEqual(this.context, whole), whole.length - 1);
    const tokenIds = whole.slice(keptPrefixTokens);
    const endDetail =
      whole.length > maxPromptTokens
        ? `context full: the prompt has ${whole.length} tokens, and there is room for ${maxPromptTokens}`
        : budget.reasonToEnd(tokenIds.length + maxNewTokens);
    return new Promise((answer, refuse) => {
      this.call = { answer, refuse };
      if (endDetail !== null) {
        this.move(this.end(endDetail));
        return;
      }
      this.prompt = { observation: this.seen.observation, tokenIds, keptPrefixTokens };
      const asked = { prompt: this.prompt, messages: checked, tools, purpose: purpose ?? null, isTrained };
      this.move({ kind: 'ask', ...asked });
    });
  }

  private failed(failure: string): LoopMove {
    return { kind: 'fail', of: 'agent', failure };
  }

  /** The value of the end is read from the last observation by itself, as the agent's next prompt is not known. */
  private end(endDetail: string): LoopMove {
    const { observation } = this.seen;
    const { prompts, maxPromptTokens } = this.options;
    try {
      const whole = prompts.conversation([{ role: 'user', content: observation.text }]);
      const tokenIds =
        this.prompt === null ? new Int32Array(0) : whole.slice(Math.max(0, whole.length - maxPromptTokens));
      return { kind: 'end', endDetail, final: { observation, tokenIds, keptPrefixTokens: 0 } };
    } catch (error) {
      const failure = `its observation can't be tokenized: ${describeThrown(error)}`;
      return { kind: 'fail', of: 'environment', failure };
    }
  }
}
