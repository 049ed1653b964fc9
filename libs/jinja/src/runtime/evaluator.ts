/** Computes the expressions of a template. */
import { fail } from '../jinja-error.js';
import { takeSteps } from '../meter.js';
import { compare, contains, equal } from '../values/comparison.js';
import { str } from '../values/printing.js';
import { isText, joinTexts, type Text } from '../values/traced-text.js';
import {
  Callable,
  Dict,
  Instance,
  isList,
  isTrue,
  toKey,
  toList,
  findOrigin,
  Tuple,
  typeName,
  Undefined,
  type Key,
  type Value,
} from '../values/value.js';
import type { CallArguments, CompareOperator, Expression, FilterExpression } from '../syntax/nodes.js';
import { getAttribute, getItem } from './attributes.js';
import { hasFilter, runFilter } from './filter-registry.js';
import { binary, negative, positive, slice } from './operators.js';
import type { VariableScope } from './scope.js';
import { runTest } from './tests.js';

export class Evaluator {
  /** Whether a traced list or dict was printed as Python writes it, or the characters of a traced text were looped over. */
  hasMisread = false;

  evaluate(node: Expression, scope: VariableScope): Value {
    takeSteps(1);
    const value = (inner: Expression) => this.evaluate(inner, scope);
    switch (node.type) {
      case 'constant':
        return node.value;
      case 'name':
        return lookUp(node.name, scope);
      case 'namespaceRef':
        return fail('TemplateRuntimeError', 'a namespace attribute is only a target');
      case 'list':
        return node.items.map(value);
      case 'tuple':
        return new Tuple(node.items.map(value));
      case 'dict':
        return this.dict(node.pairs, scope);
      case 'condition':
        if (isTrue(value(node.test))) return value(node.then);
        return node.otherwise
          ? value(node.otherwise)
          : new Undefined('the inline if-expression evaluated to false and no else section was defined.');
      case 'and': {
        const left = value(node.left);
        return isTrue(left) ? value(node.right) : left;
      }
      case 'or': {
        const left = value(node.left);
        return isTrue(left) ? left : value(node.right);
      }
      case 'not':
        return !isTrue(value(node.operand));
      case 'compare':
        return this.compare(node, scope);
      case 'binary':
        return binary(node.operator, value(node.left), value(node.right));
      case 'negative':
        return negative(value(node.operand));
      case 'positive':
        return positive(value(node.operand));
      case 'concat':
        return joinTexts(node.parts.map((part) => this.print(value(part))));
      case 'attribute':
        return getAttribute(value(node.object), node.name);
      case 'item':
        return getItem(value(node.object), value(node.key));
      case 'slice':
        return slice(
          value(node.object),
          node.bounds.map((bound) => bound && value(bound)),
        );
      case 'call':
        return this.call(node, scope);
      case 'filter':
        return this.filter(node, '', scope);
      case 'test':
        return this.test(node, scope);
    }
  }

  /** @param block the text that the first of several filters gets, where they are for a block */
  filter({ input, name, arguments: given }: FilterExpression, block: Value, scope: VariableScope): Value {
    const value =
      input === null
        ? block
        : input.type === 'filter'
          ? this.filter(input, block, scope)
          : this.evaluate(input, scope);
    const { args, named } = this.arguments(given, scope);
    return runFilter(name, value, args, named);
  }

  /** A value as it is written. */
  print(value: Value): Text {
    if (isText(value)) return value;
    if ((isList(value) || value instanceof Dict) && findOrigin(value) > 0) this.hasMisread = true;
    return str(value);
  }

  arguments(
    { args, named, list, dict }: CallArguments,
    scope: VariableScope,
  ): { args: readonly Value[]; named: Map<string, Value> } {
    const values = args.map((arg) => this.evaluate(arg, scope));
    const byName = new Map(named.map(([name, value]) => [name, this.evaluate(value, scope)] as const));
    if (list) values.push(...toList(this.evaluate(list, scope)));
    if (dict) {
      const given = this.evaluate(dict, scope);
      if (!(given instanceof Dict))
        return fail('TypeError', `argument after ** must be a mapping, not ${typeName(given)}`);
      for (const [key, value] of given.entries) byName.set(String(key), value);
    }
    return { args: values, named: byName };
  }

  private call(
    { callee, arguments: given }: Extract<Expression, { type: 'call' }>,
    scope: VariableScope,
  ): Value {
    const called = this.evaluate(callee, scope);
    const { args, named } = this.arguments(given, scope);
    return call(called, args, named);
  }

  private test(
    { input, name, arguments: given }: Extract<Expression, { type: 'test' }>,
    scope: VariableScope,
  ): boolean {
    const value = this.evaluate(input, scope);
    return runTest(name, value, { ...this.arguments(given, scope), hasFilter });
  }

  private dict(pairs: readonly (readonly [Expression, Expression])[], scope: VariableScope): Dict {
    const entries = new Map<Key, Value>();
    let origin = 0;
    for (const [keyNode, valueNode] of pairs) {
      const key = this.evaluate(keyNode, scope);
      origin = Math.max(origin, findOrigin(key));
      entries.set(toKey(key), this.evaluate(valueNode, scope));
    }
    return new Dict(entries, origin);
  }

  private compare({ first, rest }: Extract<Expression, { type: 'compare' }>, scope: VariableScope): boolean {
    let left = this.evaluate(first, scope);
    for (const { operator, value } of rest) {
      const right = this.evaluate(value, scope);
      if (!holds(operator, left, right)) return false;
      left = right;
    }
    return true;
  }
}

function lookUp(name: string, scope: VariableScope): Value {
  const value = scope.get(name);
  return value === undefined ? new Undefined(`'${name}' is undefined`) : value;
}

function holds(operator: CompareOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case '==':
      return equal(left, right);
    case '!=':
      return !equal(left, right);
    case 'in':
      return contains(right, left);
    case 'not in':
      return !contains(right, left);
    case '<':
      return compare(left, right, operator) < 0;
    case '<=':
      return compare(left, right, operator) <= 0;
    case '>':
      return compare(left, right, operator) > 0;
    case '>=':
      return compare(left, right, operator) >= 0;
  }
}

/** @throws JinjaError for what can't be called */
export function call(callee: Value, args: readonly Value[], named: ReadonlyMap<string, Value>): Value {
  takeSteps(1);
  if (callee instanceof Undefined) return callee.refuse();
  if (callee instanceof Callable) return callee.call(args, named);
  if (callee instanceof Instance && callee.parts.call) return callee.parts.call(args, named);
  return fail('TypeError', `'${typeName(callee)}' object is not callable`);
}
