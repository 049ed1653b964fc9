import { renderFields, renderOperation } from './operation.mjs';
import { anchorOf } from '../anchors.mjs';
import { cell, findSchemas, prose, renderType } from './schemas.mjs';

/**
 * Renders the reference of the API: a page for each tag of its document, with the schemas that no page before it has, and a page that lists the routes.
 *
 * @param {Readonly<Record<string, any>>} document OpenAPI 3.1, with a summary and a tag in each operation
 * @returns {ReadonlyMap<string, string>} Markdown by the name of the page
 */
export function renderReference(document) {
  const { schemas } = document.components;
  const operations = listOperations(document);
  const tags = [...new Set(operations.map(({ tag }) => tag))].sort();
  const ofTag = (tag) => operations.filter((each) => each.tag === tag);
  const pageOf = new Map();
  for (const tag of tags)
    for (const name of findSchemas(ofTag(tag), schemas)) if (!pageOf.has(name)) pageOf.set(name, tag);
  const addressOf = (name) => `./${pageOf.get(name)}.md#${anchorOf(name)}`;
  const pages = tags.map((tag) => {
    const own = [...pageOf].filter(([, page]) => page === tag).map(([name]) => name);
    const parts = own.map((name) => renderSchema(name, schemas[name], addressOf));
    const title = `# ${titleOfTag(tag)}`;
    return [
      tag,
      `${[title, ...ofTag(tag).map((each) => renderOperation(each, addressOf)), ...parts].join('\n\n')}\n`,
    ];
  });
  return new Map([['index', renderIndex(document, tags, ofTag)], ...pages]);
}

/**
 * Lists the pages of the reference, for a sidebar.
 *
 * @param {Readonly<Record<string, any>>} document OpenAPI
 * @returns {{ text: string, link: string }[]}
 */
export function listReference(document) {
  const tags = [...new Set(listOperations(document).map(({ tag }) => tag))].sort();
  return [
    { text: 'All routes', link: '/api/' },
    ...tags.map((tag) => ({ text: titleOfTag(tag), link: `/api/${tag}` })),
  ];
}

function titleOfTag(tag) {
  return tag === 'sql' ? 'SQL' : `${tag[0].toUpperCase()}${tag.slice(1)}`;
}

function listOperations({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      operation,
      tag: operation.tags[0],
    })),
  );
}

function renderSchema(name, schema, addressOf) {
  const fields = renderFields(schema, addressOf);
  const type = fields === '' ? `${renderType(schema, addressOf)}.` : '';
  return [`## ${name}`, cell(schema.description ?? ''), type, fields]
    .filter((part) => part !== '')
    .join('\n\n');
}

function renderIndex({ info }, tags, ofTag) {
  const lineOf = ({ method, path, operation, tag }) => {
    const route = `${method.toUpperCase()} ${path}`;
    return `- [\`${route}\`](./${tag}.md#${anchorOf(route)}) ${cell(operation.summary)}`;
  };
  return [
    `# The API, version ${info.version}`,
    prose(info.description),
    'A server that others reach needs a key (`retrace keys create`), sent as `Authorization: Bearer <key>`; each route names the scope that it must have. One that only this machine reaches needs none.',
    'Requests can be tried at `/api` of the server, which shows this reference with forms; `/api/openapi.json` is the document that both are made of.',
    ...tags.map((tag) => `## ${titleOfTag(tag)}\n\n${ofTag(tag).map(lineOf).join('\n')}`),
  ].join('\n\n');
}
