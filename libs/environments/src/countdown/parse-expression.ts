import { OPERATORS, calculate, type Operator } from './arithmetic.js';

/** An expression as it was read. */
export interface ParsedExpression {
  /** Its tokens, joined by blanks. */
  readonly text: string;
  /** The numbers in it, in their order, repeated as often as they occur. */
  readonly numbers: readonly number[];
  /** Infinite or not a number after a division by zero. */
  readonly value: number;
}

/** Most tokens of an expression: bounds how deep parentheses can nest. */
const MAX_TOKENS = 100;
/** Characters that so many tokens can have, with blanks between them. */
const MAX_CHARACTERS = 2000;

const TOKEN = /\s*(\d{1,9}(?!\d)|[-+*/()])\s*/y;

/**
 * Reads an expression of whole numbers, `+ - * /` and parentheses by recursive descent: `*` and `/` bind more strongly than `+` and `-`, and
 * operators of one kind group from the left. There is no sign: `-3` is no number.
 *
 * @returns null when the text is anything else, or has more than 100 tokens or 2,000 characters
 */
export function parseExpression(text: string): ParsedExpression | null {
  const tokens = tokenize(text);
  if (tokens === null) return null;
  const reader = new ExpressionReader(tokens);
  const value = reader.readSum();
  if (value === null || !reader.atEnd) return null;
  return { text: tokens.join(' '), numbers: tokens.filter(isNumber).map(Number), value };
}

function tokenize(text: string): readonly string[] | null {
  if (text.length > MAX_CHARACTERS) return null;
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null || tokens.length === MAX_TOKENS) return null;
    tokens.push(match[1]);
  }
  return tokens;
}

function isNumber(token: string): boolean {
  return /^\d/.test(token);
}

/** Reads tokens from the left; each method returns the value of what it read, or null where the grammar is broken. */
class ExpressionReader {
  private next = 0;

  constructor(private readonly tokens: readonly string[]) {}

  get atEnd(): boolean {
    return this.next === this.tokens.length;
  }

  /** sum = product (("+" | "-") product)* */
  readSum(): number | null {
    return this.readChain(['+', '-'], () => this.readProduct());
  }

  /** product = factor (("*" | "/") factor)* */
  private readProduct(): number | null {
    return this.readChain(['*', '/'], () => this.readFactor());
  }

  /** factor = number | "(" sum ")" */
  private readFactor(): number | null {
    const token = this.atEnd ? '' : this.tokens[this.next++];
    if (isNumber(token)) return Number(token);
    if (token !== '(') return null;
    const value = this.readSum();
    return value !== null && this.tokens[this.next++] === ')' ? value : null;
  }

  private readChain(operators: readonly Operator[], readPart: () => number | null): number | null {
    let value = readPart();
    for (;;) {
      const operator = OPERATORS.find((one) => one === this.tokens[this.next]);
      if (value === null || operator === undefined || !operators.includes(operator)) return value;
      this.next += 1;
      const right = readPart();
      value = right === null ? null : calculate(operator, value, right);
    }
  }
}
