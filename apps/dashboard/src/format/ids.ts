/** Last 8 characters of a UUID. Its first ones are a time, so ids of the same run look alike there. */
export function shortId(id: string): string {
  return id.length > 12 ? id.slice(-8) : id;
}
