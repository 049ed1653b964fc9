import { Template } from '@huggingface/jinja';
import { PolicyError } from '../policy-error.js';

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The Jinja template with which a model's maker writes conversations as text. */
export class ChatTemplate {
  private readonly template: Template;

  /**
   * Throws `PolicyError` (`INVALID_FILE`) when it is no template.
   *
   * @param variables what the template finds beside the messages, as `bos_token`
   * @param file where it comes from, for messages
   */
  constructor(
    readonly source: string,
    private readonly variables: Readonly<Record<string, unknown>>,
    private readonly file: string,
  ) {
    this.template = this.attempt(() => new Template(source));
  }

  /**
   * The text of a conversation, up to where the assistant speaks next if `addGenerationPrompt`.
   *
   * @throws PolicyError `INVALID_FILE` when the template fails on it, or refuses it
   */
  render(
    messages: readonly ChatMessage[],
    { addGenerationPrompt }: { addGenerationPrompt: boolean },
  ): string {
    return this.attempt(() =>
      this.template.render({
        ...this.variables,
        messages: messages.map((message) => ({ ...message })),
        add_generation_prompt: addGenerationPrompt,
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
