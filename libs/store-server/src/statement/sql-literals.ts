/** Returns a string literal of ClickHouse with the value `text`, safe inside any statement. */
export function quoteString(text: string): string {
  return `'${escape(text).replaceAll("'", "\\'")}'`;
}

/** Returns `name` as a quoted identifier. */
export function quoteIdentifier(name: string): string {
  return `\`${escape(name).replaceAll('`', '\\`')}\``;
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}
