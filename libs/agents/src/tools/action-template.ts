/**
 * The environment's text of a call, with its arguments in braces: `take {object} from {place}`. Arguments that are not text are
 * written as JSON.
 */
export class ActionTemplate {
  /** Literal texts, and between each two of them the name of an argument. */
  private readonly literals: readonly string[];
  readonly names: readonly string[];

  constructor(template: string) {
    const parts = template.split(/\{(\w+)\}/);
    this.literals = parts.filter((_, at) => at % 2 === 0);
    this.names = parts.filter((_, at) => at % 2 === 1);
  }

  /** Text of a call; null when an argument is missing. */
  render(values: Readonly<Record<string, unknown>>): string | null {
    let text = this.literals[0];
    for (const [at, name] of this.names.entries()) {
      if (!Object.hasOwn(values, name)) return null;
      const value = values[name];
      text += (typeof value === 'string' ? value : JSON.stringify(value)) + this.literals[at + 1];
    }
    return text;
  }

  /** Arguments of which the template makes the text; each ends where the literal after it occurs first. Null when none do. */
  match(text: string): Readonly<Record<string, string>> | null {
    if (!text.startsWith(this.literals[0])) return null;
    let from = this.literals[0].length;
    if (this.names.length === 0) return from === text.length ? {} : null;
    const values: Record<string, string> = {};
    for (const [at, name] of this.names.entries()) {
      const literal = this.literals[at + 1];
      const isLast = at === this.names.length - 1;
      const end = isLast ? text.length - literal.length : text.indexOf(literal, from);
      if (end < from || !text.startsWith(literal, end)) return null;
      values[name] = text.slice(from, end);
      from = end + literal.length;
    }
    return values;
  }
}
