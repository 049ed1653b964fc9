import { Radio, RadioGroup, RadioProvider } from '@ariakit/react/radio';
import styles from './controls.module.css';

interface SegmentsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly onChange: (value: Value) => void;
}

/** A choice between a few options, all of them visible. */
export function Segments<Value extends string>({ label, value, options, onChange }: SegmentsProps<Value>) {
  return (
    <RadioProvider
      value={value}
      setValue={(chosen) => {
        onChange(chosen as Value);
      }}
    >
      <RadioGroup className={styles.segments} aria-label={label}>
        {options.map((option) => (
          <label key={option.value}>
            <Radio value={option.value} />
            {option.label}
          </label>
        ))}
      </RadioGroup>
    </RadioProvider>
  );
}
