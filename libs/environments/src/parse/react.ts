/** A reply in ReAct form, `Thought: … Action: …` (arXiv:2210.03629). */
export interface ReActReply {
  /** Text before the action, without the `Thought:` label; '' when there is none. */
  readonly thought: string;
  /** Text after the action label, trimmed; '' when invalid. */
  readonly action: string;
  /** False when there is no action label, nothing after it, or more than one. */
  readonly actionValid: boolean;
}

const ACTION_LABEL = 'Action:';
const THOUGHT_LABEL = 'Thought:';

/**
 * Splits a ReAct reply into thought and action, which ends at the end of its line. Labels are case-sensitive. Never throws: a bad
 * reply is a value.
 */
export function parseReAct(text: string): ReActReply {
  const last = text.lastIndexOf(ACTION_LABEL);
  if (last === -1) return { thought: stripThought(text), action: '', actionValid: false };
  const thought = stripThought(text.slice(0, last));
  if (text.indexOf(ACTION_LABEL) !== last) return { thought, action: '', actionValid: false };
  const [line] = text
    .slice(last + ACTION_LABEL.length)
    .trimStart()
    .split('\n', 1);
  const action = line.trim();
  return { thought, action, actionValid: action !== '' };
}

function stripThought(text: string): string {
  const start = text.indexOf(THOUGHT_LABEL);
  return (start === -1 ? text : text.slice(start + THOUGHT_LABEL.length)).trim();
}
