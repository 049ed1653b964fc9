/** Content of the last `\boxed{…}` of a text, with braces matched; null without a complete one. */
export function lastBoxed(text: string): string | null {
  const start = text.lastIndexOf('\\boxed{');
  if (start === -1) return null;
  const from = start + '\\boxed{'.length;
  let depth = 1;
  for (let i = from; i < text.length; i++) {
    if (text[i] === '{') depth += 1;
    else if (text[i] === '}') depth -= 1;
    if (depth === 0) return text.slice(from, i);
  }
  return null;
}
