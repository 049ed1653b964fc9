import { Template } from '@huggingface/jinja';
import { AgentFormatError } from '../errors.js';

/** Names that Jinja itself has. */
const BUILT_IN = ['loop', 'range', 'namespace', 'true', 'false', 'none', 'True', 'False', 'None'];

type Node = Readonly<Record<string, unknown>>;

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
    try {
      this.template = new Template(source);
    } catch (cause) {
      throw new AgentFormatError('INVALID_TEMPLATE', `is no Jinja template: ${(cause as Error).message}`);
    }
    this.placeholders = freeNames(this.template.parsed);
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
    try {
      return this.template.render({ ...values });
    } catch (cause) {
      throw new AgentFormatError('INVALID_TEMPLATE', `failed: ${(cause as Error).message}`);
    }
  }
}

/** Names that a template reads and does not set itself. */
function freeNames(program: unknown): ReadonlySet<string> {
  const read = new Set<string>();
  const bound = new Set<string>(BUILT_IN);
  visit(program, read, bound);
  return new Set([...read].filter((name) => !bound.has(name)));
}

function visit(value: unknown, read: Set<string>, bound: Set<string>): void {
  if (value instanceof Map) {
    for (const [key, inner] of value)
      [key, inner].forEach((part) => {
        visit(part, read, bound);
      });
    return;
  }
  if (Array.isArray(value)) {
    for (const inner of value) visit(inner, read, bound);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const node = value as Node;
  if (node.type === 'Identifier') read.add(node.value as string);
  for (const name of BINDERS[node.type as string] ?? []) bind(node[name], bound);
  const skipped = skippedFields(node);
  for (const [name, inner] of Object.entries(node)) if (!skipped.includes(name)) visit(inner, read, bound);
}

/** Fields of statements that give names to values. */
const BINDERS: Readonly<Record<string, readonly string[] | undefined>> = {
  For: ['loopvar'],
  Set: ['assignee'],
  Macro: ['name', 'args'],
  CallStatement: ['callerArgs'],
};

/** Fields whose identifiers are no variables: attributes, filters, tests, names of arguments, and `not`. */
function skippedFields({ type, computed }: Node): readonly string[] {
  switch (type) {
    case 'MemberExpression':
      return computed === true ? [] : ['property'];
    case 'FilterExpression':
    case 'FilterStatement':
      return ['filter'];
    case 'TestExpression':
      return ['test'];
    case 'KeywordArgumentExpression':
      return ['key'];
    case 'UnaryExpression':
    case 'BinaryExpression':
      return ['operator'];
    default:
      return [];
  }
}

function bind(target: unknown, bound: Set<string>): void {
  if (Array.isArray(target)) {
    for (const inner of target) bind(inner, bound);
    return;
  }
  if (typeof target !== 'object' || target === null) return;
  const node = target as Node;
  if (node.type === 'Identifier') bound.add(node.value as string);
  else if (node.type === 'KeywordArgumentExpression') bind(node.key, bound);
  else if (node.type === 'TupleLiteral') bind(node.value, bound);
}
