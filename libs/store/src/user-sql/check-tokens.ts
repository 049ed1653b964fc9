import { checkType } from './check-arguments.js';
import { didYouMean } from './did-you-mean.js';
import { SqlTokenError, sqlTokens, type SqlToken } from './sql-tokens.js';
import { notAllowed, syntaxError, UserSqlError } from './user-sql-error.js';
import { FIRST_KEYWORDS } from './with-names.js';

const MAX_LENGTH = 65_536;

/**
 * The engine's parser tries several readings of a bracket, so its time grows faster than the depth, and nothing stops it: 20,000 nested calls
 * took longer than three seconds.
 */
const MAX_DEPTH = 200;

/** Statements that ClickHouse has beside SELECT. */
const OTHER_STATEMENTS =
  /^(?:ALTER|ATTACH|BACKUP|BEGIN|CALL|CHECK|COMMIT|CREATE|DELETE|DESC|DESCRIBE|DETACH|DROP|EXCHANGE|EXECUTE|EXISTS|EXPLAIN|GRANT|INSERT|KILL|MOVE|OPTIMIZE|RENAME|REPLACE|RESTORE|REVOKE|ROLLBACK|SET|SHOW|SYSTEM|TRUNCATE|UNDROP|UPDATE|USE|WATCH)$/;

/**
 * Splits the SQL into tokens and refuses whatever could reach beyond one SELECT.
 *
 * @throws UserSqlError USER_SQL_SYNTAX or USER_SQL_NOT_ALLOWED
 */
export function readTokens(
  sql: string,
  { allowParameters }: { readonly allowParameters: boolean },
): readonly SqlToken[] {
  if (sql.length > MAX_LENGTH)
    throw notAllowed(`The SQL has ${sql.length} characters; the maximum is ${MAX_LENGTH}`);
  const tokens = splitTokens(sql);
  while (tokens.at(-1)?.text === ';') tokens.pop();
  if (tokens.length === 0) throw syntaxError('the query is empty');
  checkFirstToken(tokens[0]);
  let depth = 0;
  tokens.forEach((token, i) => {
    if (/^[([{]$/.test(token.text)) depth++;
    if (/^[)\]}]$/.test(token.text)) depth--;
    if (depth > MAX_DEPTH)
      throw notAllowed(`The SQL has more than ${MAX_DEPTH} brackets inside each other, which is the maximum`);
    checkToken(token, tokens[i + 1]);
    if (token.text === '{') checkParameter(insideBraces(tokens, i), allowParameters);
  });
  return tokens;
}

function splitTokens(sql: string): SqlToken[] {
  try {
    return [...sqlTokens(sql)];
  } catch (error) {
    if (error instanceof SqlTokenError) throw syntaxError(error.message, { cause: error });
    throw error;
  }
}

function checkFirstToken({ kind, text, upper }: SqlToken): void {
  if (FIRST_KEYWORDS.has(upper)) return;
  if (OTHER_STATEMENTS.test(upper)) throw notAllowed(`Only SELECT is allowed, not ${upper}`);
  const hint = kind === 'word' ? didYouMean(upper, ['SELECT', 'WITH', 'FROM']) : '';
  throw new UserSqlError(
    'USER_SQL_SYNTAX',
    `Syntax error near "${text}"${hint === '' ? '; a query starts with SELECT or WITH' : hint}`,
  );
}

function checkToken(token: SqlToken, next: SqlToken | undefined): void {
  if (token.text === ';')
    throw notAllowed('Only one statement is allowed: remove the ";" and what follows it');
  if (token.kind === 'symbol' && /[\\?@]/.test(token.text))
    throw notAllowed(`The character "${token.text}" is not allowed outside quotes`);
  // The lines of EXPLAIN AST hold names as they are: a name with a line break would forge a line.
  if (token.kind === 'quotedIdentifier' && /[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(token.text)) {
    throw notAllowed('A quoted name can not contain a backslash or a control character');
  }
  if (token.upper === 'INTO' && next?.upper === 'OUTFILE') throw notAllowed('INTO OUTFILE is not allowed');
  if (token.upper === 'WITH' && next?.upper === 'RECURSIVE')
    throw notAllowed('WITH RECURSIVE is not allowed');
}

/** @param inside the tokens between the braces: the name, a colon, the type */
function checkParameter(inside: readonly SqlToken[], allowParameters: boolean): void {
  const [name, colon, type] = inside;
  if (
    !allowParameters ||
    name?.kind !== 'word' ||
    colon?.text !== ':' ||
    type?.kind !== 'word' ||
    type.upper === 'IDENTIFIER'
  ) {
    throw notAllowed(
      allowParameters
        ? 'Braces are allowed only around a parameter for a value, as in {name:Type}'
        : 'Parameters in braces are not allowed; write the value itself',
    );
  }
  checkType(
    inside
      .slice(2)
      .map(({ text }) => text)
      .join(''),
  );
}

function insideBraces(tokens: readonly SqlToken[], open: number): readonly SqlToken[] {
  let end = open + 1;
  while (end < tokens.length && !/^[{}]$/.test(tokens[end].text)) end++;
  return tokens.slice(open + 1, end);
}
