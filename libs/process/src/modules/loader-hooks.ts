/**
 * Module of Node's loader thread. It resolves the packages of Retrace to those that the process has, wherever a file lies, and
 * compiles TypeScript with the package `typescript` where Node does not strip types itself (before 22.18).
 */
export const LOADER_HOOKS = `
  let packages;
  let stripsTypes;
  let compiler;
  export function initialize(data) { ({ packages, stripsTypes, compiler } = data); }
  export async function resolve(specifier, context, next) {
    const url = packages[specifier];
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true };
  }
  export async function load(url, context, next) {
    if (stripsTypes || !/^file:[^?]*\\.[mc]?ts(\\?|$)/.test(url)) return next(url, context);
    const { readFile } = await import('node:fs/promises');
    const text = await readFile(new URL(url.replace(/\\?.*$/, '')), 'utf8');
    if (compiler === null) throw new Error('TypeScript needs Node 22.18 or newer, or the package typescript');
    const { default: ts } = await import(compiler);
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true, inlineSourceMap: true };
    const { outputText, diagnostics } = ts.transpileModule(text, { compilerOptions, reportDiagnostics: true, fileName: url });
    if (diagnostics.length > 0) throw new SyntaxError(ts.flattenDiagnosticMessageText(diagnostics[0].messageText, ' '));
    return { format: 'module', source: outputText, shortCircuit: true };
  }`;
