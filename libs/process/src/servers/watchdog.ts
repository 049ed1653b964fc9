/**
 * Program of a small process between Retrace and a server that it starts. The server runs in a process group of its own, which is
 * ended when standard input closes: that happens when Retrace closes it, and also when Retrace is killed and can do nothing. So no
 * server outlives the process that started it, however that ends. A server that should end with this process too reads its id in
 * `RETRACE_SERVER_OWNER`, as `serve_environment` of Python does. Its arguments are the milliseconds between SIGTERM and SIGKILL, and the command.
 */
export const WATCHDOG = `
const { spawn } = require('node:child_process');
const [graceMs, command, ...args] = process.argv.slice(1);
const env = { ...process.env, RETRACE_SERVER_OWNER: String(process.pid) };
const child = spawn(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'], detached: true });
const end = (signal) => { try { process.kill(-child.pid, signal); } catch {} };
let isEnding = false;
const stop = () => {
  if (isEnding || child.pid === undefined) return;
  isEnding = true;
  end('SIGTERM');
  setTimeout(() => { end('SIGKILL'); process.exit(0); }, Number(graceMs));
};
child.once('error', (error) => { console.error(error.message); process.exit(127); });
child.once('exit', (code, signal) => { end('SIGKILL'); process.exit(code ?? (signal ? 1 : 0)); });
process.stdin.on('end', stop).on('error', stop).resume();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop);
`;
