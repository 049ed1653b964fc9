import type { AgentTemplates, PromptTemplate, PromptValues, ShownTurn } from '@retrace/agents';
import type { ChatMessage } from '@retrace/policy';

/** Values of the placeholders, apart from what is decided when a prompt is made to fit. */
export type FixedValues = Omit<PromptValues, 'observation' | 'history' | 'history_length'>;

/** A prompt to write. */
export interface PromptRequest {
  readonly kind: 'first' | 'later' | 'summary';
  /** Text of the observation, possibly cut. */
  readonly observation: string;
  readonly values: FixedValues;
}

/** Writes the messages that prompts are made of. */
export class PromptTexts {
  constructor(private readonly templates: AgentTemplates) {}

  /** The messages before the first one of the user. */
  system(values: FixedValues): readonly ChatMessage[] {
    const { system } = this.templates;
    if (system === null) return [];
    return [{ role: 'system', content: system.render({ ...values }) }];
  }

  /** The message of the user, with some turns of the past. */
  user({ kind, observation, values }: PromptRequest, history: readonly ShownTurn[]): string {
    const filled = { ...values, observation, history, history_length: history.length };
    return this.templateOf(kind).render(filled satisfies PromptValues as unknown as Record<string, unknown>);
  }

  private templateOf(kind: PromptRequest['kind']): PromptTemplate {
    const { firstUser, user, summary } = this.templates;
    return { first: firstUser, later: user, summary }[kind];
  }
}
