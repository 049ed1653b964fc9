import { chunkFrom, chunkEnd, reachesEnd } from './chunk.js';
import type { Chunk, LiveContext } from './chunk.js';
import type { PrefixCopy } from './key-value-cache.js';
import type { Slot } from './slot.js';

/** One step: copies within the cache, a pass, copies of what that computed, and a second pass. */
export interface PassPlan {
  readonly copies: readonly PrefixCopy[];
  readonly chunks: readonly Chunk[];
  readonly laterCopies: readonly PrefixCopy[];
  readonly laterChunks: readonly Chunk[];
}

/** A shorter prefix is computed again; a copy would not pay. */
const MIN_SHARED_TOKENS = 8;

/** The beginning of a context, and the slot that has it in the cache once `chunk`, if any, is computed. */
interface Source {
  readonly slot: number;
  readonly numTokens: number;
  readonly chunk: Chunk | null;
}

/**
 * Plans the passes of one step over live contexts.
 *
 * - Contexts that need one token come first, then prompts in the order of `live`, until `maxTokens` are planned; a longer
 *   prompt is cut, and continues in the next step.
 * - A context that begins like another (a group's shared prompt, a common system prompt) copies that part from the cache. If
 *   the other is computed in this step, the copy and the rest of the context follow in a second pass.
 *
 * Marks as cached in each context the tokens that the copies provide.
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
  const add = (to: Chunk[], member: LiveContext): void => {
    const chunk = chunkFrom(member, member.context.firstUncached, budget);
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
    // The source's prompt continues in the next step; its tokens are copied after that.
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

/** Finds the longest beginning of a context that another slot has in the cache or will have after this pass; null if none is worth a copy. */
function findSource(
  { slot, context }: LiveContext,
  contexts: readonly Slot[],
  chunks: readonly Chunk[],
): Source | null {
  let best: Source | null = null;
  const consider = (other: Slot, otherSlot: number, numReady: number, chunk: Chunk | null): void => {
    if (otherSlot === slot) return;
    // The last token is always computed, because the next one is sampled from its logits.
    const numTokens = context.commonPrefix(other, Math.min(numReady, context.length - 1));
    if (numTokens >= (best?.numTokens ?? context.firstUncached) + (best ? 1 : MIN_SHARED_TOKENS))
      best = { slot: otherSlot, numTokens, chunk };
  };
  contexts.forEach((other, otherSlot) => {
    if (other.cachedTokens > 0) consider(other, otherSlot, other.cachedTokens, null);
  });
  for (const chunk of chunks) {
    if (chunk.tokenIds.length > 1) consider(chunk.context, chunk.slot, chunkEnd(chunk), chunk);
  }
  return best;
}
