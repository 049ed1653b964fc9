import type { RunOptions, StatementContext, StatementResult } from '../engine/engine.js';
import type { StoreSnapshot } from './store-snapshot.js';

/** A statement for the process of user SQL. */
export interface UserStatement {
  readonly sql: string;
  readonly context: StatementContext;
  readonly options: RunOptions;
  /** Parts that the statement must see; null for any. */
  readonly parts: StoreSnapshot['parts'] | null;
}

export type ToUserSqlProcess =
  | { readonly type: 'open'; readonly directory: string; readonly tables: Omit<StoreSnapshot, 'parts'> }
  | { readonly type: 'run'; readonly id: number; readonly statement: UserStatement }
  | { readonly type: 'cancel'; readonly id: number };

/** `stale`: the engine cannot show the parts, and a new process can. */
export type FromUserSqlProcess =
  | { readonly type: 'started'; readonly id: number }
  | { readonly type: 'result'; readonly id: number; readonly result: StatementResult }
  | { readonly type: 'failed'; readonly id: number; readonly message: string }
  | { readonly type: 'stale'; readonly id: number };
