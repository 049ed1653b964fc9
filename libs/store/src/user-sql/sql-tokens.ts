/** One token of a ClickHouse statement; `start` and `end` are UTF-16 offsets into the statement. */
export interface SqlToken {
  readonly kind: 'word' | 'quotedIdentifier' | 'string' | 'number' | 'symbol';
  /** The text as written, quotes included. */
  readonly text: string;
  /** `text` in upper case for a word (keywords are case-insensitive), otherwise `text` itself. */
  readonly upper: string;
  readonly start: number;
  readonly end: number;
}

/** The text has an unclosed string, identifier, heredoc or comment, or a NUL character. */
export class SqlTokenError extends Error {
  constructor(
    message: string,
    readonly position: number,
  ) {
    super(message);
    this.name = 'SqlTokenError';
  }
}

const WORD_START = /[A-Za-z_]/;
const DIGIT = /[0-9]/;
const WORD = /[A-Za-z0-9_$]*/y;
const NUMBER = /[0-9][A-Za-z0-9_]*(?:\.[0-9][A-Za-z0-9_]*)?/y;
const HEREDOC_TAG = /\$[A-Za-z0-9_]*\$/y;
const LINE_COMMENT = /(?:--|\/\/|#[ !])[^\n]*/y;
/** The closing character of each opening quote; the engine accepts typographical quotes too. */
const STRING_CLOSERS: Readonly<Record<string, string>> = { "'": "'", '‘': '’' };
const IDENTIFIER_CLOSERS: Readonly<Record<string, string>> = { '"': '"', '`': '`', '“': '”' };

/**
 * Splits SQL into the tokens of ClickHouse's own lexer, lazily: a consumer that stops at `FORMAT` never reads the data after it.
 * Comments (`--`, `//`, `# `, `#!`, nested `/* *\/`) and white space are dropped; strings, quoted identifiers, hex strings and
 * heredocs are one token each.
 *
 * @throws SqlTokenError where the engine's lexer would fail
 */
export function* sqlTokens(sql: string): Generator<SqlToken, void, undefined> {
  let position = 0;
  while (position < sql.length) {
    const start = position;
    const character = sql[position];
    if (character === '\0') throw new SqlTokenError('a query can not contain a NUL character', position);
    if (/\s/.test(character)) {
      position++;
      continue;
    }
    const lineComment = match(LINE_COMMENT, sql, position);
    if (lineComment > 0) {
      position += lineComment;
      continue;
    }
    if (sql.startsWith('/*', position)) {
      position = endOfBlockComment(sql, position);
      continue;
    }
    let kind: SqlToken['kind'];
    if (character in STRING_CLOSERS) {
      kind = 'string';
      position = endOfQuoted(sql, position, STRING_CLOSERS[character]);
    } else if (character in IDENTIFIER_CLOSERS) {
      kind = 'quotedIdentifier';
      position = endOfQuoted(sql, position, IDENTIFIER_CLOSERS[character]);
    } else if (/[xXbB]/.test(character) && sql[position + 1] === "'") {
      kind = 'string';
      position = endOfHexString(sql, position);
    } else if (WORD_START.test(character)) {
      kind = 'word';
      position += match(WORD, sql, position);
    } else if (DIGIT.test(character)) {
      kind = 'number';
      position += match(NUMBER, sql, position);
    } else if (match(HEREDOC_TAG, sql, position) > 0) {
      kind = 'string';
      position = endOfHeredoc(sql, position);
    } else {
      kind = 'symbol';
      position += 1;
    }
    const text = sql.slice(start, position);
    yield { kind, text, upper: kind === 'word' ? text.toUpperCase() : text, start, end: position };
  }
}

/** Length of the match of a sticky expression at `position`; 0 where it doesn't match. */
function match(expression: RegExp, sql: string, position: number): number {
  expression.lastIndex = position;
  return expression.test(sql) ? expression.lastIndex - position : 0;
}

function endOfQuoted(sql: string, start: number, closer: string): number {
  for (let i = start + 1; i < sql.length; i++) {
    if (sql[i] === '\\') i++;
    else if (sql[i] === closer) {
      if (sql[i + 1] !== closer) return i + 1;
      i++;
    }
  }
  throw new SqlTokenError(`the quote ${sql[start]} at character ${start + 1} is not closed`, start);
}

/** x'…' and b'…' have no escapes: the next quote ends them. */
function endOfHexString(sql: string, start: number): number {
  const end = sql.indexOf("'", start + 2);
  if (end < 0) throw new SqlTokenError(`the quote ' at character ${start + 2} is not closed`, start);
  return end + 1;
}

function endOfHeredoc(sql: string, start: number): number {
  const tag = sql.slice(start, start + match(HEREDOC_TAG, sql, start));
  const end = sql.indexOf(tag, start + tag.length);
  if (end < 0) throw new SqlTokenError(`the heredoc ${tag} at character ${start + 1} is not closed`, start);
  return end + tag.length;
}

function endOfBlockComment(sql: string, start: number): number {
  let depth = 0;
  for (let i = start; i < sql.length - 1; i++) {
    if (sql.startsWith('/*', i)) {
      depth++;
      i++;
    } else if (sql.startsWith('*/', i)) {
      depth--;
      i++;
      if (depth === 0) return i + 1;
    }
  }
  throw new SqlTokenError(`the comment at character ${start + 1} is not closed`, start);
}
