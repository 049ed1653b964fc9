/** `text` as a string literal of ClickHouse: safe inside any statement, and read back as it was. */
export function quoteString(text: string): string {
  return `'${escape(text).replaceAll("'", "\\'")}'`;
}

/** `name` as a quoted identifier. */
export function quoteIdentifier(name: string): string {
  return `\`${escape(name).replaceAll('`', '\\`')}\``;
}

function escape(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0');
}
