import { fail } from '../jinja-error.js';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August'],
  ...['September', 'October', 'November', 'December'],
];
const DAY_MS = 86_400_000;

/** Writes a local time as C's `strftime` does in the locale "C". @throws JinjaError for an unknown directive */
export function strftime(format: string, time: Date): string {
  return format.replace(/%([-_0^#]?)([^])/g, (whole, flag: string, directive: string) => {
    const text = written(directive, time);
    if (text === null) return fail('ValueError', `strftime: directive ${whole} is not supported`);
    if (flag === '-') return text.replace(/^[0 ]+(?=\d)/, '');
    if (flag === '_') return text.replace(/^0+(?=\d)/, (zeros) => ' '.repeat(zeros.length));
    return flag === '^' ? text.toUpperCase() : text;
  });
}

const two = (n: number) => String(n).padStart(2, '0');

const DIRECTIVES: Readonly<Record<string, (time: Date) => string>> = {
  '%': () => '%',
  a: (time) => DAYS[time.getDay()].slice(0, 3),
  A: (time) => DAYS[time.getDay()],
  b: (time) => MONTHS[time.getMonth()].slice(0, 3),
  B: (time) => MONTHS[time.getMonth()],
  c: (time) => strftime('%a %b %e %H:%M:%S %Y', time),
  C: (time) => two(Math.floor(time.getFullYear() / 100)),
  d: (time) => two(time.getDate()),
  D: (time) => strftime('%m/%d/%y', time),
  e: (time) => String(time.getDate()).padStart(2, ' '),
  f: (time) => `${String(time.getMilliseconds()).padStart(3, '0')}000`,
  F: (time) => strftime('%Y-%m-%d', time),
  h: (time) => strftime('%b', time),
  H: (time) => two(time.getHours()),
  I: (time) => two(time.getHours() % 12 || 12),
  j: (time) => String(dayOfYear(time)).padStart(3, '0'),
  m: (time) => two(time.getMonth() + 1),
  M: (time) => two(time.getMinutes()),
  n: () => '\n',
  p: (time) => (time.getHours() < 12 ? 'AM' : 'PM'),
  R: (time) => strftime('%H:%M', time),
  s: (time) => String(Math.floor(time.getTime() / 1000)),
  S: (time) => two(time.getSeconds()),
  t: () => '\t',
  T: (time) => strftime('%H:%M:%S', time),
  u: (time) => String(time.getDay() || 7),
  U: (time) => two(Math.floor((dayOfYear(time) + 6 - time.getDay()) / 7)),
  w: (time) => String(time.getDay()),
  W: (time) => two(Math.floor((dayOfYear(time) + 6 - ((time.getDay() + 6) % 7)) / 7)),
  x: (time) => strftime('%m/%d/%y', time),
  X: (time) => strftime('%H:%M:%S', time),
  y: (time) => two(time.getFullYear() % 100),
  Y: (time) => String(time.getFullYear()),
  // As for a Python `datetime` without a time zone.
  z: () => '',
  Z: () => '',
};

function written(directive: string, time: Date): string | null {
  return Object.hasOwn(DIRECTIVES, directive) ? DIRECTIVES[directive](time) : null;
}

function dayOfYear(time: Date): number {
  const midnight = Date.UTC(time.getFullYear(), time.getMonth(), time.getDate());
  return Math.round((midnight - Date.UTC(time.getFullYear(), 0, 1)) / DAY_MS) + 1;
}
