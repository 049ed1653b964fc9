/** Oldest Node that Retrace runs on; the same as `engines` in package.json. */
const oldest = [20, 19];

/** One sentence when this Node is too old, else null. Runs on old Nodes: plain syntax, no imports. */
function nodeVersionProblem(version) {
  const [major, minor] = version.split('.').map(Number);
  const isOldEnough = major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
  if (isOldEnough) return null;
  return `Retrace needs Node ${oldest.join('.')} or newer, and this is Node ${version}; install a newer one from https://nodejs.org and start again.`;
}

export function exitIfNodeTooOld() {
  const problem = nodeVersionProblem(process.versions.node);
  if (problem === null) return;
  exitWith('NODE_TOO_OLD', problem);
}

/** Prints an error as the command line does, which can't be loaded here, and exits with 1. */
export function exitWith(code, message) {
  const asJson = process.argv.includes('--json');
  console.error(asJson ? JSON.stringify({ error: { code, message } }) : `retrace: ${message}`);
  process.exit(1);
}
