import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import { encodeCursor, type CursorKey } from './cursor.js';

/** Query of every list. */
export class PageQuery {
  @ApiPropertyOptional({ minimum: 1, maximum: 500, default: 50 })
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(500)
  readonly limit: number = 50;

  @ApiPropertyOptional({ description: '`nextCursor` of the page before' })
  @IsOptional()
  @IsString()
  @MaxLength(500)
  readonly cursor?: string;
}

/** One page of a list; `nextCursor` is null on the last one. */
export class Page<Item> {
  readonly items!: readonly Item[];

  @ApiProperty({ type: String, nullable: true })
  readonly nextCursor!: string | null;
}

/**
 * Makes a page out of `limit + 1` rows: the extra row only tells that there is a next page.
 */
export function pageOf<Item>(
  rows: readonly Item[],
  limit: number,
  keyOf: (item: Item) => CursorKey,
): Page<Item> {
  const items = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  return { items, nextCursor: hasMore ? encodeCursor(keyOf(items[items.length - 1])) : null };
}
