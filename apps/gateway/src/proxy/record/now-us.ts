/** Now, as whole microseconds since the Unix epoch. */
export function nowUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}
