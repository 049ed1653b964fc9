import { SqlTokenError, sqlTokens, type SqlToken } from '@retrace/store/user-sql';
import { ClickHouseException } from './clickhouse-exception.js';

/** A statement with a result in a format: `INTO OUTFILE` fits between `body` and `tail`. */
export interface RowsStatement {
  readonly kind: 'rows';
  readonly body: string;
  /** Format that the statement names; null when the request decides. */
  readonly format: string | null;
  readonly tail: string;
}

/** `INSERT INTO target [SETTINGS …] FORMAT name` with data behind it: `FROM INFILE` fits between `target` and `tail`. */
export interface InsertStatement {
  readonly kind: 'insert';
  readonly target: string;
  readonly tail: string;
  readonly format: string;
  /** Earliest start of the data in the text, in UTF-16 units: directly behind the format's name, or behind VALUES. */
  readonly dataOffset: number;
}

/** Every other statement, with a small result: DDL, INSERT … SELECT, OPTIMIZE, SYSTEM, KILL, EXPLAIN … */
export interface CommandStatement {
  readonly kind: 'command';
  readonly text: string;
  readonly keyword: string;
}

export type Statement = RowsStatement | InsertStatement | CommandStatement;

const ROWS_KEYWORDS: ReadonlySet<string> = new Set([
  '(',
  'CHECK',
  'DESC',
  'DESCRIBE',
  'EXISTS',
  'FROM',
  'SELECT',
  'SHOW',
  'WITH',
]);

/**
 * Parses the only statement in `text`; of an INSERT with data only the head, so the data may be anything.
 *
 * @throws ClickHouseException SYNTAX_ERROR for an empty text, a second statement, or text that the lexer can't read;
 *   INTO_OUTFILE_NOT_ALLOWED and UNSUPPORTED_METHOD for INTO OUTFILE and FROM INFILE, which name files of this machine
 */
export function parseStatement(text: string): Statement {
  try {
    return parseInsertWithData(text) ?? parseWhole(text);
  } catch (error) {
    if (error instanceof SqlTokenError)
      throw ClickHouseException.of('SYNTAX_ERROR', `Syntax error: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Parses the head of an INSERT whose data follows; null for any other statement, including INSERT … SELECT. */
export function parseInsertWithData(text: string): InsertStatement | null {
  const head = new StatementHead();
  let settings: SqlToken | null = null;
  for (const token of sqlTokens(text)) {
    head.add(token);
    if (head.first?.upper !== 'INSERT') return null;
    if (head.depth > 0) continue;
    if (token.upper === 'SELECT' || token.upper === 'WITH' || token.text === ';') return null;
    if (token.upper === 'SETTINGS') settings = token;
    if (token.upper === 'VALUES' || (head.previous?.upper === 'FORMAT' && token.kind === 'word')) {
      const clause = token.upper === 'VALUES' || head.previous === null ? token : head.previous;
      return {
        kind: 'insert',
        target: text.slice(head.first.start, settings?.start ?? clause.start),
        tail: settings === null ? '' : text.slice(settings.start, clause.start),
        format: clause === token ? 'Values' : token.text,
        dataOffset: token.end,
      };
    }
  }
  return null;
}

function parseWhole(text: string): RowsStatement | CommandStatement {
  const head = new StatementHead();
  let separator: SqlToken | null = null;
  let end = 0;
  let format: { readonly clause: SqlToken; readonly name: SqlToken } | null = null;
  for (const token of sqlTokens(text)) {
    if (token.text === ';') {
      separator = token;
      continue;
    }
    if (separator !== null && head.first !== null) {
      throw ClickHouseException.of(
        'SYNTAX_ERROR',
        `Syntax error: Multi-statements are not allowed (a second one starts at position ${token.start + 1})`,
      );
    }
    head.add(token);
    // The FORMAT clause is the last one, but for SETTINGS.
    if (format !== null && head.previous === format.name && token.upper !== 'SETTINGS') format = null;
    if (head.depth === 0 && head.previous?.upper === 'FORMAT' && token.kind === 'word')
      format = { clause: head.previous, name: token };
    end = token.end;
  }
  if (head.first === null) throw ClickHouseException.of('SYNTAX_ERROR', 'Empty query');
  const start = head.first.start;
  if (!ROWS_KEYWORDS.has(head.first.upper))
    return { kind: 'command', text: text.slice(start, end), keyword: head.first.upper };
  return {
    kind: 'rows',
    body: text.slice(start, format?.clause.start ?? end),
    format: format?.name.text ?? null,
    tail: format === null ? '' : text.slice(format.name.end, end),
  };
}

/** Follows the tokens of one statement: its first and previous token, its depth in brackets, and clauses that it must not have. */
class StatementHead {
  first: SqlToken | null = null;
  /** The token before the last one added. */
  previous: SqlToken | null = null;
  depth = 0;
  private last: SqlToken | null = null;

  add(token: SqlToken): void {
    this.previous = this.last;
    this.last = token;
    this.first ??= token;
    if (token.text === '(' || token.text === '[' || token.text === '{') this.depth++;
    if (token.text === ')' || token.text === ']' || token.text === '}') this.depth--;
    if (token.text === '\\')
      throw ClickHouseException.of(
        'SYNTAX_ERROR',
        `Syntax error: a backslash at position ${token.start + 1}`,
      );
    if (this.previous?.upper === 'INTO' && token.upper === 'OUTFILE') {
      throw ClickHouseException.of(
        'INTO_OUTFILE_NOT_ALLOWED',
        'INTO OUTFILE is not allowed over HTTP; read the result from the response',
      );
    }
    if (this.previous?.upper === 'FROM' && token.upper === 'INFILE') {
      throw ClickHouseException.of(
        'UNSUPPORTED_METHOD',
        'FROM INFILE is not allowed over HTTP; send the data as the request body',
      );
    }
  }
}
