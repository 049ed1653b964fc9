/* How arguments are broken for `bad-input.spec.ts`. */

/** How an argument can be wrong. */
export type Kind =
  /** Finite numbers, as many as the others say. */
  | 'values'
  /** The same, but it says itself how many there are: only finite. */
  | 'leading'
  /** Values that are also ≤ 0. */
  | 'logprobs'
  /** 0 first, never falling, up to the number of values. */
  | 'offsets'
  /** The same, where nothing else says how many values there are. */
  | 'rows'
  | 'groupIds'
  | 'mask'
  /** A number in [0, 1]. */
  | 'unit'
  | 'positive'
  | 'nonNegative'
  /** An integer ≥ 1. */
  | 'count';

export type Argument = Float32Array | Float64Array | Int32Array | Uint8Array | number | null;
export type Input = Record<string, Argument>;

export interface Entry {
  readonly run: (input: never) => unknown;
  readonly input: Input;
  readonly kinds: Readonly<Record<string, Kind>>;
  /** Name of an argument in messages, where it is not its own. */
  readonly called?: Readonly<Record<string, string>>;
}

export type Break = readonly [string, Input, RegExp];

export function changed<T extends Exclude<Argument, number | null>>(
  array: T,
  index: number,
  value: number,
): T {
  const copy = array.slice() as T;
  copy[index] = value;
  return copy;
}

/** Every way to break one argument, with what the message must hold. */
export function listBreaks({ input, kinds, called = {} }: Entry): Break[] {
  return Object.entries(kinds).flatMap(([argument, kind]): Break[] => {
    const value = input[argument];
    const name = (called[argument] ?? argument).replaceAll(/[[\]]/g, '\\$&');
    const to = (broken: Argument): Input => ({ ...input, [argument]: broken });
    const says = (problem: string): RegExp => new RegExp(problem);
    if (typeof value === 'number') {
      const bad: Partial<Record<Kind, number[]>> = {
        unit: [-0.1, 1.1, NaN],
        positive: [0, -1, NaN, Infinity],
        nonNegative: [-1, NaN, Infinity],
        count: [0, -1, 1.5, NaN],
      };
      return (bad[kind] ?? []).map((number) => [
        `${argument} ${number}`,
        to(number),
        says(`${name} is ${number}, must`),
      ]);
    }
    if (value === null) return [];
    const last = value.length - 1;
    const shorter = value.slice(0, last);
    // A length that does not fit is reported from either side of the comparison.
    const wrongLength = says(
      `has ${last} |must have ${last}|must end at the number of values, ${last}|one for each of the ${last}`,
    );
    switch (kind) {
      case 'values':
      case 'logprobs':
        return [
          [`${argument} NaN`, to(changed(value, last, NaN)), says(`${name}\\[${last}\\] is NaN`)],
          [
            `${argument} infinite`,
            to(changed(value, last, -Infinity)),
            says(`${name}\\[${last}\\] is -Infinity`),
          ],
          [`${argument} too short`, to(shorter), wrongLength],
          ...(kind === 'values'
            ? []
            : [
                [
                  `${argument} over 0`,
                  to(changed(value, last, 0.5)),
                  says(`${name}\\[${last}\\] is 0.5`),
                ] as const,
              ]),
        ];
      case 'leading':
        return [[`${argument} NaN`, to(changed(value, last, NaN)), says(`${name}\\[${last}\\] is NaN`)]];
      case 'offsets':
      case 'rows':
        return [
          [
            `${argument} falling`,
            to(changed(value, 1, 9)),
            says(`${name}\\[2\\] is \\d+, must not be less than the 9`),
          ],
          [`${argument} from 1`, to(changed(value, 0, 1)), says(`${name}\\[0\\] is 1, must be 0`)],
          [`${argument} empty`, to(new Int32Array(0)), says(`${name} is empty`)],
          ...(kind === 'rows'
            ? []
            : [
                [
                  `${argument} beyond`,
                  to(changed(value, last, 99)),
                  says(`${name} ends at 99, must end at`),
                ] as const,
              ]),
        ];
      case 'groupIds':
        return [
          [`${argument} too short`, to(shorter), wrongLength],
          [`${argument} negative`, to(changed(value, 1, -1)), says(`${name}\\[1\\] is -1, must be`)],
        ];
      case 'mask':
        return [
          [`${argument} too short`, to(shorter), wrongLength],
          [`${argument} 2`, to(changed(value, 1, 2)), says(`${name}\\[1\\] is 2, must be 0 or 1`)],
        ];
      default:
        return [];
    }
  });
}
