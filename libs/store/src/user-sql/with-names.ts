import type { SqlToken } from './sql-tokens.js';
import { notAllowed, syntaxError } from './user-sql-error.js';

/** First tokens of a SELECT. */
export const FIRST_KEYWORDS: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'FROM', '(']);

/** A common table expression: where its name may be used for it. */
interface WithName {
  readonly name: string;
  /** Positions of the statement's characters in which the name means this expression and not a table. */
  readonly visibleFrom: number;
  readonly visibleTo: number;
}

/**
 * The names that `WITH name AS (SELECT …)` introduces. EXPLAIN AST does not show them, so they are found in the tokens. A name may be
 * used only where it certainly means the expression: after it, within the same brackets. Elsewhere it could be a real table.
 */
export class WithNames {
  private readonly tables: WithName[] = [];
  private readonly uses = new Map<string, SqlToken[]>();

  constructor(tokens: readonly SqlToken[]) {
    const closers = matchBrackets(tokens);
    const enclosing: number[] = [];
    tokens.forEach((token, i) => {
      if (token.text === '(') enclosing.push(i);
      if (token.text === ')') enclosing.pop();
      const name = findIdentifier(token);
      // EXPLAIN AST writes the quoted name `a.b` and the table b of database a alike.
      if (name === null || name.includes('.')) return;
      this.uses.set(name, [...(this.uses.get(name) ?? []), token]);
      const open = commonTableBody(tokens, i, closers);
      if (open === null) return;
      const scopeEnd =
        enclosing.length === 0 ? Infinity : (closers.get(enclosing[enclosing.length - 1]) ?? Infinity);
      this.tables.push({
        name,
        visibleFrom: tokens[closers.get(open) ?? open].start,
        visibleTo: scopeEnd === Infinity ? Infinity : tokens[scopeEnd].start,
      });
    });
  }

  has(name: string): boolean {
    return this.tables.some((table) => table.name === name);
  }

  checkScope(name: string): void {
    const declared = this.tables.filter((table) => table.name === name);
    if (declared.length > 1) throw notAllowed(`Two WITH expressions are named "${name}"; rename one of them`);
    const [{ visibleFrom, visibleTo }] = declared;
    const [, ...uses] = this.uses.get(name) ?? [];
    if (uses.some(({ start }) => start < visibleFrom || start > visibleTo)) {
      throw notAllowed(
        `"${name}" is used outside the scope of the WITH expression of that name; rename the expression`,
      );
    }
  }
}

/** The bracket that opens the body of `name [(columns)] AS [NOT] [MATERIALIZED] (SELECT …`, null where `i` is no such name. */
function commonTableBody(
  tokens: readonly SqlToken[],
  i: number,
  closers: ReadonlyMap<number, number>,
): number | null {
  let next = i + 1;
  if (tokens[next]?.text === '(') next = (closers.get(next) ?? next) + 1;
  if (tokens[next]?.upper !== 'AS') return null;
  next++;
  if (tokens[next]?.upper === 'NOT') next++;
  if (tokens[next]?.upper === 'MATERIALIZED') next++;
  if (tokens[next]?.text !== '(' || !closers.has(next)) return null;
  return FIRST_KEYWORDS.has(tokens[next + 1]?.upper ?? '') ? next : null;
}

function matchBrackets(tokens: readonly SqlToken[]): ReadonlyMap<number, number> {
  const closers = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach((token, i) => {
    if (token.text === '(') open.push(i);
    if (token.text !== ')') return;
    const opener = open.pop();
    if (opener === undefined)
      throw syntaxError(`the bracket ")" at character ${token.start + 1} has no opening bracket`);
    closers.set(opener, i);
  });
  if (open.length > 0)
    throw syntaxError(`the bracket "(" at character ${tokens[open[0]].start + 1} is not closed`);
  return closers;
}

function findIdentifier(token: SqlToken): string | null {
  if (token.kind === 'word') return token.text;
  return token.kind === 'quotedIdentifier' ? token.text.slice(1, -1) : null;
}
