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
  },
  ratio: {
    label: 'Ratio',
    of: ({ trained }) => trained?.ratio ?? null,
    ends: (least, greatest) => {
      const [green, red] = around(Math.log(least), Math.log(greatest));
      return [Math.exp(green), Math.exp(red)];
    },
    scale: Math.log,
  },
  kl: {
    label: 'KL',
    of: ({ trained }) => trained?.kl ?? null,
    ends: (_, greatest) => [0, greatest],
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
    .filter((by) => by === 'logprob' || new Set(valuesOf(tokens, by)).size > (MUST_DIFFER.has(by) ? 1 : 0))
    .map((by) => ({ value: by, label: FIGURES[by].label }));
}

/** The colors of tokens that are shown together, on one scale. */
export function tokenColors(tokens: readonly TokenView[], by: ColorBy): TokenColors {
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of valuesOf(tokens, by))
    [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
  const { label, ends }: Figure = FIGURES[by];
  return { by, label, ends: ends(least, greatest) };
}

/** The colors of tokens that are read alone. */
export const BY_LOGPROB = tokenColors([], 'logprob');

/** Where a token lies between the green end, 0, and the red one, 1; null for a token without the figure. */
export function heatOf(token: TokenView, { by, ends }: TokenColors): number | null {
  const { of, scale = (value) => value }: Figure = FIGURES[by];
  const value = of(token);
  if (value === null) return null;
  const [green, red] = ends.map(scale);
  return green === red ? 0 : Math.min(1, Math.max(0, (scale(value) - green) / (red - green)));
}

function valuesOf(tokens: readonly TokenView[], by: ColorBy): number[] {
  return tokens.map(FIGURES[by].of).filter((value) => value !== null);
}

/** As far to both sides of 0, with what is above it at the green end. */
function around(least: number, greatest: number): [number, number] {
  const most = Math.max(-least, greatest);
  return [most, -most];
}
