/** A number with what it counts: `1 episode`, `1,200 episodes`. @param many of a noun whose plural has no "s" at its end only */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
