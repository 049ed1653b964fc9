import { JinjaError } from '../jinja-error.js';
import type { Token, TokenKind } from './lexer.js';

/** The tokens that a parser has still to read. */
export class TokenStream {
  private at = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  get current(): Token {
    return this.tokens[this.at];
  }

  get following(): Token {
    return this.tokens[Math.min(this.at + 1, this.tokens.length - 1)];
  }

  next(): Token {
    const token = this.current;
    if (this.at < this.tokens.length - 1) this.at++;
    return token;
  }

  is(kind: TokenKind, ...values: readonly string[]): boolean {
    return isToken(this.current, kind, values);
  }

  isFollowedBy(kind: TokenKind, ...values: readonly string[]): boolean {
    return isToken(this.following, kind, values);
  }

  skipIf(kind: TokenKind, ...values: readonly string[]): boolean {
    const found = this.is(kind, ...values);
    if (found) this.next();
    return found;
  }

  /** @throws JinjaError `SYNTAX` for another token */
  expect(kind: TokenKind, ...values: readonly string[]): Token {
    if (this.is(kind, ...values)) return this.next();
    const wanted = values.length > 0 ? values.map((value) => `'${value}'`).join(' or ') : NAMES[kind];
    return this.refuse(`expected ${wanted}, got ${this.describe()}`);
  }

  describe(): string {
    const { kind, value } = this.current;
    return kind === 'name' || kind === 'operator' ? `'${value}'` : NAMES[kind];
  }

  refuse(message: string): never {
    throw new JinjaError('SYNTAX', `line ${this.current.line}: ${message}`);
  }
}

function isToken({ kind, value }: Token, wanted: TokenKind, values: readonly string[]): boolean {
  return kind === wanted && (values.length === 0 || values.includes(value));
}

const NAMES: Readonly<Record<TokenKind, string>> = {
  data: 'text',
  variable_begin: "'{{'",
  variable_end: "'}}'",
  block_begin: "'{%'",
  block_end: "'%}'",
  name: 'a name',
  string: 'a text',
  integer: 'a whole number',
  float: 'a number',
  operator: 'an operator',
  eof: 'the end of the template',
};
