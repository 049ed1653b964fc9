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
  console.error(`retrace: ${problem}`);
  process.exit(1);
}
