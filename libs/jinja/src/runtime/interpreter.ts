/** Runs the statements of a template. */
import { fail } from '../jinja-error.js';
import { takeSteps } from '../meter.js';
import { isText, joinTexts, type Text } from '../values/traced-text.js';
import {
  Callable,
  Dict,
  Instance,
  isTrue,
  Lazy,
  toList,
  findOrigin,
  Tuple,
  Undefined,
  type NamedValues,
  type Value,
} from '../values/value.js';
import {
  walk,
  type Expression,
  type ForStatement,
  type Parameter,
  type TemplateStatement,
} from '../syntax/nodes.js';
import { call, Evaluator } from './evaluator.js';
import { Loop } from './loop.js';
import { VariableScope } from './scope.js';

/** How the statements of a loop's body ended. */
type Ending = 'end' | 'break' | 'continue';

export interface Rendered {
  readonly text: Text;
  readonly hasMisread: boolean;
}

/** @throws JinjaError */
export function run(statements: readonly TemplateStatement[], globals: VariableScope): Rendered {
  const interpreter = new Interpreter();
  const text = interpreter.render(statements, new VariableScope(globals));
  return { text, hasMisread: interpreter.hasMisread };
}

class Interpreter {
  private readonly evaluator = new Evaluator();

  get hasMisread(): boolean {
    return this.evaluator.hasMisread;
  }

  /** The text of statements that have a scope of their own. */
  render(statements: readonly TemplateStatement[], scope: VariableScope): Text {
    const out: Text[] = [];
    const ending = this.run(statements, scope, out);
    if (ending !== 'end') fail('SyntaxError', `'${ending}' outside loop`);
    return joinTexts(out);
  }

  private run(statements: readonly TemplateStatement[], scope: VariableScope, out: Text[]): Ending {
    for (const statement of statements) {
      const ending = this.step(statement, scope, out);
      if (ending !== 'end') return ending;
    }
    return 'end';
  }

  private step(statement: TemplateStatement, scope: VariableScope, out: Text[]): Ending {
    takeSteps(1);
    const { evaluator } = this;
    switch (statement.type) {
      case 'text':
        out.push(statement.text);
        return 'end';
      case 'output':
        out.push(evaluator.print(evaluator.evaluate(statement.value, scope)));
        return 'end';
      case 'if': {
        const taken = statement.branches.find(({ test }) => isTrue(evaluator.evaluate(test, scope)));
        return this.run(taken?.body ?? statement.otherwise, scope, out);
      }
      case 'for':
        return this.loop(statement, evaluator.evaluate(statement.items, scope), { scope, out, depth: 0 });
      case 'set':
        assign(statement.target, evaluator.evaluate(statement.value, scope), scope);
        return 'end';
      case 'setBlock': {
        const text = this.render(statement.body, new VariableScope(scope));
        assign(
          statement.target,
          statement.filter ? evaluator.filter(statement.filter, text, scope) : text,
          scope,
        );
        return 'end';
      }
      case 'macro':
        scope.set(statement.name, this.macro(statement.name, statement.parameters, statement.body, scope));
        return 'end';
      case 'callBlock': {
        const caller = this.macro('caller', statement.parameters, statement.body, scope);
        const callee = evaluator.evaluate(statement.call.callee, scope);
        const { args, named } = evaluator.arguments(statement.call.arguments, scope);
        out.push(evaluator.print(call(callee, args, named.set('caller', caller))));
        return 'end';
      }
      case 'filterBlock':
        out.push(
          evaluator.print(
            evaluator.filter(statement.filter, this.render(statement.body, new VariableScope(scope)), scope),
          ),
        );
        return 'end';
      case 'with': {
        const inner = new VariableScope(scope);
        for (const { target, value } of statement.bindings)
          assign(target, evaluator.evaluate(value, scope), inner);
        return this.run(statement.body, inner, out);
      }
      case 'scope':
        out.push(this.render(statement.body, new VariableScope(scope)));
        return 'end';
      default:
        return statement.type;
    }
  }

  private loop(
    statement: ForStatement,
    items: Value,
    { scope, out, depth }: { readonly scope: VariableScope; readonly out: Text[]; readonly depth: number },
  ): Ending {
    const recurse = (inner: Value, innerDepth: number) => {
      const text: Text[] = [];
      this.loop(statement, inner, { scope, out: text, depth: innerDepth });
      return joinTexts(text);
    };
    if (isText(items) && findOrigin(items) > 0) this.evaluator.hasMisread = true;
    const chosen = statement.test ? new Lazy(this.chosen(statement, items, scope)) : items;
    const loop = new Loop(chosen, depth, statement.isRecursive ? recurse : null);
    let hasRun = false;
    for (let item = loop.next(); item !== undefined; item = loop.next()) {
      const inner = new VariableScope(scope);
      inner.set('loop', loop.variable);
      assign(statement.target, item, inner);
      const ending = this.run(statement.body, inner, out);
      if (ending === 'break') break;
      // As in Jinja2, an iteration that is cut short doesn't keep the branch `else` from running.
      if (ending === 'end') hasRun = true;
    }
    return hasRun ? 'end' : this.run(statement.otherwise, new VariableScope(scope), out);
  }

  /** The items for which the test of a loop holds, each tested when the loop gets to it. */
  private *chosen(
    { target, test }: ForStatement,
    items: Value,
    scope: VariableScope,
  ): Generator<Value, undefined> {
    const loop = new Loop(items, 0, null);
    for (let item = loop.next(); item !== undefined; item = loop.next()) {
      const inner = new VariableScope(scope);
      assign(target, item, inner);
      if (isTrue(this.evaluator.evaluate(test as Expression, inner))) yield item;
    }
  }

  private macro(
    name: string,
    parameters: readonly Parameter[],
    body: readonly TemplateStatement[],
    outer: VariableScope,
  ): Callable {
    const used = new Set<string>();
    walk([body, parameters], (node) => node.type === 'name' && used.add(node.name));
    const run = (args: readonly Value[], named: NamedValues) => {
      const scope = new VariableScope(outer);
      const rest = new Map(named);
      parameters.forEach((parameter, n) => {
        const given = n < args.length ? args[n] : rest.get(parameter.name);
        if (n >= args.length) rest.delete(parameter.name);
        scope.set(parameter.name, given === undefined ? this.fallback(parameter, scope) : given);
      });
      const isNamed = (special: string) => parameters.some((parameter) => parameter.name === special);
      if (used.has('caller') && !isNamed('caller')) {
        scope.set('caller', rest.get('caller') ?? new Undefined('No caller defined'));
        rest.delete('caller');
      }
      if (used.has('kwargs') && !isNamed('kwargs')) scope.set('kwargs', new Dict(rest));
      else if (rest.size > 0)
        fail('TypeError', `macro '${name}' takes no keyword argument '${[...rest.keys()][0]}'`);
      if (used.has('varargs') && !isNamed('varargs'))
        scope.set('varargs', new Tuple(args.slice(parameters.length)));
      else if (args.length > parameters.length)
        fail('TypeError', `macro '${name}' takes not more than ${parameters.length} argument(s)`);
      return this.render(body, scope);
    };
    return new Callable(name, run, 'Macro');
  }

  private fallback({ name, fallback }: Parameter, scope: VariableScope): Value {
    return fallback
      ? this.evaluator.evaluate(fallback, scope)
      : new Undefined(`parameter '${name}' was not provided`);
  }
}

function assign(target: Expression, value: Value, scope: VariableScope): void {
  if (target.type === 'name') {
    scope.set(target.name, value);
    return;
  }
  if (target.type === 'namespaceRef') {
    const namespace = scope.get(target.name);
    if (!(namespace instanceof Instance) || !namespace.parts.setAttribute)
      return fail('TemplateRuntimeError', 'cannot assign attribute on non-namespace object');
    namespace.parts.setAttribute(target.attribute, value);
    return;
  }
  if (target.type !== 'tuple' && target.type !== 'list') return fail('TemplateRuntimeError', "can't assign");
  const items = toList(value);
  if (items.length !== target.items.length)
    fail('ValueError', `cannot unpack ${items.length} values into ${target.items.length} names`);
  target.items.forEach((inner, n) => {
    assign(inner, items[n], scope);
  });
}
