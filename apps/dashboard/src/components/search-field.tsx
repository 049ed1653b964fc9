import { useState } from 'react';
import { Field } from './field';

export interface FieldState {
  readonly value: string;
  readonly onCommit: (value: string) => void;
}

interface SearchFieldProps extends FieldState {
  readonly label: string;
  readonly type: 'search' | 'number' | 'datetime-local';
}

/** A field that takes what is typed, once it loses the focus, or on Enter. */
export function SearchField({ label, type, value, onCommit }: SearchFieldProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const commit = (): void => {
    if (typed !== null && typed !== value) onCommit(typed);
    setTyped(null);
  };
  return (
    <Field
      {...{ label, type }}
      maxLength={200}
      value={typed ?? value}
      onChange={setTyped}
      onBlur={commit}
      onKeyDown={({ key }) => {
        if (key === 'Enter') commit();
      }}
    />
  );
}
