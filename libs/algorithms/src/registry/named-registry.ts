import { nearNames } from './near-names.js';

/** Reason for which a registry refuses; its owner turns it into the error of its own library. */
export type RegistryFault = 'UNKNOWN_NAME' | 'DUPLICATE_NAME';

export interface NamedRegistryOptions {
  /** Noun for an entry, in the singular: "advantage estimator". */
  readonly noun: string;
  readonly fault: (code: RegistryFault, message: string) => Error;
}

/** Things by name; asking for an unknown one tells the near names. */
export class NamedRegistry<T extends { readonly name: string }> {
  private readonly entries = new Map<string, T>();
  private readonly noun: string;
  private readonly fault: NamedRegistryOptions['fault'];

  constructor({ noun, fault }: NamedRegistryOptions) {
    this.noun = noun;
    this.fault = fault;
  }

  /** @throws the owner's error with `DUPLICATE_NAME` when the name is taken */
  define<E extends T>(entry: E): E {
    if (this.entries.has(entry.name)) {
      throw this.fault('DUPLICATE_NAME', `${this.noun} '${entry.name}' is defined already`);
    }
    this.entries.set(entry.name, entry);
    return entry;
  }

  /** @throws the owner's error with `UNKNOWN_NAME`, naming the nearest known names or all of them */
  get(name: string): T {
    const entry = this.entries.get(name);
    if (entry !== undefined) return entry;
    const known = this.names();
    const near = nearNames(name, known);
    const hint = near.length > 0 ? `did you mean ${near.join(', ')}?` : `known: ${known.join(', ')}`;
    throw this.fault('UNKNOWN_NAME', `no ${this.noun} is named '${name}'; ${hint}`);
  }

  /** All names, sorted. */
  names(): string[] {
    return [...this.entries.keys()].sort();
  }
}
