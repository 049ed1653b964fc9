import { JinjaError, Template } from '@retrace/jinja';
import { AgentFormatError } from '../errors.js';

/** A text in Jinja with named placeholders, which are checked when it is made. */
export class PromptTemplate {
  private readonly template: Template;
  /** Names of the placeholders that occur in it. */
  readonly placeholders: ReadonlySet<string>;

  /**
   * @param known names that the template may use
   * @throws AgentFormatError `INVALID_TEMPLATE` for a text that is no template, or a name that is none of `known`
   */
  constructor(source: string, known: readonly string[]) {
    this.template = attempt('is no Jinja template', () => new Template(source));
    this.placeholders = this.template.freeNames;
    const unknown = [...this.placeholders].find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw new AgentFormatError(
        'INVALID_TEMPLATE',
        `has the unknown placeholder "${unknown}"; the placeholders here are ${known.join(', ')}`,
      );
    }
  }

  /** @throws AgentFormatError `INVALID_TEMPLATE` when an expression of the template fails on the values */
  render(values: Readonly<Record<string, unknown>>): string {
    return attempt('failed', () => this.template.render(values).text);
  }
}

function attempt<T>(problem: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (!(cause instanceof JinjaError)) throw cause;
    throw new AgentFormatError('INVALID_TEMPLATE', `${problem}: ${cause.message}`);
  }
}
