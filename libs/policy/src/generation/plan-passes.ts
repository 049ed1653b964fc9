import { chunkFrom, endOf, reachesEnd } from './chunk.js';
import type { Chunk } from './chunk.js';
import type { PrefixCopy } from './key-value-cache.js';
import type { Slot } from './slot.js';
import type { LiveTurn } from './turn.js';

/** A turn that waits for its next token. */
export interface LiveContext {
  readonly slot: number;
  readonly context: Slot;
  readonly turn: LiveTurn;
}

/** The computation of one step: copies, then a pass, then copies of what that computed, then a pass. */
export interface PassPlan {
  readonly copies: readonly PrefixCopy[];
  readonly chunks: readonly Chunk[];
  readonly laterCopies: readonly PrefixCopy[];
  readonly laterChunks: readonly Chunk[];
}

/** Prefixes that are shorter are computed again rather than looked for. */
const MIN_SHARED_TOKENS = 8;

/** One context's beginning, and where it will be in the cache. */
interface Source {
  readonly slot: number;
  readonly numTokens: number;
  readonly chunk: Chunk | null;
}

/**
 * Splits what live contexts have to compute into passes.
 *
 * - Contexts that need one token go first, then prompts in the order of `live`, until `maxTokens` are planned; a prompt that is
 *   longer than what is left is cut, and goes on in the next step.
 * - A context that begins as another does (a group's shared prompt, a common system prompt) copies that part from the cache; if the
 *   other is about to be computed in this step, it follows in a pass of its own.
 *
 * Marks in each context what of it is cached once the copies are made.
 */
export function planPasses(
  live: readonly LiveContext[],
  contexts: readonly Slot[],
  maxTokens: number,
): PassPlan {
  const copies: PrefixCopy[] = [];
  const chunks: Chunk[] = [];
  const followers: { readonly live: LiveContext; readonly source: Source }[] = [];
  let budget = maxTokens;
  const add = (to: Chunk[], { slot, context, turn }: LiveContext): void => {
    const start = context.firstUncached;
    const chunk = chunkFrom(slot, context, turn, { start, maxTokens: budget });
    budget -= chunk.tokenIds.length;
    to.push(chunk);
  };
  const needs = ({ context }: LiveContext) => context.length - context.firstUncached;
  for (const member of live) if (needs(member) === 1) add(chunks, member);
  for (const member of live) {
    if (needs(member) === 1 || budget <= 0) continue;
    const source = needs(member) > MIN_SHARED_TOKENS ? findSource(member, contexts, chunks) : null;
    if (source?.chunk) {
      followers.push({ live: member, source });
      continue;
    }
    if (source) copies.push(copyTo(member, source));
    add(chunks, member);
  }
  const laterCopies: PrefixCopy[] = [];
  const laterChunks: Chunk[] = [];
  for (const { live: member, source } of followers) {
    // The rest of the leader's prompt is still to come; what it computes of it next will be copied then.
    if (budget <= 0 || !reachesEnd(source.chunk as Chunk)) continue;
    laterCopies.push(copyTo(member, source));
    add(laterChunks, member);
  }
  return { copies, chunks, laterCopies, laterChunks };
}

function copyTo({ slot, context }: LiveContext, { slot: from, numTokens }: Source): PrefixCopy {
  context.markCached(numTokens);
  return { from, to: slot, numTokens };
}

/** The longest beginning of a context that is cached in another slot or will be after this pass; null if none is worth a copy. */
function findSource(
  { slot, context }: LiveContext,
  contexts: readonly Slot[],
  chunks: readonly Chunk[],
): Source | null {
  let best: Source | null = null;
  const consider = (other: Slot, otherSlot: number, numReady: number, chunk: Chunk | null): void => {
    if (otherSlot === slot) return;
    // The last token is computed in any case: the next one is sampled after it.
    const numTokens = context.commonPrefix(other, Math.min(numReady, context.length - 1));
    if (numTokens >= (best?.numTokens ?? context.firstUncached) + (best ? 1 : MIN_SHARED_TOKENS))
      best = { slot: otherSlot, numTokens, chunk };
  };
  contexts.forEach((other, otherSlot) => {
    if (other.cachedTokens > 0) consider(other, otherSlot, other.cachedTokens, null);
  });
  for (const chunk of chunks) {
    if (chunk.tokenIds.length > 1) consider(chunk.context, chunk.slot, endOf(chunk), chunk);
  }
  return best;
}
