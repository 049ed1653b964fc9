import { withSteps } from './meter.js';
import { createGlobals } from './runtime/globals.js';
import { run } from './runtime/interpreter.js';
import { VariableScope } from './runtime/scope.js';
import { walk, type Expression, type TemplateStatement } from './syntax/nodes.js';
import { parse } from './syntax/parser.js';
import { plainText, type OriginSpan } from './values/traced-text.js';
import { toValue } from './values/value.js';

/** Steps that a template may take. The longest chat templates take some 300 a message; this many take about a second. */
const MAX_STEPS = 5_000_000;

export interface TemplateOptions {
  /** Most steps of one rendering: expressions, statements, and one more for each 32 characters or items that they handle. */
  readonly maxSteps?: number;
  /** The time of `strftime_now`; default: the clock's. */
  readonly now?: () => Date;
}

export interface RenderedText {
  readonly text: string;
  /** Parts of the text that came from traced values; what is between them is the template's. */
  readonly spans: readonly OriginSpan[];
  /** Whether a traced list or dict was printed as Python writes it, or a loop went over the characters of a traced text: hardly what was meant. */
  readonly hasMisread: boolean;
}

/** A template of Jinja2 with `trim_blocks` and `lstrip_blocks`, in the environment that transformers has for chat templates. */
export class Template {
  private readonly statements: readonly TemplateStatement[];
  private readonly maxSteps: number;
  private readonly globals: ReturnType<typeof createGlobals>;

  /** @throws JinjaError `SYNTAX` for a text that is no template */
  constructor(source: string, { maxSteps = MAX_STEPS, now = () => new Date() }: TemplateOptions = {}) {
    this.maxSteps = maxSteps;
    this.globals = createGlobals(now);
    this.statements = withSteps(MAX_STEPS, () => parse(source, { trimBlocks: true, lstripBlocks: true }));
  }

  /**
   * Renders the template.
   *
   * @param variables JavaScript values, whose whole numbers become Python's `int`, or values of `parseJson` and `withOrigin`
   * @throws JinjaError `RENDER` when the template fails on them, `LIMIT` when it takes too many steps or makes too much
   */
  render(variables: Readonly<Record<string, unknown>>): RenderedText {
    const scope = new VariableScope();
    for (const [name, value] of this.globals) scope.set(name, value);
    const { text, hasMisread } = withSteps(this.maxSteps, () => {
      for (const [name, value] of Object.entries(variables))
        if (value !== undefined) scope.set(name, toValue(value));
      return run(this.statements, scope);
    });
    return { text: plainText(text), spans: typeof text === 'string' ? [] : text.spans, hasMisread };
  }

  /** Names that the template reads, and that neither it nor Jinja defines. */
  get freeNames(): ReadonlySet<string> {
    const read = new Set<string>();
    const bound = new Set<string>([...this.globals.keys(), 'loop', 'caller', 'varargs', 'kwargs']);
    walk(this.statements, (node) => {
      if (node.type === 'name') read.add(node.name);
      for (const name of boundNames(node)) bound.add(name);
    });
    return new Set([...read].filter((name) => !bound.has(name)));
  }
}

function boundNames(node: Expression | TemplateStatement): readonly string[] {
  switch (node.type) {
    case 'for':
    case 'set':
    case 'setBlock':
      return targetNames(node.target);
    case 'with':
      return node.bindings.flatMap(({ target }) => targetNames(target));
    case 'macro':
      return [node.name, ...node.parameters.map(({ name }) => name)];
    case 'callBlock':
      return node.parameters.map(({ name }) => name);
    default:
      return [];
  }
}

function targetNames(target: Expression): readonly string[] {
  if (target.type === 'name') return [target.name];
  return target.type === 'tuple' || target.type === 'list' ? target.items.flatMap(targetNames) : [];
}
