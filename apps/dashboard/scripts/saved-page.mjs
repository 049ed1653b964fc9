import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { build } from 'vite';

const DASHBOARD = join(import.meta.dirname, '..');

/** In place of the run, which `retrace export --html` writes there. */
const RUN = '__SAVED_RUN__';

await buildSavedPage();

/** Builds `dist/saved-page/page.html`: the pages of one run with their code and style in one file. */
async function buildSavedPage() {
  const { output } = await build({
    root: DASHBOARD,
    configFile: false,
    publicDir: false,
    logLevel: 'warn',
    plugins: [react()],
    build: {
      write: false,
      cssCodeSplit: false,
      rolldownOptions: {
        checks: { pluginTimings: false },
        input: join(DASHBOARD, 'src', 'saved-page', 'main.tsx'),
        output: { codeSplitting: false },
      },
    },
  });
  const [script, ...others] = output.filter(({ type }) => type === 'chunk');
  const [style, ...assets] = output.filter(({ type }) => type === 'asset');
  if (others.length > 0 || assets.length > 0)
    throw new Error(
      `the saved page would need files beside it: ${[...others, ...assets].map(({ fileName }) => fileName)}`,
    );
  const directory = join(DASHBOARD, 'dist', 'saved-page');
  await mkdir(directory, { recursive: true });
  const icon = await readFile(join(DASHBOARD, 'public', 'icon.svg'), 'utf8');
  await writeFile(join(directory, 'page.html'), pageOf({ script: script.code, style: style.source, icon }));
}

/** Code without what ends an element of a script, or begins a comment in which its end would not count. */
function escapeScript(script) {
  return script.replaceAll(/<(?=!--|\/script)/gi, String.raw`\x3c`);
}

/** A browser runs only the script with this hash, and asks no host for anything. */
function pageOf({ script, style, icon }) {
  const code = escapeScript(script);
  const hash = createHash('sha256').update(code).digest('base64');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="dark light" />
<meta name="generator" content="retrace export --html" />
<title>Retrace</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}" />
<style>${style}</style>
</head>
<body>
<div id="root"></div>
<noscript>This page needs JavaScript. The element "saved-run" of its source has the run as JSON.</noscript>
<script id="saved-run" type="application/json">${RUN}</script>
<script type="module">${code}</script>
</body>
</html>
`;
}
