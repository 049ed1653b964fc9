/** The syntax tree of a template. */
import type { Value } from '../values/value.js';

export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export interface CallArguments {
  readonly args: readonly Expression[];
  readonly named: readonly (readonly [name: string, value: Expression])[];
  /** `*list` */
  readonly list: Expression | null;
  /** `**dict` */
  readonly dict: Expression | null;
}

export type Expression =
  | { readonly type: 'constant'; readonly value: Value }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'namespaceRef'; readonly name: string; readonly attribute: string }
  | { readonly type: 'list' | 'tuple'; readonly items: readonly Expression[] }
  | { readonly type: 'dict'; readonly pairs: readonly (readonly [Expression, Expression])[] }
  | {
      readonly type: 'condition';
      readonly test: Expression;
      readonly then: Expression;
      readonly otherwise: Expression | null;
    }
  | { readonly type: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'not'; readonly operand: Expression }
  | {
      readonly type: 'compare';
      readonly first: Expression;
      readonly rest: readonly { readonly operator: CompareOperator; readonly value: Expression }[];
    }
  | {
      readonly type: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly type: 'negative' | 'positive'; readonly operand: Expression }
  | { readonly type: 'concat'; readonly parts: readonly Expression[] }
  | { readonly type: 'attribute'; readonly object: Expression; readonly name: string }
  | { readonly type: 'item'; readonly object: Expression; readonly key: Expression }
  | { readonly type: 'slice'; readonly object: Expression; readonly bounds: readonly (Expression | null)[] }
  | { readonly type: 'call'; readonly callee: Expression; readonly arguments: CallArguments }
  | FilterExpression
  | {
      readonly type: 'test';
      readonly input: Expression;
      readonly name: string;
      readonly arguments: CallArguments;
    };

export interface FilterExpression {
  readonly type: 'filter';
  /** null: the text of the block that the filter is for. */
  readonly input: Expression | null;
  readonly name: string;
  readonly arguments: CallArguments;
}

export interface Parameter {
  readonly name: string;
  readonly fallback: Expression | null;
}

export interface ForStatement {
  readonly type: 'for';
  readonly target: Expression;
  readonly items: Expression;
  readonly test: Expression | null;
  readonly isRecursive: boolean;
  readonly body: readonly TemplateStatement[];
  readonly otherwise: readonly TemplateStatement[];
}

export interface MacroStatement {
  readonly type: 'macro';
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: readonly TemplateStatement[];
}

export type TemplateStatement =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'output'; readonly value: Expression }
  | ForStatement
  | {
      readonly type: 'if';
      readonly branches: readonly {
        readonly test: Expression;
        readonly body: readonly TemplateStatement[];
      }[];
      readonly otherwise: readonly TemplateStatement[];
    }
  | { readonly type: 'set'; readonly target: Expression; readonly value: Expression }
  | {
      readonly type: 'setBlock';
      readonly target: Expression;
      readonly filter: FilterExpression | null;
      readonly body: readonly TemplateStatement[];
    }
  | MacroStatement
  | {
      readonly type: 'callBlock';
      readonly call: Extract<Expression, { readonly type: 'call' }>;
      readonly parameters: readonly Parameter[];
      readonly body: readonly TemplateStatement[];
    }
  | {
      readonly type: 'filterBlock';
      readonly filter: FilterExpression;
      readonly body: readonly TemplateStatement[];
    }
  | {
      readonly type: 'with';
      readonly bindings: readonly { readonly target: Expression; readonly value: Expression }[];
      readonly body: readonly TemplateStatement[];
    }
  /** `block` and `generation`: statements with a scope of their own. */
  | { readonly type: 'scope'; readonly body: readonly TemplateStatement[] }
  | { readonly type: 'break' | 'continue' };

/** Calls `visit` with each node of a syntax tree, the outer ones first. */
export function walk(node: unknown, visit: (node: Expression | TemplateStatement) => void): void {
  if (Array.isArray(node)) {
    for (const inner of node) walk(inner, visit);
    return;
  }
  if (typeof node !== 'object' || node === null || Object.getPrototypeOf(node) !== Object.prototype) return;
  if ('type' in node) visit(node as Expression | TemplateStatement);
  for (const inner of Object.values(node)) walk(inner, visit);
}
