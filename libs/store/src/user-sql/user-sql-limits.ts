const GIBIBYTE = 1024 ** 3;

/**
 * Limits of one statement of a read-only user, as settings of the engine. A request may lower them, never raise them.
 * One thread: an analyst's query must not take both cores from the training run beside it.
 */
export const USER_SQL_LIMITS = {
  /** Seconds. */
  max_execution_time: 30,
  /** Rows and bytes (uncompressed) of tables, however few of them the result has. */
  max_rows_to_read: 100_000_000,
  max_bytes_to_read: 32 * GIBIBYTE,
  max_memory_usage: GIBIBYTE,
  /** Sorting and grouping go to disk before memory is used up. */
  max_temporary_data_on_disk_size_for_query: GIBIBYTE,
  max_result_rows: 1_000_000,
  max_result_bytes: GIBIBYTE / 4,
  max_threads: 1,
} as const;

/** Exceptions with which the engine reports that a limit was reached. */
const LIMIT_EXCEPTIONS: ReadonlySet<number> = new Set([
  158, // TOO_MANY_ROWS
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
  241, // MEMORY_LIMIT_EXCEEDED
  307, // TOO_MANY_BYTES
  396, // TOO_MANY_ROWS_OR_BYTES
]);

/** The engine's reason and what to do about it; null for an exception (by its code) that reports no limit. */
export function describeExceededLimit(exceptionCode: number, reason: string): string | null {
  if (!LIMIT_EXCEPTIONS.has(exceptionCode)) return null;
  return `${reason.trim().replace(/\.$/, '')}; this limit can not be raised by a query: read less, for example one run_id, fewer columns or a LIMIT inside`;
}
