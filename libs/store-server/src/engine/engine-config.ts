/** The role for statements of a read-only user; the engine itself refuses whatever the role does not grant. */
export const READONLY_ROLE = 'retrace_readonly';

const MEBIBYTE = 1024 * 1024;

/** With less free space, inserts are refused with NOT_ENOUGH_SPACE. */
const MIN_FREE_BYTES = 64 * MEBIBYTE;

/** Parts of statements that the engine compiles to machine code once they were used often. */
const COMPILED = ['expression', 'aggregate_expression', 'sort_description'];

/**
 * Default 3. Compiling takes up to 40 ms of a processor for a view as wide as ours, more than planning and reading it in a small store, and
 * most processes end before they have it back.
 */
const USES_BEFORE_COMPILATION = 100;

/** How the store's engine and that of user SQL differ. */
export interface EngineConfig {
  /** Limit of the memory that the engine counts: absolute, or a part of the machine's. */
  readonly memory: { readonly maxBytes: number } | { readonly machineFraction: number };
  /** Whether tables may lie in directories that a statement names. */
  readonly allowsOtherDirectories: boolean;
}

export const STORE_CONFIG: EngineConfig = { memory: { machineFraction: 0.4 }, allowsOtherDirectories: false };

/** A statement at its limit, and the engine itself. */
export const USER_SQL_CONFIG: EngineConfig = {
  memory: { maxBytes: 1536 * MEBIBYTE },
  allowsOtherDirectories: true,
};

/**
 * Returns the engine's server configuration: inserts survive a power cut, and few threads and little memory are used, because training
 * runs on the same machine. A server's defaults are caches of gigabytes and, at the first clean-up of merged parts, 128 threads.
 */
export function engineConfigXml({
  usersPath,
  memory,
  allowsOtherDirectories,
}: EngineConfig & { readonly usersPath: string }): string {
  return element('clickhouse', [
    element('users_config', escapeXml(usersPath)),
    // Defaults of every new MergeTree table.
    element('merge_tree', [
      element('fsync_after_insert', 1),
      element('fsync_part_directory', 1),
      // It looks for replaced parts every 30 to 40 seconds, also where it found none before; by default then only every five minutes, for which a
      // deletion that leaves nothing behind waits (`dropReplacedParts`).
      element('max_cleanup_delay_period', 30),
      // The engine does not notice failed writes (see write-watch.ts), so inserts stop well before the disk is full.
      element('min_free_disk_bytes_to_perform_insert', MIN_FREE_BYTES),
    ]),
    'maxBytes' in memory
      ? element('max_server_memory_usage', memory.maxBytes)
      : element('max_server_memory_usage_to_ram_ratio', memory.machineFraction),
    ...(allowsOtherDirectories ? [element('custom_local_disks_base_directory', '/')] : []),
    element('mark_cache_size', 64 * MEBIBYTE),
    element('primary_index_cache_size', 64 * MEBIBYTE),
    element('index_mark_cache_size', 16 * MEBIBYTE),
    element('uncompressed_cache_size', 0),
    element('compiled_expression_cache_size', 16 * MEBIBYTE),
    element('background_pool_size', 2),
    // With the pool full, the engine looks for free places only after this long at random (default 1 s), and a mutation makes a task of each part.
    element('background_processing_pool_task_sleep_seconds_when_no_work_random_part', 0.02),
    element('background_schedule_pool_size', 2),
    element('max_parts_cleaning_thread_pool_size', 2),
    element('max_active_parts_loading_thread_pool_size', 2),
    element('max_outdated_parts_loading_thread_pool_size', 2),
    element('max_unexpected_parts_loading_thread_pool_size', 2),
    element('max_thread_pool_free_size', 16),
  ]);
}

/**
 * Returns the engine's users. Every connection of an embedded engine is the user `default`; the rights of a Retrace user come from the
 * role that its connection takes before the statement.
 */
export function usersConfigXml(): string {
  const grants = (...statements: string[]) =>
    element(
      'grants',
      statements.map((statement) => element('query', statement)),
    );
  return element('clickhouse', [
    element('profiles', [
      element('default', [
        ...COMPILED.map((name) => element(`min_count_to_compile_${name}`, USES_BEFORE_COMPILATION)),
        // It can wrongly remember that no row of a granule matches (ClickHouse/ClickHouse#119823, #114827), also for the statements of a deletion
        // and of users.
        element('use_query_condition_cache', 0),
      ]),
    ]),
    element('quotas', [element('default', '')]),
    element('roles', [
      element('retrace_full', [grants('GRANT ALL ON *.*')]),
      element(READONLY_ROLE, [grants('GRANT SELECT ON default.*', 'GRANT SHOW ON default.*')]),
    ]),
    element('users', [
      element('default', [
        element('password', ''),
        element('networks', [element('ip', '::/0')]),
        element('profile', 'default'),
        element('quota', 'default'),
        grants('GRANT retrace_full', `GRANT ${READONLY_ROLE}`),
      ]),
    ]),
  ]);
}

function element(name: string, content: string | number | readonly string[]): string {
  return `<${name}>${typeof content === 'object' ? content.join('') : content}</${name}>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
