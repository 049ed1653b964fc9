/** A reply in ReAct form, `Thought: … Action: …` (arXiv:2210.03629). */
export interface ReActReply {
  /** Text before the last action label, without the `Thought:` label; '' when there is none. */
  readonly thought: string;
  /** Line after the last action label, trimmed; '' when there is no label. */
  readonly action: string;
  /** Text after that line. */
  readonly rest: string;
  readonly numActionLabels: number;
  readonly hasThoughtLabel: boolean;
}

export const ACTION_LABEL = 'Action:';
export const THOUGHT_LABEL = 'Thought:';

/** Splits a ReAct reply at its last action label. Labels are case-sensitive. Never throws: a bad reply is a value. */
export function parseReAct(text: string): ReActReply {
  const last = text.lastIndexOf(ACTION_LABEL);
  const before = last === -1 ? text : text.slice(0, last);
  const label = before.indexOf(THOUGHT_LABEL);
  const thought = (label === -1 ? before : before.slice(label + THOUGHT_LABEL.length)).trim();
  const after = last === -1 ? '' : text.slice(last + ACTION_LABEL.length).trimStart();
  const end = after.indexOf('\n');
  return {
    thought,
    action: (end === -1 ? after : after.slice(0, end)).trim(),
    rest: end === -1 ? '' : after.slice(end + 1),
    numActionLabels: countOccurrences(text, ACTION_LABEL),
    hasThoughtLabel: label !== -1,
  };
}

/** Returns the one action of a ReAct reply; null when there is no label, nothing after it, or more than one label. */
export function reActAction(text: string): string | null {
  const reply = parseReAct(text);
  return reply.numActionLabels === 1 && reply.action !== '' ? reply.action : null;
}

function countOccurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}
