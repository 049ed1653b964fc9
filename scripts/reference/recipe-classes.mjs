/** Reads the recipe classes: their docstrings from the source, their rules from class-validator. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as config from '@retrace/config';
import { declaredFields } from '@retrace/config';
import { getMetadataStorage } from '@retrace/validation';
import ts from 'typescript';
import { root } from '../run-tool.mjs';

const FOLDER = join(root, 'libs/config/src/recipe');

/**
 * The recipe classes by name, each with its description and its fields in the order of the source. A field has
 * `description`, `defaultValue` (JSON text, undefined where none is documented), `isAdvanced`, `isOptional` (it may be absent), `isNullable` (null has a meaning),
 * `nested` (the class of its value, or of its elements), and `rules` (as class-validator has them).
 *
 * @throws Error for a class or a field without a docstring.
 */
export function readRecipeClasses() {
  const classes = new Map();
  for (const file of readdirSync(FOLDER).filter((name) => /^(?!resolve-).*recipe\.ts$/.test(name))) {
    const text = readFileSync(join(FOLDER, file), 'utf8');
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    for (const node of source.statements.filter(ts.isClassDeclaration)) {
      classes.set(node.name.text, readClass(node));
    }
  }
  return classes;
}

function readClass(node) {
  const name = node.name.text;
  const declared = new Map(declaredFields(config[name]).map((field) => [field.name, field]));
  const rules = getMetadataStorage().getTargetValidationMetadatas(config[name], '', false, false);
  return {
    description: docstring(node, name).description,
    fields: node.members.map((member) => {
      const field = member.name.text;
      return {
        ...declared.get(field),
        ...docstring(member, `${name}.${field}`),
        nested: /\b(\w+Recipe)\b/.exec(member.type.getText())?.[1],
        orName: /^string \| \w+Recipe$/.test(member.type.getText()),
        rules: rules.filter(
          ({ propertyName, type }) => propertyName === field && type !== 'whitelistValidation',
        ),
      };
    }),
  };
}

function docstring(node, name) {
  const [doc] = ts.getJSDocCommentsAndTags(node);
  const description = ts.getTextOfJSDocComment(doc?.comment)?.replace(/\s+/g, ' ');
  if (!description) throw new Error(`${name} has no docstring; the recipe reference is made from it`);
  const tag = doc.tags?.find(({ tagName }) => tagName.text === 'defaultValue');
  return { description, defaultValue: ts.getTextOfJSDocComment(tag?.comment)?.trim() };
}
