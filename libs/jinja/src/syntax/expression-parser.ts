/** Jinja2's grammar of expressions, as the parser.py of version 3.1 has it. */
import type { BinaryOperator } from './nodes.js';
import type { CallArguments, CompareOperator, Expression, FilterExpression } from './nodes.js';
import type { TokenStream } from './token-stream.js';

interface TupleRules {
  /** Only names and literals, as in targets. */
  readonly isTarget?: boolean;
  readonly withCondition?: boolean;
  /** A name that ends the tuple. */
  readonly end?: string;
  readonly mayBeEmpty?: boolean;
}

const NO_ARGUMENTS: CallArguments = { args: [], named: [], list: null, dict: null };
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];

export class ExpressionParser {
  constructor(readonly stream: TokenStream) {}

  expression(withCondition = true): Expression {
    return withCondition ? this.condition() : this.or();
  }

  /** One expression, or several with commas between them. */
  tuple({ isTarget = false, withCondition = true, end, mayBeEmpty = false }: TupleRules = {}): Expression {
    const { stream } = this;
    const items: Expression[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) stream.expect('operator', ',');
      if (this.isTupleEnd(end)) break;
      items.push(isTarget ? this.primary(true) : this.expression(withCondition));
      if (!stream.is('operator', ',')) break;
      isTuple = true;
    }
    if (isTuple) return { type: 'tuple', items };
    if (items.length > 0) return items[0];
    if (!mayBeEmpty) return stream.refuse(`Expected an expression, got ${stream.describe()}`);
    return { type: 'tuple', items };
  }

  filter(input: Expression | null, isInline = false): FilterExpression | null {
    const { stream } = this;
    let node: FilterExpression | null = null;
    for (let begins = isInline; begins || stream.is('operator', '|'); begins = false) {
      if (!begins) stream.next();
      const name = this.dottedName();
      const given = stream.is('operator', '(') ? this.callArguments() : NO_ARGUMENTS;
      node = { type: 'filter', input: node ?? input, name, arguments: given };
    }
    return node;
  }

  primary(mayBeNamespace = false): Expression {
    const { stream } = this;
    const token = stream.current;
    switch (token.kind) {
      case 'name': {
        stream.next();
        if (CONSTANTS.has(token.value))
          return { type: 'constant', value: CONSTANTS.get(token.value) as boolean | null };
        if (!mayBeNamespace || !stream.is('operator', '.')) return { type: 'name', name: token.value };
        stream.next();
        return { type: 'namespaceRef', name: token.value, attribute: stream.expect('name').value };
      }
      case 'string': {
        let text = '';
        while (stream.is('string')) text += stream.next().value;
        return { type: 'constant', value: text };
      }
      case 'integer':
        return { type: 'constant', value: BigInt(stream.next().value.replaceAll('_', '')) };
      case 'float':
        return { type: 'constant', value: Number(stream.next().value.replaceAll('_', '')) };
      default:
        return this.bracket();
    }
  }

  private bracket(): Expression {
    const { stream } = this;
    if (stream.skipIf('operator', '(')) {
      const inner = this.tuple({ mayBeEmpty: true });
      stream.expect('operator', ')');
      return inner;
    }
    if (stream.skipIf('operator', '['))
      return { type: 'list', items: this.listed(']', () => this.expression()) };
    if (stream.skipIf('operator', '{')) {
      const pairs = this.listed('}', () => {
        const key = this.expression();
        stream.expect('operator', ':');
        return [key, this.expression()] as const;
      });
      return { type: 'dict', pairs };
    }
    return stream.refuse(`unexpected ${stream.describe()}`);
  }

  /** The items between brackets, with commas, of which one may be the last. */
  private listed<T>(close: string, parse: () => T): readonly T[] {
    const items: T[] = [];
    while (!this.stream.is('operator', close)) {
      if (items.length > 0) this.stream.expect('operator', ',');
      if (this.stream.is('operator', close)) break;
      items.push(parse());
    }
    this.stream.expect('operator', close);
    return items;
  }

  private isTupleEnd(end: string | undefined): boolean {
    const { stream } = this;
    if (stream.is('variable_end') || stream.is('block_end') || stream.is('operator', ')')) return true;
    return end !== undefined && stream.is('name', end);
  }

  private condition(): Expression {
    let node = this.or();
    while (this.stream.skipIf('name', 'if')) {
      const test = this.or();
      const otherwise = this.stream.skipIf('name', 'else') ? this.condition() : null;
      node = { type: 'condition', test, then: node, otherwise };
    }
    return node;
  }

  private or(): Expression {
    let left = this.and();
    while (this.stream.skipIf('name', 'or')) left = { type: 'or', left, right: this.and() };
    return left;
  }

  private and(): Expression {
    let left = this.not();
    while (this.stream.skipIf('name', 'and')) left = { type: 'and', left, right: this.not() };
    return left;
  }

  private not(): Expression {
    return this.stream.skipIf('name', 'not') ? { type: 'not', operand: this.not() } : this.compare();
  }

  private compare(): Expression {
    const { stream } = this;
    const first = this.sum();
    const rest: { operator: CompareOperator; value: Expression }[] = [];
    for (;;) {
      if (stream.is('operator', ...COMPARISONS)) {
        const operator = stream.next().value as CompareOperator;
        rest.push({ operator, value: this.sum() });
      } else if (stream.skipIf('name', 'in')) rest.push({ operator: 'in', value: this.sum() });
      else if (stream.is('name', 'not') && stream.isFollowedBy('name', 'in')) {
        stream.next();
        stream.next();
        rest.push({ operator: 'not in', value: this.sum() });
      } else break;
    }
    return rest.length === 0 ? first : { type: 'compare', first, rest };
  }

  private sum(): Expression {
    return this.chain(['+', '-'], () => this.concat());
  }

  private concat(): Expression {
    const parts = [this.product()];
    while (this.stream.skipIf('operator', '~')) parts.push(this.product());
    return parts.length === 1 ? parts[0] : { type: 'concat', parts };
  }

  private product(): Expression {
    return this.chain(['*', '/', '//', '%'], () => this.chain(['**'], () => this.unary()));
  }

  private chain(operators: readonly BinaryOperator[], parse: () => Expression): Expression {
    let left = parse();
    while (this.stream.is('operator', ...operators)) {
      const operator = this.stream.next().value as BinaryOperator;
      left = { type: 'binary', operator, left, right: parse() };
    }
    return left;
  }

  private unary(withFilter = true): Expression {
    const { stream } = this;
    let node: Expression;
    if (stream.skipIf('operator', '-')) node = { type: 'negative', operand: this.unary(false) };
    else if (stream.skipIf('operator', '+')) node = { type: 'positive', operand: this.unary(false) };
    else node = this.primary();
    node = this.postfix(node);
    return withFilter ? this.filters(node) : node;
  }

  private postfix(start: Expression): Expression {
    const { stream } = this;
    let node = start;
    for (;;) {
      if (stream.skipIf('operator', '.')) node = this.dotted(node);
      else if (stream.skipIf('operator', '[')) node = this.subscript(node);
      else if (stream.is('operator', '('))
        node = { type: 'call', callee: node, arguments: this.callArguments() };
      else return node;
    }
  }

  private dotted(object: Expression): Expression {
    const { stream } = this;
    if (stream.is('integer')) return { type: 'item', object, key: this.primary() };
    return { type: 'attribute', object, name: stream.expect('name').value };
  }

  private subscript(object: Expression): Expression {
    const { stream } = this;
    const keys = this.listed(']', () => this.subscripted());
    if (keys.length !== 1) {
      const items = keys.map((key) =>
        Array.isArray(key) ? stream.refuse('slices have one dimension') : (key as Expression),
      );
      return { type: 'item', object, key: { type: 'tuple', items } };
    }
    const [key] = keys;
    if (Array.isArray(key)) return { type: 'slice', object, bounds: key as readonly (Expression | null)[] };
    return { type: 'item', object, key: key as Expression };
  }

  /** A key, or the three bounds of a slice. */
  private subscripted(): Expression | readonly (Expression | null)[] {
    const { stream } = this;
    const isEnd = () => stream.is('operator', ']', ',');
    const first = stream.is('operator', ':') ? null : this.expression();
    if (!stream.skipIf('operator', ':')) return first as Expression;
    const second = stream.is('operator', ':') || isEnd() ? null : this.expression();
    const third = stream.skipIf('operator', ':') && !isEnd() ? this.expression() : null;
    return [first, second, third];
  }

  private filters(start: Expression): Expression {
    const { stream } = this;
    let node = start;
    for (;;) {
      if (stream.is('operator', '|')) node = this.filter(node) as Expression;
      else if (stream.skipIf('name', 'is')) node = this.test(node);
      else if (stream.is('operator', '('))
        node = { type: 'call', callee: node, arguments: this.callArguments() };
      else return node;
    }
  }

  private test(input: Expression): Expression {
    const { stream } = this;
    const isNegated = stream.skipIf('name', 'not');
    const name = this.dottedName();
    let given = NO_ARGUMENTS;
    if (stream.is('operator', '(')) given = this.callArguments();
    else if (this.beginsArgument()) {
      if (stream.is('name', 'is')) stream.refuse('You cannot chain multiple tests with is');
      given = { ...NO_ARGUMENTS, args: [this.postfix(this.primary())] };
    }
    const node: Expression = { type: 'test', input, name, arguments: given };
    return isNegated ? { type: 'not', operand: node } : node;
  }

  private beginsArgument(): boolean {
    const { stream } = this;
    if (stream.is('name')) return !stream.is('name', 'else', 'or', 'and');
    return (
      stream.is('string') || stream.is('integer') || stream.is('float') || stream.is('operator', '[', '{')
    );
  }

  private dottedName(): string {
    let name = this.stream.expect('name').value;
    while (this.stream.skipIf('operator', '.')) name += `.${this.stream.expect('name').value}`;
    return name;
  }

  private callArguments(): CallArguments {
    const { stream } = this;
    const args: Expression[] = [];
    const named: (readonly [string, Expression])[] = [];
    let [list, dict]: [Expression | null, Expression | null] = [null, null];
    const ensure = (holds: boolean) => holds || stream.refuse('invalid syntax for function call expression');
    stream.expect('operator', '(');
    this.listed(')', () => {
      if (stream.skipIf('operator', '*')) {
        ensure(list === null && dict === null);
        list = this.expression();
      } else if (stream.skipIf('operator', '**')) {
        ensure(dict === null);
        dict = this.expression();
      } else if (stream.is('name') && stream.isFollowedBy('operator', '=')) {
        ensure(dict === null);
        const name = stream.next().value;
        stream.next();
        named.push([name, this.expression()]);
      } else {
        ensure(list === null && dict === null && named.length === 0);
        args.push(this.expression());
      }
    });
    return { args, named, list, dict };
  }
}
