import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, MaxLength } from '@retrace/validation';
import { encodeCursor, type CursorKey } from './cursor.js';
import { QueryInteger } from '../http/query-decorators.js';

/** Longer than that of any list: one by names has a name of up to 256 characters, each of up to six bytes in JSON. */
const MAX_CURSOR_LENGTH = 2_500;

/** Query parameters of every list. */
export class PageQuery {
  @QueryInteger({ min: 1, max: 500, default: 50, description: 'Maximum number of items' })
  readonly limit: number = 50;

  @ApiPropertyOptional({
    type: String,
    maxLength: MAX_CURSOR_LENGTH,
    pattern: '^[A-Za-z0-9_-]*$',
    description: '`nextCursor` of the previous page',
  })
  @IsOptional()
  @IsString()
  @MaxLength(MAX_CURSOR_LENGTH)
  readonly cursor?: string;
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** null on the last page. */
  readonly nextCursor: string | null;
}

/** Makes a page out of up to `limit + 1` rows: the extra row only tells that there is a next page. */
export function makePage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  { toItem, keyOf }: { readonly toItem: (row: Row) => Item; readonly keyOf: (row: Row) => CursorKey },
): Page<Item> {
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  return {
    items: shown.map(toItem),
    nextCursor: hasMore ? encodeCursor(keyOf(shown[shown.length - 1])) : null,
  };
}
