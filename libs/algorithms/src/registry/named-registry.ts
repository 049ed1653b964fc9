import { hintFor } from './near-names.js';

type RegistryFault = 'UNKNOWN_NAME' | 'DUPLICATE_NAME';

/** Entries by name, which refuses with an error of the library that owns it; asking for an unknown name lists the near ones. */
export class NamedRegistry<T extends { readonly name: string }> {
  private readonly entries = new Map<string, T>();

  /**
   * @param noun the kind of the entries, for messages: "advantage estimator"
   * @param fault makes the owner's error
   */
  constructor(
    private readonly noun: string,
    private readonly fault: (code: RegistryFault, message: string) => Error,
  ) {}

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
    throw this.fault('UNKNOWN_NAME', `no ${this.noun} is named '${name}'; ${hintFor(name, this.names())}`);
  }

  /** All names, sorted. */
  names(): string[] {
    return [...this.entries.keys()].sort();
  }
}
