/** The role for statements of a read-only user; the engine itself refuses whatever the role does not grant. */
export const READONLY_ROLE = 'retrace_readonly';

const MEBIBYTE = 1024 * 1024;

/** With less free space, inserts are refused with NOT_ENOUGH_SPACE. */
const MIN_FREE_BYTES = 64 * MEBIBYTE;

/**
 * Returns the engine's server configuration: inserts survive a power cut, and few threads and little memory are used, because training
 * runs on the same machine. A server's defaults are caches of gigabytes and, at the first clean-up of merged parts, 128 threads.
 */
export function engineConfigXml(options: { readonly usersPath: string }): string {
  return element('clickhouse', [
    element('users_config', escapeXml(options.usersPath)),
    // Defaults of every new MergeTree table.
    element('merge_tree', [
      element('fsync_after_insert', 1),
      element('fsync_part_directory', 1),
      // The engine does not notice failed writes (see write-watch.ts), so inserts stop well before the disk is full.
      element('min_free_disk_bytes_to_perform_insert', MIN_FREE_BYTES),
    ]),
    element('max_server_memory_usage_to_ram_ratio', 0.4),
    element('mark_cache_size', 64 * MEBIBYTE),
    element('primary_index_cache_size', 64 * MEBIBYTE),
    element('index_mark_cache_size', 16 * MEBIBYTE),
    element('uncompressed_cache_size', 0),
    element('compiled_expression_cache_size', 16 * MEBIBYTE),
    element('query_condition_cache_size', 16 * MEBIBYTE),
    element('background_pool_size', 2),
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
    element('profiles', [element('default', '')]),
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
