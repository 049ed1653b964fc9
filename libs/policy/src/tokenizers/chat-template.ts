import { Template } from '@huggingface/jinja';
import { PolicyError } from '../policy-error.js';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A tool that a model may call, as chat templates take it. */
export interface TemplateTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    /** A JSON schema. */
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

interface RenderOptions {
  readonly addGenerationPrompt: boolean;
  /** Of templates that have the variable `tools`. */
  readonly tools?: readonly TemplateTool[];
  /** Further variables by their names. */
  readonly variables?: TemplateVariables;
}

/** Variables of a template by their names, such as `tools`. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

/** A model's Jinja template, which writes conversations as text. */
export class ChatTemplate {
  private readonly template: Template;

  /**
   * @param variables the template's variables beside the messages, such as `bos_token`
   * @param file the template's file in error messages
   * @throws PolicyError `INVALID_FILE` when the source is not a template
   */
  constructor(
    readonly source: string,
    private readonly variables: Readonly<Record<string, unknown>>,
    private readonly file: string,
  ) {
    this.template = this.attempt(() => new Template(source));
  }

  /**
   * Renders a conversation, with the beginning of the assistant's next turn if `addGenerationPrompt`.
   *
   * @param messages with any fields that the template reads beside role and content
   * @throws PolicyError `INVALID_FILE` when the template fails on the messages
   */
  render(messages: readonly object[], { addGenerationPrompt, tools, variables = {} }: RenderOptions): string {
    return this.attempt(() =>
      this.template.render({
        ...this.variables,
        ...variables,
        messages: messages.map((message) => ({ ...message })),
        add_generation_prompt: addGenerationPrompt,
        ...(tools !== undefined && { tools: structuredClone(tools) }),
      }),
    );
  }

  private attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (cause) {
      throw new PolicyError(
        'INVALID_FILE',
        `${this.file}: the chat template failed: ${(cause as Error).message}`,
        {
          cause,
        },
      );
    }
  }
}
