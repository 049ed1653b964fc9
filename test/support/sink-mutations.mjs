import { createHash } from 'node:crypto';

/**
 * Sinks that work otherwise than they should, made by wrapping the ports that the sink works through. Two are designs that are
 * known to lose data: the fault matrix has to find each of them, a test of the tests. One is a sink that does its worst and must do
 * no harm all the same.
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
      throw new TypeError(`no mutation ${mutation}`);
  }
}

/**
 * Inserts carry a token, and one whose outcome is unknown is sent again under the same token until the store says that it has it. The
 * engine notes the token before the part is renamed into place.
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

/** The first readings of the position find nothing: every partition is brought once more from its start. */
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

/** The position is a cursor in the log, committed when records have been read, before they are inserted. */
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

/** `target` with some of its methods replaced. */
function overriding(target, methods) {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(methods, name)) return methods[name];
      const own = Reflect.get(target, name, target);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}
