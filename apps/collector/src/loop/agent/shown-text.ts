/** Longest text of a turn in later prompts, where no action was found in it. */
const MAX_CHARACTERS = 500;

/** The beginning of a text that may be of any length. */
export function shortText(text: string): string {
  const line = text.trim();
  if (line.length <= MAX_CHARACTERS) return line;
  return `${line.slice(0, isPairAt(line, MAX_CHARACTERS) ? MAX_CHARACTERS - 1 : MAX_CHARACTERS)}…`;
}

/** The task in a first observation: what follows the marker in its line, or all of it. */
export function extractTask(observation: string, marker: string | undefined): string {
  if (marker === undefined) return observation;
  const at = observation.indexOf(marker);
  if (at < 0) return observation;
  return observation
    .slice(at + marker.length)
    .split('\n', 1)[0]
    .trim();
}

/** Whether a cut before this position would split a surrogate pair. */
export function isPairAt(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
