import type { ActionFormat, ParsedTurn } from '@retrace/agents';
import type { AgentSettings } from '@retrace/config';
import type { Observation } from '@retrace/environments';
import type { TemplateTool } from '@retrace/policy';
import type { Json } from '@retrace/trajectory';
import type { Prompt, Turn } from '../../turn/turn.js';
import { describeThrown } from '../../environment/guarded-environment.js';
import type { EpisodeBudget } from '../episode-budget.js';
import type { ActMove, EpisodeLoop, FailMove, LoopMove, SeenAnswer } from '../episode-loop.js';
import { fitPrompt, countTokens, type FittedPrompt } from './fit-prompt.js';
import type { Draft, HistoryContext, PastTurn } from './history-context.js';
import type { FixedValues, PromptRequest } from './prompt-texts.js';
import { shortText, extractTask } from './shown-text.js';
import type { SummaryNotes } from './summary-notes.js';

export interface AgentLoopOptions {
  readonly settings: AgentSettings;
  readonly context: HistoryContext;
  /** Of history policy `summary`; null otherwise. */
  readonly notes: SummaryNotes | null;
  readonly budget: EpisodeBudget;
  readonly maxTurns: number;
  /** Most tokens of a prompt. */
  readonly maxPromptTokens: number;
  /** Most tokens of a turn. */
  readonly maxNewTokens: number;
  readonly taskMarker: string | undefined;
  /** Tools that the chat template describes. */
  readonly tools: readonly TemplateTool[] | undefined;
}

/** Between several actions of a turn, as later prompts show them. */
const SEPARATOR = ' || ';

/** The loop of the recipe's section `agent`: templates, action format, history, limits, and what invalid turns lead to. */
export class AgentLoop implements EpisodeLoop {
  private readonly format: ActionFormat;
  private seen!: SeenAnswer;
  private task = '';
  private problem = '';
  private asked: FittedPrompt | null = null;
  private isSummary = false;

  constructor(private readonly options: AgentLoopOptions) {
    this.format = options.settings.format;
  }

  observe(seen: SeenAnswer): LoopMove {
    this.seen = seen;
    if (this.asked === null) this.task = extractTask(seen.observation.text, this.options.taskMarker);
    else this.options.budget.takeOutcome(seen.wasValid);
    return this.next();
  }

  read(turn: Turn): LoopMove {
    const { asked } = this;
    if (asked === null)
      return { kind: 'fail', of: 'agent', failure: 'a turn came that nothing was asked for' };
    this.options.budget.takeTokens(asked.draft.tokenIds.length + turn.tokenIds.length);
    if (this.isSummary) {
      this.options.notes?.take(turn.action);
      return this.next();
    }
    return this.act(asked, turn);
  }

  close(): void {
    // Holds nothing.
  }

  private next(): LoopMove {
    try {
      const { notes, settings } = this.options;
      if (notes?.isDue && !this.seen.isOver) {
        const summary = this.fit('summary');
        if (summary.fits) return this.ask(summary, 'summary', settings.history.trainSummaries);
      }
      return this.askForAction();
    } catch (error) {
      const failure = `the prompt that shows its observation can't be written: ${describeThrown(error)}`;
      return { kind: 'fail', of: 'environment', failure };
    }
  }

  private askForAction(): LoopMove {
    const fitted = this.fit(this.options.budget.turns === 0 ? 'first' : 'later');
    if (this.seen.isOver) return { kind: 'end', endDetail: '', final: this.finalPrompt(fitted) };
    if (fitted.fits) return this.ask(fitted, null, true);
    const isFirst = this.asked === null;
    const endDetail = `${isFirst ? 'task refused: its first' : 'context full: the'} prompt has ${countTokens(fitted.draft)} tokens, and there is room for ${this.options.maxPromptTokens}`;
    const final = this.finalPrompt(fitted);
    return { kind: 'end', endDetail, final: isFirst ? { ...final, tokenIds: new Int32Array(0) } : final };
  }

  /** Asks the model, unless a limit of the episode forbids it. */
  private ask(fitted: FittedPrompt, purpose: string | null, isTrained: boolean): LoopMove {
    const { budget, maxNewTokens, tools } = this.options;
    const endDetail = budget.reasonToEnd(fitted.draft.tokenIds.length + maxNewTokens);
    if (endDetail !== null) return { kind: 'end', endDetail, final: this.finalPrompt(fitted) };
    this.asked = fitted;
    this.isSummary = purpose !== null;
    const { messages } = fitted.draft;
    return { kind: 'ask', prompt: this.promptOf(fitted.draft), messages, tools, purpose, isTrained };
  }

  private act(asked: FittedPrompt, turn: Turn): ActMove | FailMove {
    const { budget, settings, context, notes } = this.options;
    const { invalidAction } = settings;
    let parsed: ParsedTurn;
    try {
      parsed = this.format.parse(turn.action, { legalActions: this.observation.legalActions });
    } catch (error) {
      // Built-in formats never throw; one of the user's may.
      return { kind: 'fail', of: 'agent', failure: `its format failed: ${describeThrown(error)}` };
    }
    const actions = parsed.valid || invalidAction.execute ? parsed.actions : [];
    budget.takeTurn();
    context.append(asked.draft, this.pastTurn(turn, parsed, actions));
    notes?.takeTurn();
    this.problem = parsed.valid || !invalidAction.tell ? '' : (parsed.problem ?? '');
    return { kind: 'act', actions, isValid: parsed.valid, note: toNote(asked, parsed) };
  }

  private pastTurn(turn: Turn, parsed: ParsedTurn, actions: readonly string[]): PastTurn {
    const shown = actions.length > 0 ? actions.join(SEPARATOR) : turn.action;
    return {
      shown: {
        number: this.options.budget.turns,
        observation: this.observation.text,
        action: shortText(shown),
      },
      reply: turn.action,
      briefReply: this.withoutThought(turn.action, parsed),
      tokenIds: turn.tokenIds,
    };
  }

  private withoutThought(reply: string, { valid, actions }: ParsedTurn): string {
    if (!valid || actions.length === 0) return reply;
    try {
      return this.format.write({ actions });
    } catch {
      // A format need not be able to write all that it can read.
      return reply;
    }
  }

  private get observation(): Observation {
    return this.seen.observation;
  }

  private fit(kind: PromptRequest['kind']): FittedPrompt {
    const { context, settings, maxPromptTokens } = this.options;
    const request = { kind, observation: this.observation.text, values: this.values() };
    return fitPrompt(context, request, { maxTokens: maxPromptTokens, truncation: settings.truncation });
  }

  private values(): FixedValues {
    const { settings, budget, maxTurns, notes } = this.options;
    const legalActions = settings.showLegalActions ? this.observation.legalActions : null;
    return {
      task: this.task,
      legal_actions: (legalActions ?? []).filter((action) => action !== 'help'),
      instructions: this.format.instructions,
      problem: this.problem,
      turn: budget.turns + 1,
      step_count: budget.turns,
      max_turns: maxTurns,
      summary: notes?.text ?? '',
    };
  }

  private promptOf({ tokenIds, keptPrefixTokens }: Draft): Prompt {
    return { observation: this.observation, tokenIds, keptPrefixTokens };
  }

  /** A prompt that doesn't fit is read as a sequence of its own, as far as it fits. */
  private finalPrompt({ draft, fits }: FittedPrompt): Prompt {
    const prompt = this.promptOf(draft);
    if (fits) return prompt;
    const numCut = Math.max(0, prompt.tokenIds.length - this.options.maxPromptTokens);
    return { ...prompt, keptPrefixTokens: 0, tokenIds: prompt.tokenIds.slice(numCut) };
  }
}

/** Facts of a turn that are recorded beside its text; null for none. */
function toNote({ draft, numCutCharacters }: FittedPrompt, { valid, problem }: ParsedTurn): ActMove['note'] {
  const note: Record<string, Json> = {
    ...(!valid && { problem }),
    ...(numCutCharacters > 0 && { numCutCharacters }),
    ...(draft.numHiddenTurns > 0 && { numHiddenTurns: draft.numHiddenTurns }),
  };
  return Object.keys(note).length === 0 ? null : note;
}
