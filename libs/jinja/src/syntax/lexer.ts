/** Jinja2's lexer with `trim_blocks` and `lstrip_blocks`, as the lexer.py of version 3.1 has it. */
import { JinjaError } from '../jinja-error.js';
import { isSpace, trimEnd } from '../values/characters.js';

export type TokenKind =
  | 'data'
  | 'variable_begin'
  | 'variable_end'
  | 'block_begin'
  | 'block_end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'eof';

export interface Token {
  readonly kind: TokenKind;
  readonly value: string;
  readonly line: number;
}

export interface LexerOptions {
  /** Remove the first line end after a block. */
  readonly trimBlocks: boolean;
  /** Remove white space from the beginning of a line to a block. */
  readonly lstripBlocks: boolean;
}

const SPACE = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const FLOAT = /(?<!\.)(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const NAME = /[\p{L}\p{N}\p{M}\p{Pc}]+/uy;
const IDENTIFIER = /^[\p{L}\p{Nl}_]/u;
const STRING = /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
const RAW_BEGIN = new RegExp(`\\{%([-+]?)${SPACE}*raw${SPACE}*(?:-%\\}${SPACE}*|%\\})`, 'y');
const CLOSING: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };

/** @throws JinjaError `SYNTAX` */
export function tokenize(source: string, options: LexerOptions): readonly Token[] {
  return new Lexer(source, options).run();
}

class Lexer {
  private readonly source: string;
  private readonly tokens: Token[] = [];
  private readonly blockEnd: RegExp;
  private readonly commentEnd: RegExp;
  private readonly rawEnd: RegExp;
  private at = 0;
  private line = 1;
  /** Whether what comes next begins a line. */
  private beginsLine = true;

  constructor(
    source: string,
    private readonly options: LexerOptions,
  ) {
    const lines = source.split(/\r\n|\r|\n/);
    if (lines[lines.length - 1] === '') lines.pop();
    this.source = lines.join('\n');
    const suffix = options.trimBlocks ? '\\n?' : '';
    const end = (close: string) => `(?:\\+${close}|-${close}${SPACE}*|${close}${suffix})`;
    this.blockEnd = new RegExp(end('%\\}'), 'y');
    this.commentEnd = new RegExp(end('#\\}'), 'g');
    this.rawEnd = new RegExp(`\\{%([-+]?)${SPACE}*endraw${SPACE}*${end('%\\}')}`, 'g');
  }

  run(): readonly Token[] {
    while (this.at < this.source.length) this.root();
    this.add('eof', '');
    return this.tokens;
  }

  private root(): void {
    const begin = this.nextTag();
    if (begin < 0) {
      this.addData(this.source.slice(this.at));
      this.at = this.source.length;
      return;
    }
    const text = this.source.slice(this.at, begin);
    const raw = matchAt(RAW_BEGIN, this.source, begin);
    const kind = this.source[begin + 1];
    const sign = raw ? raw[1] : readSign(this.source[begin + 2]);
    this.addData(this.stripped(text, sign, kind !== '{'));
    this.moveTo(raw ? begin + raw[0].length : begin + 2 + sign.length);
    this.beginsLine = false;
    if (raw) this.raw();
    else if (kind === '#') this.skipComment();
    else this.tag(kind === '{' ? 'variable' : 'block');
  }

  private nextTag(): number {
    for (let at = this.source.indexOf('{', this.at); at >= 0; at = this.source.indexOf('{', at + 1)) {
      if ('%#{'.includes(this.source[at + 1] ?? ' ')) return at;
    }
    return -1;
  }

  /** The text before a tag, without the white space that the tag's sign and the options remove. */
  private stripped(text: string, sign: string, isBlock: boolean): string {
    if (sign === '-') return trimEnd(text);
    if (sign === '+' || !isBlock || !this.options.lstripBlocks) return text;
    const lineStart = text.lastIndexOf('\n') + 1;
    if (lineStart === 0 && !this.beginsLine) return text;
    const isBlank = lineStart < text.length && [...text.slice(lineStart)].every(isSpace);
    return isBlank ? text.slice(0, lineStart) : text;
  }

  private raw(): void {
    this.rawEnd.lastIndex = this.at;
    const found = this.rawEnd.exec(this.source);
    if (!found) return this.endOfSource('Missing end of raw directive');
    this.addData(this.stripped(this.source.slice(this.at, found.index), found[1], true));
    this.moveTo(found.index + found[0].length);
    this.beginsLine = found[0].endsWith('\n');
  }

  private skipComment(): void {
    this.commentEnd.lastIndex = this.at;
    const found = this.commentEnd.exec(this.source);
    if (!found) return this.endOfSource('Missing end of comment tag');
    this.moveTo(found.index + found[0].length);
    this.beginsLine = found[0].endsWith('\n');
  }

  /** The tokens of a tag. Its end counts only outside of brackets. */
  private tag(kind: 'variable' | 'block'): void {
    this.add(`${kind}_begin`, '');
    const end = kind === 'block' ? this.blockEnd : VARIABLE_END;
    const open: string[] = [];
    for (;;) {
      const closed = open.length === 0 ? matchAt(end, this.source, this.at) : null;
      if (closed) {
        this.add(`${kind}_end`, '');
        this.moveTo(this.at + closed[0].length);
        this.beginsLine = closed[0].endsWith('\n');
        return;
      }
      while (this.at < this.source.length && isSpace(this.source[this.at])) this.moveTo(this.at + 1);
      if (open.length === 0 && matchAt(end, this.source, this.at)) continue;
      if (this.at >= this.source.length) return;
      this.token(open);
    }
  }

  private token(open: string[]): void {
    const found = TAG_RULES.map(
      ([kind, rule]) => [kind, matchAt(rule, this.source, this.at)?.[0]] as const,
    ).find(([, text]) => text !== undefined);
    if (!found) return this.refuse(`unexpected char ${JSON.stringify(this.source[this.at])}`);
    const [kind, text] = found as readonly [TokenKind, string];
    if (kind === 'name' && !IDENTIFIER.test(text)) this.refuse('Invalid character in identifier');
    if (kind === 'operator') this.balance(text, open);
    this.add(kind, kind === 'string' ? unescape(text.slice(1, -1), this.line) : text);
    this.moveTo(this.at + text.length);
  }

  private balance(operator: string, open: string[]): void {
    if (operator in CLOSING) open.push(CLOSING[operator]);
    else if ('})]'.includes(operator)) {
      const expected = open.pop();
      if (expected !== operator)
        this.refuse(`unexpected '${operator}'${expected === undefined ? '' : `, expected '${expected}'`}`);
    }
  }

  private addData(text: string): void {
    if (text !== '') this.add('data', text);
  }

  private add(kind: TokenKind, value: string): void {
    this.tokens.push({ kind, value, line: this.line });
  }

  private moveTo(at: number): void {
    for (let n = this.at; n < at; n++) if (this.source[n] === '\n') this.line++;
    this.at = at;
  }

  /** An open tag at the very end is no error to Jinja2. */
  private endOfSource(problem: string): void {
    if (this.at < this.source.length) this.refuse(problem);
  }

  private refuse(message: string): never {
    throw new JinjaError('SYNTAX', `line ${this.line}: ${message}`);
  }
}

const VARIABLE_END = new RegExp(`-\\}\\}${SPACE}*|\\}\\}`, 'y');
const TAG_RULES: readonly (readonly [TokenKind, RegExp])[] = [
  ['float', FLOAT],
  ['integer', INTEGER],
  ['name', NAME],
  ['string', STRING],
  ['operator', OPERATOR],
];

function matchAt(rule: RegExp, text: string, at: number): RegExpExecArray | null {
  rule.lastIndex = at;
  return rule.exec(text);
}

function readSign(character: string | undefined): string {
  return character === '-' || character === '+' ? character : '';
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Reads the escapes of a text as Python's codec `unicode-escape` does; it keeps those that it doesn't know. */
function unescape(text: string, line: number): string {
  return text.replace(
    /\\(?:x([\da-f]{0,2})|u([\da-f]{0,4})|U([\da-f]{0,8})|([0-7]{1,3})|(N)|([^]))/gi,
    (whole, x?: string, u?: string, long?: string, octal?: string, named?: string, other?: string) => {
      if (octal !== undefined) return String.fromCodePoint(parseInt(octal, 8));
      const kind = whole[1];
      const digits = kind === 'x' ? x : kind === 'u' ? u : kind === 'U' ? long : undefined;
      if (digits !== undefined) {
        const wanted = { x: 2, u: 4, U: 8 }[kind as 'x' | 'u' | 'U'];
        const code = parseInt(digits, 16);
        if (digits.length === wanted && code <= 0x10ffff) return String.fromCodePoint(code);
        throw new JinjaError('SYNTAX', `line ${line}: broken escape ${whole}`);
      }
      if (named !== undefined && kind === 'N')
        throw new JinjaError('SYNTAX', `line ${line}: characters by name (\\N{…}) are not supported`);
      return ESCAPES[other ?? kind] ?? whole;
    },
  );
}
