import { hashText, mix } from '../data/seeded-random.ts';
import type { RecordSelection } from '../options.ts';
import type { Row } from './row.ts';

/** Whether a record is one of those that an option selects. */
export function selects(
  selection: RecordSelection,
  { id, record }: Pick<Row, 'id' | 'record'>,
  segment: string,
  { seed }: { readonly seed: number },
): boolean {
  if (typeof selection === 'function') return selection({ ...record });
  if (typeof selection !== 'number') return selection.includes(id);
  return mix(seed ^ hashText(segment), hashText(id)) < selection * 2 ** 32;
}
