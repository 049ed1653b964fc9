import { countInversions, rankCorrelation, type RankCorrelation } from '@retrace/algorithms';
import type { ScoredValue, ScorePairs } from './score-pairs.js';

export interface RankAgreementOptions {
  /** Episodes that have the value under both versions. */
  readonly numCompared: number;
  /** Most pairs of values in memory at once. */
  readonly maxPairs: number;
}

interface Pair {
  readonly valueA: number;
  readonly valueB: number;
}

const COMPARED = 'valueA IS NOT NULL AND valueB IS NOT NULL';

/**
 * Spearman's ρ and Kendall's τ-b of a value under two versions, in bounded memory: few pairs are read; of more, mid-ranks are
 * correlated in the store, and pairs in opposite order are counted over a grid.
 */
export async function rankAgreement(
  pairs: ScorePairs,
  value: ScoredValue,
  { numCompared, maxPairs }: RankAgreementOptions,
): Promise<RankCorrelation> {
  if (numCompared <= maxPairs) {
    const rows = await pairs.query<Pair>(value, `SELECT valueA, valueB FROM pairs WHERE ${COMPARED}`);
    return rankCorrelation(
      Float64Array.from(rows, ({ valueA }) => valueA),
      Float64Array.from(rows, ({ valueB }) => valueB),
    );
  }
  const [{ spearman }] = await pairs.query<{ readonly spearman: number | null }>(
    value,
    // Rank from below and from above, of which the mean is the mid-rank; both in one window a side.
    `SELECT corrStable(rankA, rankB) AS spearman FROM (
       SELECT rankA, (rank() OVER w + count() OVER w) / 2 AS rankB FROM (
         SELECT valueB, (rank() OVER w + count() OVER w) / 2 AS rankA
         FROM pairs WHERE ${COMPARED}
         WINDOW w AS (ORDER BY valueA)
       )
       WINDOW w AS (ORDER BY valueB)
     )`,
  );
  return {
    spearman: spearman ?? Number.NaN,
    kendall: await kendallOnGrid(pairs, value, { numCompared, maxPairs }),
  };
}

/**
 * Kendall's τ-b without all pairs in memory. Values at quantiles cut both sides into strips: each such value is a strip of its own,
 * and so are the values between two. Pairs of episodes that differ in both strips are counted by cells; those in one strip of A, and
 * those in one strip of B but not of A, are read strip by strip. A strip of a single value holds no pairs in opposite order.
 */
async function kendallOnGrid(
  pairs: ScorePairs,
  value: ScoredValue,
  { numCompared: n, maxPairs }: RankAgreementOptions,
): Promise<number> {
  const numCuts = Math.ceil(n / maxPairs);
  const levels = Array.from({ length: numCuts }, (_, i) => (i + 1) / (numCuts + 1)).join(', ');
  // As bits: text would round them, and a value would miss the cut that it is.
  const bits = (side: string) =>
    `arrayMap(cut -> toString(reinterpretAsUInt64(cut)), arraySort(arrayDistinct(quantilesExact(${levels})(assumeNotNull(${side})))))`;
  const tied = (columns: string) =>
    `(SELECT sum(toFloat64(num) * (num - 1) / 2) FROM (SELECT count() AS num FROM pairs WHERE ${COMPARED} GROUP BY ${columns}))`;
  const [{ cutsA, cutsB, tiedA, tiedB, tiedBoth }] = await pairs.query<{
    readonly cutsA: readonly string[];
    readonly cutsB: readonly string[];
    readonly tiedA: number;
    readonly tiedB: number;
    readonly tiedBoth: number;
  }>(
    value,
    `SELECT ${bits('valueA')} AS cutsA, ${bits('valueB')} AS cutsB,
       ${tied('valueA')} AS tiedA, ${tied('valueB')} AS tiedB, ${tied('valueA, valueB')} AS tiedBoth
     FROM pairs WHERE ${COMPARED}`,
  );
  const params = { cutsA, cutsB };
  const strip = (side: 'A' | 'B') => {
    const cuts = `arrayMap(cut -> reinterpretAsFloat64(toUInt64(cut)), {cuts${side}:Array(String)})`;
    return `(2 * arrayCount(cut -> cut < value${side}, ${cuts}) + has(${cuts}, assumeNotNull(value${side})))`;
  };
  const cells = await pairs.query<{ readonly stripA: number; readonly stripB: number; readonly num: number }>(
    value,
    `SELECT ${strip('A')} AS stripA, ${strip('B')} AS stripB, count() AS num
     FROM pairs WHERE ${COMPARED} GROUP BY stripA, stripB ORDER BY stripA, stripB`,
    params,
  );
  let discordant = discordantCells(cells, 2 * cutsB.length + 1);
  const inStrip = async (side: 'A' | 'B', number: number) => {
    const first = side === 'A' ? 'valueA' : strip('A');
    const rows = await pairs.query<{ readonly valueB: number }>(
      value,
      `SELECT valueB FROM pairs WHERE ${COMPARED} AND ${strip(side)} = {strip:UInt64} ORDER BY ${first}, valueB`,
      { ...params, strip: number },
    );
    return countInversions(Float64Array.from(rows, ({ valueB }) => valueB));
  };
  // Strips of a single value have odd numbers.
  for (let number = 0; number <= 2 * cutsA.length; number += 2) discordant += await inStrip('A', number);
  for (let number = 0; number <= 2 * cutsB.length; number += 2) discordant += await inStrip('B', number);
  const all = (n * (n - 1)) / 2;
  const scale = Math.sqrt((all - tiedA) * (all - tiedB));
  return scale === 0 ? Number.NaN : (all - tiedA - tiedB + tiedBoth - 2 * discordant) / scale;
}

/** Pairs of episodes in cells of which one has the lower strip of A and the higher one of B. Cells come by strip of A. */
function discordantCells(
  cells: readonly { readonly stripA: number; readonly stripB: number; readonly num: number }[],
  numStripsB: number,
): number {
  /** Of all lower strips of A, by strip of B. */
  const lower = new Float64Array(numStripsB);
  let discordant = 0;
  for (let from = 0; from < cells.length;) {
    let to = from;
    while (to < cells.length && cells[to].stripA === cells[from].stripA) to++;
    const ofStrip = cells.slice(from, to);
    for (const { stripB, num } of ofStrip) {
      for (let higher = stripB + 1; higher < numStripsB; higher++) discordant += num * lower[higher];
    }
    for (const { stripB, num } of ofStrip) lower[stripB] += num;
    from = to;
  }
  return discordant;
}
