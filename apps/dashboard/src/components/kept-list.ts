/** Names of the fields of an item, with the types of their values as `typeof` says them. */
export type ItemFields<Item> = Readonly<Record<keyof Item, string>>;

/** Reads a list that this or another version of the page wrote; what is not of this form is left out. */
export function readKept<Item>(text: string | null, fields: ItemFields<Item>): readonly Item[] {
  let list: unknown;
  try {
    list = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  const isItem = (item: unknown): item is Item =>
    typeof item === 'object' &&
    item !== null &&
    Object.entries(fields).every(([name, type]) => typeof (item as Record<string, unknown>)[name] === type);
  return Array.isArray(list) ? list.filter(isItem) : [];
}

/** Lists that this browser did not take, by key: they are there until the page is left. */
const unkept = new Map<string, string>();

/** The list under a key. */
export function keptItems<Item>(key: string, fields: ItemFields<Item>): readonly Item[] {
  return readKept(unkept.get(key) ?? keptText(key), fields);
}

function keptText(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a list in this browser, or until the page is left in one that keeps nothing. */
export function keepItems(key: string, items: readonly unknown[]): void {
  const text = JSON.stringify(items);
  try {
    localStorage.setItem(key, text);
    unkept.delete(key);
  } catch {
    unkept.set(key, text);
  }
}

/** Puts an item in place of the one that has its name, in the order of names. */
export function withNamed<Item extends { readonly name: string }>(
  items: readonly Item[],
  one: Item,
): readonly Item[] {
  return [...items.filter(({ name }) => name !== one.name), one].sort((a, b) => a.name.localeCompare(b.name));
}
