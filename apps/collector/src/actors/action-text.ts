import type { FinishedTurn, Tokenizer } from '@retrace/policy';

type EndedTurn = Pick<FinishedTurn, 'tokenIds' | 'stopReason'>;

/** Returns the text of a turn, without the token or text that ended it. */
export function actionText(
  tokenizer: Tokenizer,
  { tokenIds, stopReason }: EndedTurn,
  stopStrings: readonly string[] = [],
): string {
  if (stopReason === 'stop') return tokenizer.decode(tokenIds.subarray(0, tokenIds.length - 1));
  const text = tokenizer.decode(tokenIds);
  if (stopReason === 'length') return text;
  const ends = stopStrings.map((stopString) => text.indexOf(stopString)).filter((end) => end >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}
