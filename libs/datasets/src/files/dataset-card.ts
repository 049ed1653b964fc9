import type { DatasetManifest } from '../manifest.js';

/** Writes the README.md that tells Hugging Face `datasets` which files are which split, and people where the rows come from. */
export function datasetCard(manifest: DatasetManifest): string {
  const { name, format, sql, contentHash, createdAt, splits } = manifest;
  const dataFiles = splits.map(({ split, file }) => `      - split: ${split}\n        path: ${file}`);
  const rows = splits.map(({ split, numRows, file }) => `| ${split} | ${numRows} | \`${file}\` |`);
  return `---
configs:
  - config_name: default
    data_files:
${dataFiles.join('\n')}
---

# ${name}

Format \`${format}\`, made by Retrace at ${createdAt} of the episodes that this query chose:

\`\`\`sql
${sql.trim()}
\`\`\`

| split | rows | file |
| --- | --- | --- |
${rows.join('\n')}

Content hash \`${contentHash}\`. \`manifest.json\` holds the settings, the skipped episodes and the contamination report, and \`lineage.jsonl\` the
episodes and steps of each row.
`;
}
