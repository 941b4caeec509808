import { isNamedLikeMoney } from '../named-like-money.ts';
import { forComment } from './literal.ts';
import type { Observation } from './observation.ts';
import { isSure, type Reference } from './references.ts';
import type { FieldShape, Kind } from './shape.ts';

/** What a doc comment says of a field beside its shape: what was seen in this run. */
export interface Seen {
  readonly field: Observation | undefined;
  /** Records that could have had it. */
  readonly records: number;
  readonly reference: Reference | undefined;
}

const WORDS: Readonly<Record<Kind, string>> = {
  array: 'list',
  boolean: 'boolean',
  date: 'date',
  instant: 'instant',
  integer: 'whole number',
  money: 'amount',
  number: 'number',
  object: 'object',
  text: 'text',
};

/** The doc comment of a field, without its stars: what it is, how often it was there, which values it had. */
export function noteOf(name: string, shape: FieldShape, seen: Seen): string {
  const sentences = [whatItIs(name, shape, seen), ...values(shape, seen)];
  return forComment(`${sentences.join('. ')}.`);
}

function whatItIs(name: string, shape: FieldShape, { field, records, reference }: Seen): string {
  const kinds = shape.kinds.map((kind) => WORDS[kind]).join(' or ');
  const what = capital(reference === undefined ? kinds || 'only null' : describeReference(reference));
  const digits =
    shape.kinds[0] === 'money' && field?.digits !== undefined
      ? `, ${field.digits} digits after the point`
      : '';
  const lost =
    isNumber(shape) && isNamedLikeMoney(name) ? ', though named like an amount: digits may be lost' : '';
  return `${what}${digits}${lost}; ${presence(field, records)}`;
}

function isNumber({ kinds }: FieldShape): boolean {
  return kinds.includes('integer') || kinds.includes('number');
}

function describeReference(reference: Reference): string {
  const { collection, checked, found, form } = reference;
  const name = form === 'iri' ? 'IRI' : 'id';
  if (isSure(reference)) return `${name} of one of the ${collection} (${found} of ${checked} found there)`;
  if (form === 'iri')
    return `IRI of one of the ${collection}, but ${checked === 0 ? 'none could be looked up' : `only ${found} of ${checked} were found there`}`;
  return checked === 0
    ? `text, named like an id of the ${collection} (none could be looked up)`
    : `text, named like an id of the ${collection}, but only ${found} of ${checked} were found there`;
}

function presence(field: Observation | undefined, records: number): string {
  if (field === undefined) return 'on none of the records of the last run';
  const nulls = field.nulls === 0 ? '' : `, null on ${field.nulls}`;
  const often = field.present === records ? `all ${records}` : `${field.present} of ${records}`;
  return `on ${often} records${nulls}`;
}

/** More values are no small set. */
const FEW = 12;
/** A line of a comment has room for so much. */
const LINE = 90;

/** The values of a field that has few: a comment, never a closed enum, for the service may add one any day. */
function values({ kinds }: FieldShape, { field, reference }: Seen): string[] {
  const seen = field?.values;
  if (seen === undefined || kinds[0] !== 'text' || kinds.length > 1 || reference !== undefined) return [];

  const count = [...seen.values()].reduce((sum, times) => sum + times, 0);
  const words = [...seen.keys()].sort();
  const isSmallSet = words.length > 0 && words.length <= FEW && count >= 20 && count >= words.length * 5;
  // What people write themselves is no set of values, however few of them wrote.
  const areWords = words.every((word) => /^[\p{L}\d][\p{L}\d _.+/&()-]{0,31}$/u.test(word));
  const list = words.join(', ');
  return isSmallSet && areWords && list.length <= LINE ? [`Seen: ${list}`] : [];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
