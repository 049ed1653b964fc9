/** The conventions of this repository that no published rule checks; `eslint.config.mjs` switches them on. */

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
  rules: {
    'constant-case': constantCase,
    docstring,
    'plain-template': plainTemplate,
    'private-keyword': privateKeyword,
  },
};
