/** The end of a UUID: ids of one run share their beginning, because they are ordered by time. */
export function shortId(id: string): string {
  return id.length > 12 ? id.slice(-8) : id;
}
