/** Two gradients of one model, by the name of their parameter, flat. */
export type NamedGradients = ReadonlyMap<string, Float32Array>;

export interface ComparedGradients {
  /** ⟨a, b⟩ / (|a| |b|); null where one of them is 0. */
  readonly cosine: number | null;
  /** L2 norms. */
  readonly recordedNorm: number;
  readonly changedNorm: number;
}

/** One layer, or a parameter that is in none. */
export interface ComparedLayer extends ComparedGradients {
  readonly layer: string;
}

interface Sums {
  products: number;
  recordedSquares: number;
  changedSquares: number;
}

/** Compares two gradients, as a whole and by layer. A parameter that one lacks counts as 0 there. */
export function compareGradients(
  recorded: NamedGradients,
  changed: NamedGradients,
): ComparedGradients & { readonly layers: readonly ComparedLayer[] } {
  const whole: Sums = { products: 0, recordedSquares: 0, changedSquares: 0 };
  const layers = new Map<string, Sums>();
  for (const name of new Set([...recorded.keys(), ...changed.keys()])) {
    const layer = layerName(name);
    const sums = layers.get(layer) ?? { products: 0, recordedSquares: 0, changedSquares: 0 };
    layers.set(layer, sums);
    const part = computeSums(recorded.get(name), changed.get(name));
    for (const total of [sums, whole]) {
      total.products += part.products;
      total.recordedSquares += part.recordedSquares;
      total.changedSquares += part.changedSquares;
    }
  }
  return {
    ...compared(whole),
    layers: [...layers].map(([layer, sums]) => ({ layer, ...compared(sums) })),
  };
}

function computeSums(recorded: Float32Array | undefined, changed: Float32Array | undefined): Sums {
  const sums = { products: 0, recordedSquares: 0, changedSquares: 0 };
  const length = recorded?.length ?? changed?.length ?? 0;
  for (let i = 0; i < length; i++) {
    const [a, b] = [recorded?.[i] ?? 0, changed?.[i] ?? 0];
    sums.products += a * b;
    sums.recordedSquares += a * a;
    sums.changedSquares += b * b;
  }
  return sums;
}

function compared({ products, recordedSquares, changedSquares }: Sums): ComparedGradients {
  const size = Math.sqrt(recordedSquares) * Math.sqrt(changedSquares);
  return {
    // Rounding may give a little more than 1.
    cosine: size === 0 ? null : Math.max(-1, Math.min(1, products / size)),
    recordedNorm: Math.sqrt(recordedSquares),
    changedNorm: Math.sqrt(changedSquares),
  };
}

/** `layers.3` for the parameters of layer 3, and the name itself for one that is in no layer. */
function layerName(name: string): string {
  return /^(?:critic\.)?layers\.\d+/.exec(name)?.[0] ?? name;
}
