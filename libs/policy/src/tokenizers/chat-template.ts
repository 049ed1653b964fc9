import { JinjaError, Template, toValue, type RenderedText } from '@retrace/jinja';
import { PolicyError } from '../policy-error.js';
import { AGENT, OUTSIDE } from './plain-text.js';

/** A message with text only. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** A message as chat templates read it. */
export interface ConversationMessage {
  readonly role: string;
  /** A text, or a list of parts `{type: "text", text}`; templates see no content that is absent or null. */
  readonly content?: unknown;
  /** Calls as OpenAI's API has them, with arguments as a text or an object. */
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
  readonly name?: unknown;
  /** The thoughts of a model, in any of the fields that servers have for them. */
  readonly reasoning_content?: unknown;
  readonly reasoning?: unknown;
  readonly thinking?: unknown;
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
  readonly variables?: TemplateVariables;
}

/** Variables of a template by their names, such as `tools`. */
export type TemplateVariables = Readonly<Record<string, unknown>>;

/** The fields in which clients and servers write a model's thoughts, as transformers reads them: the first that is there counts. */
const REASONING_FIELDS = ['reasoning_content', 'thinking', 'reasoning'];

/** A model's Jinja template, which writes conversations as text, byte for byte as transformers' `apply_chat_template` does. */
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
   * Renders a conversation, with the beginning of the assistant's next turn if `addGenerationPrompt`. The spans of the text tell which parts
   * are the agent's own (`AGENT`), and which are of users, tools and other variables (`OUTSIDE`).
   *
   * @param messages with any fields that the template reads beside role and content
   * @throws PolicyError `INVALID_FILE` when the template fails on the messages, or takes too long
   */
  render(
    messages: readonly ConversationMessage[],
    { addGenerationPrompt, variables = {} }: RenderOptions,
  ): RenderedText {
    const outside = Object.entries({ tools: null, documents: null, ...variables }).filter(
      ([, value]) => value !== undefined,
    );
    return this.attempt(() =>
      this.template.render({
        ...this.variables,
        messages: messages.map(templateMessage),
        add_generation_prompt: addGenerationPrompt,
        ...Object.fromEntries(outside.map(([name, value]) => [name, toValue(value, OUTSIDE)])),
      }),
    );
  }

  private attempt<T>(action: () => T): T {
    try {
      return action();
    } catch (cause) {
      if (!(cause instanceof JinjaError)) throw cause;
      throw new PolicyError('INVALID_FILE', `${this.file}: the chat template failed: ${cause.message}`, {
        cause,
      });
    }
  }
}

/** A message as transformers passes it to templates: without null fields, and with thoughts under the names that templates read. */
function templateMessage({ role, ...message }: ConversationMessage): Readonly<Record<string, unknown>> {
  const fields = Object.entries(message).filter(([, value]) => value !== null && value !== undefined);
  const present: Readonly<Record<string, unknown>> = Object.fromEntries(fields);
  const reasoning = REASONING_FIELDS.map((field) => present[field]).find((value) => value !== undefined);
  const all =
    reasoning === undefined ? present : { thinking: reasoning, ...present, reasoning_content: reasoning };
  const origin = role === 'assistant' ? AGENT : OUTSIDE;
  return {
    role,
    ...Object.fromEntries(Object.entries(all).map(([name, value]) => [name, toValue(value, origin)])),
  };
}
