import { ANTHROPIC_REPLIES } from './anthropic-replies.js';
import { OPENAI_REPLIES } from './openai-replies.js';
import type { TextApi } from './text-api.js';

export type TextApiKind = 'openai' | 'anthropic';

/** APIs that answer a conversation with text. */
export const TEXT_APIS: Readonly<Record<TextApiKind, TextApi>> = {
  openai: OPENAI_REPLIES,
  anthropic: ANTHROPIC_REPLIES,
};
