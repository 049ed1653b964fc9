const NUMERIC_TYPE = /^(Nullable\(|LowCardinality\()*(U?Int\d|Float|Decimal|Bool)/;
const TIME_TYPE = /^(Nullable\(|LowCardinality\()*Date/;

/** Whether values of a type of ClickHouse are numbers. */
export function isNumericType(type: string): boolean {
  return NUMERIC_TYPE.test(type);
}

/** Whether values of a type of ClickHouse are dates or times. */
export function isTimeType(type: string): boolean {
  return TIME_TYPE.test(type);
}
