export { runCli } from './main.js';
export { CliError, type CliErrorCode } from './cli-error.js';
export { installation } from './installation.js';
