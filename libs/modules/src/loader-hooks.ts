/**
 * Module of Node's loader thread. It resolves the packages of Retrace from this library where a file's own folder lacks them, and
 * compiles TypeScript with the package `typescript` where Node does not strip types itself (before 22.18).
 */
export const LOADER_HOOKS = `
  let here;
  let stripsTypes;
  let compiler;
  export function initialize(data) { ({ here, stripsTypes, compiler } = data); }
  export async function resolve(specifier, context, next) {
    try {
      return await next(specifier, context);
    } catch (error) {
      if (!/^@retrace\\/(rewards|environments|algorithms\\/registry)$/.test(specifier)) throw error;
      return next(specifier, { ...context, parentURL: here });
    }
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
