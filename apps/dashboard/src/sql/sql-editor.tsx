import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { sql, StandardSQL, type SQLNamespace } from '@codemirror/lang-sql';
import { bracketMatching, HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, Prec, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import type { SqlTable } from '../api-types/schema';
import styles from './sql-editor.module.css';

interface SqlEditorProps {
  /** Name of the editor for screen readers. */
  readonly label: string;
  readonly value: string;
  /** Tables and columns that completion offers. */
  readonly tables: readonly SqlTable[];
  readonly onChange: (value: string) => void;
  /** Called on Ctrl+Enter or Cmd+Enter. */
  readonly onRun: () => void;
  /** One of several: only as high as its query, and not focused at the start. */
  readonly isSmall: boolean;
}

const HIGHLIGHT_STYLE = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--series-4)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--series-3)' },
  { tag: tags.comment, color: 'var(--text-faint)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.standard(tags.name)], color: 'var(--series-5)' },
]);

const EDITING: readonly Extension[] = [
  lineNumbers(),
  history(),
  drawSelection(),
  highlightActiveLine(),
  bracketMatching(),
  closeBrackets(),
  autocompletion(),
  keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
  syntaxHighlighting(HIGHLIGHT_STYLE),
  EditorView.lineWrapping,
];

/** Editor of SQL with highlighting and completion. The Tab key moves the focus, as elsewhere on the page. */
export function SqlEditor({ label, value, tables, onChange, onRun, isSmall }: SqlEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const language = useRef(new Compartment());
  const handlers = useRef({ onChange, onRun });
  const naming = useRef(new Compartment());
  const initialValue = useRef(value);
  const isFirst = useRef(!isSmall);

  useEffect(() => {
    handlers.current = { onChange, onRun };
  }, [onChange, onRun]);

  useEffect(() => {
    if (!parent.current) return;
    const runQuery = (): boolean => {
      handlers.current.onRun();
      return true;
    };
    const created = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: initialValue.current,
        extensions: [
          ...EDITING,
          language.current.of(makeLanguage([])),
          naming.current.of([]),
          Prec.highest(keymap.of([{ key: 'Mod-Enter', run: runQuery }])),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) handlers.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = created;
    if (isFirst.current) created.focus();
    return () => {
      created.destroy();
      view.current = null;
    };
  }, []);

  useEffect(() => {
    view.current?.dispatch({ effects: language.current.reconfigure(makeLanguage(tables)) });
  }, [tables]);

  useEffect(() => {
    const name = EditorView.contentAttributes.of({ 'aria-label': label });
    view.current?.dispatch({ effects: naming.current.reconfigure(name) });
  }, [label]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div className={`${styles.editor} ${isSmall ? styles.small : ''}`} ref={parent} />;
}

function makeLanguage(tables: readonly SqlTable[]) {
  const schema: SQLNamespace = Object.fromEntries(
    tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]),
  );
  return sql({ dialect: StandardSQL, schema, upperCaseKeywords: true });
}
