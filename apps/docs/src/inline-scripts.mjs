import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BASE, SITE } from './places.mjs';

const INLINE = /<script id="[^"]*">([\s\S]*?)<\/script>/g;

/**
 * Moves scripts of a page (those that choose its colors before the first paint) into files: the content security policy of the API forbids inline ones.
 *
 * @param {string} html
 * @returns {string}
 */
export function moveScripts(html) {
  const assets = join(SITE, 'assets');
  mkdirSync(assets, { recursive: true });
  return html.replace(INLINE, (_, script) => {
    const name = `first-${createHash('sha256').update(script).digest('hex').slice(0, 8)}.js`;
    writeFileSync(join(assets, name), script);
    return `<script src="${BASE}assets/${name}"></script>`;
  });
}
