import { createHash } from 'node:crypto';
import { overriding } from '@retrace/log/testing';

/**
 * Deliberately faulty sinks, made by wrapping the sink's ports. Two are designs that are known to lose data, and the fault matrix must
 * detect each of them. The third brings every record twice, which must do no harm.
 */

const CURSOR_GROUP = 'mutant';

/**
 * @param {{ log: import('@retrace/log').EventLog, client: import('@retrace/store').StoreClient }} parts
 * @param {import('./sink-child.mjs').SinkJob['mutation']} mutation
 */
export function mutate({ log, client }, mutation) {
  switch (mutation) {
    case undefined:
      return { log, client };
    case 'token-deduplication':
      return { log, client: withTokens(client) };
    case 'cursor-before-insert':
      return withEarlyCursor({ log, client });
    case 'position-forgotten':
      return { log, client: withoutPosition(client) };
    default:
      throw new TypeError(`Unknown mutation ${mutation}`);
  }
}

/**
 * Deduplicates by token: an insert with an unknown outcome is sent again under the same token until the store confirms it. This loses
 * data because the engine records the token before the part is renamed into place.
 */
function withTokens(client) {
  return overriding(client, {
    insertArrow: async (insert) => {
      const token = digest(insert.body);
      const settings = { ...insert.settings, insert_deduplicate: 1, insert_deduplication_token: token };
      for (;;) {
        try {
          return await client.insertArrow({ ...insert, settings });
        } catch (error) {
          if (!error.retriable) throw error;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      }
    },
  });
}

/** Returns no position on the first read of each partition, so the sink brings every partition again from its start. */
function withoutPosition(client) {
  const seen = new Set();
  return overriding(client, {
    queryRows: async (sql, options) => {
      if (!isPositionQuery(sql)) return client.queryRows(sql, options);
      const { stream, partition } = options.params;
      if (seen.has(`${stream} ${partition}`)) return client.queryRows(sql, options);
      seen.add(`${stream} ${partition}`);
      return [{ last_offset: null }];
    },
  });
}

/** Keeps the position as a cursor in the log, committed after records are read and before they are inserted. */
function withEarlyCursor({ log, client }) {
  return {
    log: overriding(log, {
      follow: async function* (stream, partition, fromOffset, options) {
        for await (const records of log.follow(stream, partition, fromOffset, options)) {
          await log.commitCursor(CURSOR_GROUP, stream, partition, records[records.length - 1].offset + 1);
          yield records;
        }
      },
    }),
    client: overriding(client, {
      queryRows: async (sql, options) => {
        if (!isPositionQuery(sql)) return client.queryRows(sql, options);
        const { stream, partition } = options.params;
        const cursor = await log.readCursor(CURSOR_GROUP, stream, partition);
        return [{ last_offset: cursor === null ? null : cursor - 1 }];
      },
    }),
  };
}

function isPositionQuery(sql) {
  return sql.includes('AS last_offset');
}

function digest(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
