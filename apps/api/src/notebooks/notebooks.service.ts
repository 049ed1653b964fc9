import { Injectable } from '@nestjs/common';
import { decodeCursor } from '../paging/cursor.js';
import { makePage, type Page, type PageQuery } from '../paging/page.js';
import { ProblemError } from '../problems/problem.js';
import { isoTime } from '../store/store-time.js';
import { StoreService } from '../store/store.service.js';
import type { NotebookCellBody, NotebookDetail, NotebookListItem } from './notebooks.dto.js';

const COLUMNS = 'notebook_id, title, revision, source, created_at, saved_at, JSONLength(cells) AS num_cells';

const LIST_NOTEBOOKS = `
  SELECT ${COLUMNS}, toUnixTimestamp64Micro(saved_at) AS saved_at_us
  FROM notebooks
  WHERE (saved_at_us, notebook_id) < ({beforeUs:Int64}, {beforeId:String})
  ORDER BY saved_at_us DESC, notebook_id DESC
  LIMIT {limit:UInt32}`;

const GET_NOTEBOOK = `SELECT ${COLUMNS}, cells FROM notebooks WHERE notebook_id = {notebookId:String}`;

@Injectable()
export class NotebooksService {
  constructor(private readonly store: StoreService) {}

  async list({ limit, cursor }: PageQuery): Promise<Page<NotebookListItem>> {
    const [beforeUs, beforeId] = cursor
      ? decodeCursor(cursor, ['number', 'string'])
      : [Number.MAX_SAFE_INTEGER, ''];
    const params = { beforeUs, beforeId, limit: limit + 1 };
    const rows = await this.store.queryRows<NotebookListItem & { readonly savedAtUs: number }>(
      LIST_NOTEBOOKS,
      params,
    );
    return makePage(rows, limit, {
      toItem: ({ savedAtUs: _, ...row }) => withTimes(row),
      keyOf: (row) => [row.savedAtUs, row.notebookId],
    });
  }

  /** @throws ProblemError `NOT_FOUND` */
  async get(notebookId: string): Promise<NotebookDetail> {
    const [row] = await this.store.queryRows<(NotebookListItem & { readonly cells: string }) | undefined>(
      GET_NOTEBOOK,
      { notebookId },
    );
    if (row === undefined) throw new ProblemError('NOT_FOUND', `Notebook ${notebookId} not found`);
    return withTimes({ ...row, cells: JSON.parse(row.cells) as NotebookCellBody[] });
  }
}

function withTimes<T extends NotebookListItem>(row: T): T {
  return { ...row, createdAt: isoTime(row.createdAt), savedAt: isoTime(row.savedAt) };
}
