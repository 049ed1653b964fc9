/**
 * The tokens of one forward pass over contexts whose earlier tokens are cached: flat, without padding.
 *
 * Legend: B rows (contexts) · N tokens.
 */

/** Tokens of one context that follow its cached ones. */
export interface ContextPiece {
  readonly slot: number;
  /** Position of the first. */
  readonly start: number;
  /** At least one. */
  readonly tokenIds: Int32Array;
}

export interface NewTokens {
  /** All [B]: row b continues slot `slots[b]` with `lengths[b]` tokens. */
  readonly slots: Int32Array;
  readonly lengths: Int32Array;
  /** All [N], row after row. */
  readonly tokenIds: Int32Array;
  readonly tokenSlots: Int32Array;
  readonly positions: Int32Array;
  /** [B] index among the N of each row's last token. */
  readonly lastTokens: Int32Array;
}

export function newTokens(pieces: readonly ContextPiece[]): NewTokens {
  const lengths = Int32Array.from(pieces, ({ tokenIds }) => tokenIds.length);
  const numTokens = lengths.reduce((sum, length) => sum + length, 0);
  const tokenIds = new Int32Array(numTokens);
  const tokenSlots = new Int32Array(numTokens);
  const positions = new Int32Array(numTokens);
  const lastTokens = new Int32Array(pieces.length);
  let end = 0;
  pieces.forEach((piece, row) => {
    tokenIds.set(piece.tokenIds, end);
    for (let n = 0; n < piece.tokenIds.length; n++) {
      tokenSlots[end + n] = piece.slot;
      positions[end + n] = piece.start + n;
    }
    end += piece.tokenIds.length;
    lastTokens[row] = end - 1;
  });
  return {
    slots: Int32Array.from(pieces, ({ slot }) => slot),
    lengths,
    tokenIds,
    tokenSlots,
    positions,
    lastTokens,
  };
}
