import type { TokenView } from './token-view';

/** A figure of a token by which it can be colored. */
interface Figure {
  readonly label: string;
  /** null: the token has none, and no color. */
  readonly of: (token: TokenView) => number | null;
  /** The values at the green and at the red end, by the least and the greatest of all that are shown. */
  readonly ends: (least: number, greatest: number) => readonly [green: number, red: number];
  /** Where the color lies between them (default: evenly). */
  readonly scale?: (value: number) => number;
  /** The color where all values are the same (default: green). */
  readonly middle?: number;
}

/** −logprob from which a token counts as fully surprising: probability 1%. */
const MAX_SURPRISE_NATS = Math.log(100);

const FIGURES = {
  logprob: {
    label: 'Logprob',
    of: ({ logprob }) => logprob,
    ends: () => [0, -MAX_SURPRISE_NATS],
  },
  entropy: {
    label: 'Entropy',
    of: ({ entropy }) => entropy,
    ends: (_, greatest) => [0, greatest],
  },
  version: {
    label: 'Policy version',
    of: ({ sampled, policyVersion }) => (sampled ? policyVersion : null),
    ends: (least, greatest) => [greatest, least],
  },
  advantage: {
    label: 'Advantage',
    of: ({ trained }) => trained?.advantage ?? null,
    ends: around,
    middle: 0.5,
  },
  ratio: {
    label: 'Ratio',
    of: ({ trained }) => trained?.ratio ?? null,
    ends: (least, greatest) => {
      const [green, red] = around(Math.log(least), Math.log(greatest));
      return [Math.exp(green), Math.exp(red)];
    },
    scale: Math.log,
    middle: 0.5,
  },
  kl: {
    label: 'KL',
    of: ({ trained }) => trained?.kl ?? null,
    // Some estimators of it may be negative.
    ends: (_, greatest) => [0, Math.max(0, greatest)],
  },
  value: {
    label: 'Value',
    of: ({ trained }) => trained?.value ?? null,
    ends: (least, greatest) => [greatest, least],
  },
  teacher: {
    label: 'Teacher’s logprob',
    of: ({ trained }) => trained?.teacherLogprob ?? null,
    ends: () => [0, -MAX_SURPRISE_NATS],
  },
  clipped: {
    label: 'Clipped',
    of: ({ trained }) => trained?.clippedShare ?? null,
    ends: () => [0, 1],
  },
} as const satisfies Record<string, Figure>;

export type ColorBy = keyof typeof FIGURES;

/** How the tokens of an episode are colored. */
export interface TokenColors {
  readonly by: ColorBy;
  readonly label: string;
  /** The values at the green and at the red end. */
  readonly ends: readonly [green: number, red: number];
}

/** Figures that say nothing where all tokens have the same. */
const MUST_DIFFER: ReadonlySet<ColorBy> = new Set(['version', 'clipped']);

/** The figures that any of the tokens has, with the words for them. */
export function colorChoices(tokens: readonly TokenView[]): { value: ColorBy; label: string }[] {
  return (Object.keys(FIGURES) as ColorBy[])
    .filter((by) => by === 'logprob' || canTell(tokens, by))
    .map((by) => ({ value: by, label: FIGURES[by].label }));
}

function canTell(tokens: readonly TokenView[], by: ColorBy): boolean {
  const { of }: Figure = FIGURES[by];
  const first = tokens.find((token) => of(token) !== null);
  if (first === undefined || !MUST_DIFFER.has(by)) return first !== undefined;
  return tokens.some((token) => ![null, of(first)].includes(of(token)));
}

/** The colors of tokens that are shown together, on one scale. */
export function tokenColors(tokens: readonly TokenView[], by: ColorBy): TokenColors {
  const { label, of, ends, scale = (value) => value }: Figure = FIGURES[by];
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const token of tokens) {
    const value = of(token);
    // A ratio of 0 has no place on its scale.
    if (value === null || !Number.isFinite(scale(value))) continue;
    [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
  }
  return { by, label, ends: ends(least, greatest) };
}

/** The colors of tokens that are read alone. */
export const BY_LOGPROB = tokenColors([], 'logprob');

/** Where a token lies between the green end, 0, and the red one, 1; null for a token without the figure. */
export function computeHeat(token: TokenView, { by, ends }: TokenColors): number | null {
  const { of, scale = (value) => value, middle = 0 }: Figure = FIGURES[by];
  const value = of(token);
  if (value === null) return null;
  const [green, red] = ends.map(scale);
  return green === red ? middle : Math.min(1, Math.max(0, (scale(value) - green) / (red - green)));
}

/** As far to both sides of 0, with what is above it at the green end. */
function around(least: number, greatest: number): [number, number] {
  const most = Math.max(-least, greatest);
  return [most, -most];
}
