/** The figures of one script, each printed as it is added, with its aim. */
import { writeFileSync } from 'node:fs';

export class FigureTable {
  constructor(title) {
    this.title = title;
    this.figures = [];
  }

  /** @param aim `{ least }` or `{ most }`; `required`: a miss fails the script, for figures that no slow machine excuses */
  add(name, value, unit, aim = null, { required = false } = {}) {
    const met = aim === null || ('least' in aim ? value >= aim.least : value <= aim.most);
    const text =
      aim === null
        ? ''
        : `${'least' in aim ? `≥ ${format(aim.least)}` : `≤ ${format(aim.most)}`}, ${met ? 'met' : 'missed'}`;
    this.figures.push({ name, value, unit, ...(aim && { aim: text }) });
    console.log(`${name.padEnd(66)} ${format(value).padStart(12)} ${unit.padEnd(14)} ${text}`);
    if (required && !met) process.exitCode = 1;
  }

  /** Writes the figures to the file that `npm run bench` reads them from; prints only the notes where nobody reads it. */
  save(notes) {
    const { title, figures } = this;
    if (process.env.RETRACE_RESULT_FILE)
      writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures, notes }));
    else if (notes) console.log(notes);
  }
}

/** Whole numbers are counts, and stay as they are; others have three digits, however small they are. */
const format = (value) =>
  value.toLocaleString('en', Number.isInteger(value) ? {} : { maximumSignificantDigits: 3 });
