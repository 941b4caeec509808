import { isNamedLikeMoney } from '../names.ts';
import type { Observation } from './observation.ts';
import type { Reference } from './references.ts';
import { type FieldShape, printedKinds } from './shape.ts';

/** What the comment on a field says beside its shape. */
interface SeenField {
  readonly field: Observation;
  /** Records that could have had the field. */
  readonly records: number;
  readonly reference: Reference | undefined;
}

/** What a field is, how many records have it, and the values that it had. */
export function fieldComment(name: string, shape: FieldShape, seen: SeenField): string {
  const { field, records, reference } = seen;
  const kinds = shape.kinds.map((kind) => printedKinds[kind].word).join(' or ') || 'only null';
  const what =
    reference === undefined
      ? kinds
      : `${reference.form === 'iri' ? 'IRI' : 'id'} of one of the ${reference.collection}`;
  const digits =
    shape.kinds[0] === 'money' && field.digits !== undefined
      ? `, ${field.digits} digits after the point`
      : '';
  const isNumber = shape.kinds.includes('integer') || shape.kinds.includes('number');
  const lost = isNumber && isNamedLikeMoney(name) ? ', though named like an amount: digits may be lost' : '';
  const some = `${field.present} of ${records} records`;
  const often = field.present < records ? some : records === 1 ? 'the only record' : `all ${records} records`;
  const nulls = field.nulls === 0 ? '' : `, null on ${field.nulls}`;
  const sentence = `${what}${digits}${lost}; on ${often}${nulls}.`;
  return inComment(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}${valuesOf(shape, seen)}`);
}

const MAX_VALUES = 12;
const MAX_VALUES_LENGTH = 90;

/** The values of a field that has few. A comment and not an enum, because the service may add a value any day. */
function valuesOf({ kinds }: FieldShape, { field: { values }, reference }: SeenField): string {
  if (values === undefined || kinds.join() !== 'string' || reference !== undefined) return '';

  const words = [...values.keys()].sort();
  const count = [...values.values()].reduce((sum, times) => sum + times, 0);
  const isSmallSet = words.length <= MAX_VALUES && count >= 20 && count >= words.length * 5;
  // Free text is not a set of values, even if it repeats.
  const areWords = words.every((word) => /^[\p{L}\d][\p{L}\d _.+/&()-]{0,31}$/u.test(word));
  const list = words.join(', ');
  return isSmallSet && areWords && list.length <= MAX_VALUES_LENGTH ? ` Seen: ${list}.` : '';
}

/** Text for a comment: it can neither end the comment nor begin a line. */
export function inComment(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll('*/', '* /')
    .trim();
}
