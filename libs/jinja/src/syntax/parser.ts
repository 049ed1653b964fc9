/** Jinja2's grammar of statements, with loop controls and transformers' tag `generation`. */
import { tokenize, type LexerOptions } from './lexer.js';
import type { Expression, FilterExpression, Parameter, TemplateStatement } from './nodes.js';
import { ExpressionParser } from './expression-parser.js';
import { TokenStream } from './token-stream.js';

/** Tags that load other templates, of which there are none. */
const LOADING = ['extends', 'include', 'import', 'from'];

/** @throws JinjaError `SYNTAX` for a text that is no template */
export function parse(source: string, options: LexerOptions): readonly TemplateStatement[] {
  return new Parser(new TokenStream(tokenize(source, options))).template();
}

class Parser {
  private readonly expressions: ExpressionParser;

  constructor(private readonly stream: TokenStream) {
    this.expressions = new ExpressionParser(stream);
  }

  template(): readonly TemplateStatement[] {
    return this.body([]);
  }

  /** Statements up to a tag of one of these names, or to the end of the template where there are none. */
  private body(ends: readonly string[]): readonly TemplateStatement[] {
    const { stream } = this;
    const statements: TemplateStatement[] = [];
    for (;;) {
      if (stream.is('eof')) {
        if (ends.length === 0) return statements;
        stream.refuse(`Unexpected end of template; expected ${ends.map((end) => `'${end}'`).join(' or ')}`);
      }
      const token = stream.next();
      if (token.kind === 'data') statements.push({ type: 'text', text: token.value });
      else if (token.kind === 'variable_begin') {
        statements.push({ type: 'output', value: this.expressions.tuple() });
        stream.expect('variable_end');
      } else {
        if (ends.length > 0 && stream.is('name', ...ends)) return statements;
        statements.push(...this.statement());
        stream.expect('block_end');
      }
    }
  }

  /** The rest of a tag and the statements that follow, up to one of these tags, whose name is read too if there is only one. */
  private block(...ends: readonly string[]): readonly TemplateStatement[] {
    this.stream.skipIf('operator', ':');
    this.stream.expect('block_end');
    const statements = this.body(ends);
    if (ends.length === 1) this.stream.next();
    return statements;
  }

  private statement(): readonly TemplateStatement[] {
    const { stream } = this;
    const { value: tag } = stream.expect('name');
    switch (tag) {
      case 'for':
        return [this.forLoop()];
      case 'if':
        return [this.ifBlock()];
      case 'set':
        return [this.set()];
      case 'macro':
        return [this.macro()];
      case 'call':
        return [this.callBlock()];
      case 'filter': {
        const filter = this.expressions.filter(null, true) as FilterExpression;
        return [{ type: 'filterBlock', filter, body: this.block('endfilter') }];
      }
      case 'with':
        return [this.withBlock()];
      case 'block':
        return [this.namedBlock()];
      case 'generation':
        return [{ type: 'scope', body: this.block('endgeneration') }];
      case 'autoescape':
        this.expressions.expression();
        return [{ type: 'scope', body: this.block('endautoescape') }];
      case 'print':
        return this.print();
      case 'break':
      case 'continue':
        return [{ type: tag }];
      default:
        return stream.refuse(
          LOADING.includes(tag)
            ? `"${tag}" is not supported, as there is one template only`
            : `Encountered unknown tag '${tag}'`,
        );
    }
  }

  private forLoop(): TemplateStatement {
    const { stream, expressions } = this;
    const target = this.target('in');
    stream.expect('name', 'in');
    const items = expressions.tuple({ withCondition: false, end: 'recursive' });
    const test = stream.skipIf('name', 'if') ? expressions.expression() : null;
    const isRecursive = stream.skipIf('name', 'recursive');
    const body = this.block('endfor', 'else');
    const otherwise = stream.next().value === 'else' ? this.block('endfor') : [];
    return { type: 'for', target, items, test, isRecursive, body, otherwise };
  }

  private ifBlock(): TemplateStatement {
    const branches: { test: Expression; body: readonly TemplateStatement[] }[] = [];
    let otherwise: readonly TemplateStatement[] = [];
    let tag = 'elif';
    while (tag === 'elif') {
      const test = this.expressions.tuple({ withCondition: false });
      branches.push({ test, body: this.block('elif', 'else', 'endif') });
      tag = this.stream.next().value;
    }
    if (tag === 'else') otherwise = this.block('endif');
    return { type: 'if', branches, otherwise };
  }

  private set(): TemplateStatement {
    const target = this.target();
    if (this.stream.skipIf('operator', '=')) return { type: 'set', target, value: this.expressions.tuple() };
    return { type: 'setBlock', target, filter: this.expressions.filter(null), body: this.block('endset') };
  }

  private macro(): TemplateStatement {
    const name = this.stream.expect('name').value;
    return { type: 'macro', name, parameters: this.signature(), body: this.block('endmacro') };
  }

  private callBlock(): TemplateStatement {
    const parameters = this.stream.is('operator', '(') ? this.signature() : [];
    const call = this.expressions.expression();
    if (call.type !== 'call') return this.stream.refuse('expected call');
    return { type: 'callBlock', call, parameters, body: this.block('endcall') };
  }

  private withBlock(): TemplateStatement {
    const { stream } = this;
    const bindings: { target: Expression; value: Expression }[] = [];
    while (!stream.is('block_end')) {
      if (bindings.length > 0) stream.expect('operator', ',');
      const target = this.target();
      stream.expect('operator', '=');
      bindings.push({ target, value: this.expressions.expression() });
    }
    return { type: 'with', bindings, body: this.block('endwith') };
  }

  private namedBlock(): TemplateStatement {
    const name = this.stream.expect('name').value;
    this.stream.skipIf('name', 'scoped');
    this.stream.skipIf('name', 'required');
    const body = this.block('endblock');
    this.stream.skipIf('name', name);
    return { type: 'scope', body };
  }

  private print(): readonly TemplateStatement[] {
    const statements: TemplateStatement[] = [];
    while (!this.stream.is('block_end')) {
      if (statements.length > 0) this.stream.expect('operator', ',');
      statements.push({ type: 'output', value: this.expressions.expression() });
    }
    return statements;
  }

  private signature(): readonly Parameter[] {
    const { stream } = this;
    const parameters: Parameter[] = [];
    stream.expect('operator', '(');
    while (!stream.is('operator', ')')) {
      if (parameters.length > 0) stream.expect('operator', ',');
      const name = stream.expect('name').value;
      const fallback = stream.skipIf('operator', '=') ? this.expressions.expression() : null;
      if (fallback === null && parameters.some((parameter) => parameter.fallback !== null))
        stream.refuse('non-default argument follows default argument');
      parameters.push({ name, fallback });
    }
    stream.next();
    return parameters;
  }

  /** The target of an assignment: names, tuples of them, or an attribute of a namespace. */
  private target(end?: string): Expression {
    const target = this.expressions.tuple({ isTarget: true, end });
    if (!isTarget(target)) this.stream.refuse(`can't assign to '${target.type}'`);
    return target;
  }
}

function isTarget(target: Expression): boolean {
  if (target.type === 'tuple' || target.type === 'list') return target.items.every(isTarget);
  return target.type === 'name' || target.type === 'namespaceRef';
}
