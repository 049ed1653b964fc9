/** A plugin for oxlint with the rules of this repository that it lacks; `.oxlintrc.json` switches them on. */

import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { builtinRules } from 'eslint/use-at-your-own-risk';

const UPPER_CASE = /^[A-Z][A-Z0-9_]*$/;

/** Whether an expression is made of literals, other constants and the numbers of `Number` and `Math` only. */
function isPrimitive(node) {
  switch (node?.type) {
    case 'Literal':
      return true;
    case 'TemplateLiteral':
      return node.expressions.every(isPrimitive);
    case 'UnaryExpression':
      return isPrimitive(node.argument);
    case 'BinaryExpression':
      return isPrimitive(node.left) && isPrimitive(node.right);
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return isPrimitive(node.expression);
    case 'Identifier':
      return UPPER_CASE.test(node.name) || node.name === 'Infinity';
    case 'MemberExpression':
      return ['Number', 'Math'].includes(node.object.name);
    default:
      return false;
  }
}

const constantCase = {
  meta: {
    type: 'suggestion',
    messages: { upperCase: 'Name the constant "{{name}}" of this module in UPPER_CASE.' },
  },
  create: (context) => ({
    ':matches(Program, ExportNamedDeclaration) > VariableDeclaration[kind="const"] > VariableDeclarator'({
      id,
      init,
    }) {
      if (id.type !== 'Identifier' || UPPER_CASE.test(id.name) || !isPrimitive(init)) return;
      context.report({ node: id, messageId: 'upperCase', data: { name: id.name } });
    },
  }),
};

/** Tools that the tests of all workspaces share; they may be imported anywhere. */
const SHARED_TOOLS = ['vitest', 'vite', 'fast-check'];

const declaredIn = new Map();

/** Names of the packages and workspaces that a workspace may import, its own among them: what its package.json declares. */
function declaredNames(workspace) {
  const known = declaredIn.get(workspace);
  if (known !== undefined) return known;
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, workspace, 'package.json'), 'utf8'));
  const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
  const names = kinds.flatMap((kind) => Object.keys(manifest[kind] ?? {}));
  const declared = new Set([...names, manifest.name, ...SHARED_TOOLS]);
  declaredIn.set(workspace, declared);
  return declared;
}

const declaredImport = {
  meta: {
    type: 'problem',
    messages: { undeclared: 'Declare "{{name}}", which is imported, in {{workspace}}/package.json.' },
  },
  create(context) {
    const [folder, name] = relative(import.meta.dirname, context.filename).split(sep);
    if (!['libs', 'apps', 'clients'].includes(folder)) return {};
    const workspace = `${folder}/${name}`;
    const check = ({ source }) => {
      const imported = /^(?!node:)(?:@[\w.-]+\/)?\w[\w.-]*/.exec(source?.value ?? '')?.[0];
      if (imported === undefined || declaredNames(workspace).has(imported)) return;
      context.report({ node: source, messageId: 'undeclared', data: { name: imported, workspace } });
    };
    return {
      ImportDeclaration: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
      ImportExpression: check,
      TSImportType: check,
    };
  },
};

const docstring = {
  meta: {
    type: 'suggestion',
    messages: {
      opening: 'Start the docstring with a verb or a plain noun, not with "{{word}}".',
      throws: 'Write "@throws ErrorType `CODE` when …" instead of a sentence that starts with "{{word}}".',
    },
  },
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        if (comment.type !== 'Block' || !comment.value.startsWith('*')) continue;
        const text = comment.value.replaceAll(/^[ \t]*\*+/gm, '').trim();
        const report = (messageId, word) => context.report({ loc: comment.loc, messageId, data: { word } });
        if (/^What\b/.test(text)) report('opening', 'What');
        if (/(^|[.:;)!]\s+|\n\s*)Throws\b/.test(text)) report('throws', 'Throws');
      }
    },
  }),
};

/** Words that comments have used wrongly, each with plain ones. Every pattern is global. */
const NOT_PLAIN = [
  [/\banew\b/gi, '"again" or "from scratch"'],
  [/\b(?:is|are|was|were) away\b/gi, '"unavailable"'],
  [/\bnobody wants\b/gi, 'what happens then'],
  [/\bone for all\b/gi, 'what is shared, and by whom'],
  [/\bcomes? of (?:it|them|that|this)\b/gi, '"the result" or "resulting"'],
  [/\btold by\b/gi, '"reported by" or "known from"'],
  [/^(?:Is )?Told (?:of|that|when|where)\b/gi, '"Called with …" or "Called when …"'],
  [/^So (?:long|often|soon)\b/gi, 'the quantity and its unit: "Time that …", "Attempts at …"'],
  [/\b(?:by|for|to) who\b/gi, 'the noun: "the caller", "a reader"'],
];

const plainWords = {
  meta: {
    type: 'suggestion',
    messages: { words: 'Write {{better}} instead of "{{words}}", which a reader has to guess at.' },
  },
  create: (context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        const text = comment.value.replaceAll(/\s*\n\s*\*?\s*|^\*\s*/g, ' ').trim();
        for (const [pattern, better] of NOT_PLAIN)
          for (const [words] of text.matchAll(pattern))
            context.report({ loc: comment.loc, messageId: 'words', data: { better, words } });
      }
    },
  }),
};

const plainTemplate = {
  meta: { type: 'suggestion', messages: { plain: 'A template makes its own string: write `${x}`.' } },
  create: (context) => ({
    'TemplateLiteral > CallExpression[callee.name="String"]'(node) {
      context.report({ node, messageId: 'plain' });
    },
  }),
};

const privateKeyword = {
  meta: { type: 'suggestion', messages: { keyword: 'Declare it `private`, without "#".' } },
  create: (context) => ({
    ':matches(PropertyDefinition, MethodDefinition) > PrivateIdentifier'(node) {
      context.report({ node, messageId: 'keyword' });
    },
  }),
};

export default {
  meta: { name: 'conventions' },
  rules: {
    'constant-case': constantCase,
    'declared-import': declaredImport,
    docstring,
    // That of oxlint finds assignments useless that the next turn of a loop reads.
    'no-useless-assignment': builtinRules.get('no-useless-assignment'),
    'plain-template': plainTemplate,
    'plain-words': plainWords,
    'private-keyword': privateKeyword,
  },
};
