/** Token ids as a list, which JSON writes as one. `Array.from` takes ten times as long, which long contexts feel. */
export function tokenList(tokenIds: ArrayLike<number>): readonly number[] {
  const list = new Array<number>(tokenIds.length);
  for (let t = 0; t < list.length; t += 1) list[t] = tokenIds[t];
  return list;
}
