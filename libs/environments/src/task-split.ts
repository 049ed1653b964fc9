import type { Split } from '@retrace/trajectory';
import { hashText } from '@retrace/random';

/**
 * The split that a task's content belongs to: 80 % train, 10 % validation, 10 % test, by hash of the
 * content. The content decides, not the draw, so no task can ever be in two splits.
 */
export function splitOf(content: string): Split {
  const bucket = hashText(`split:${content}`) % 10;
  if (bucket < 8) return 'train';
  return bucket === 8 ? 'validation' : 'test';
}
