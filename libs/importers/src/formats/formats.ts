import type { FormatName, ImportFormat } from '../format.js';
import { agentLightningEvents } from './agent-lightning-events.js';
import { agentLightning } from './agent-lightning.js';
import { agentgym } from './agentgym.js';
import { atif } from './atif.js';
import { langfuse } from './langfuse.js';
import { openaiChat } from './openai-chat.js';
import { otlp } from './otlp.js';
import { sharegpt } from './sharegpt.js';
import { verl } from './verl.js';

/** All formats, those first that recognize their rows by names of their own. */
export const FORMATS: readonly ImportFormat[] = [
  otlp,
  atif,
  agentLightning,
  agentLightningEvents,
  langfuse,
  verl,
  agentgym,
  sharegpt,
  openaiChat,
];

export const FORMAT_NAMES: readonly FormatName[] = FORMATS.map(({ name }) => name);

/** The format that most of these rows look like, each row counted for the first that recognizes it; null when none does. */
export function detectFormat(rows: readonly unknown[]): ImportFormat | null {
  const counts = new Map<ImportFormat, number>();
  for (const row of rows) {
    const format = FORMATS.find((candidate) => candidate.detects(row));
    if (format !== undefined) counts.set(format, (counts.get(format) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a).at(0)?.[0] ?? null;
}
