import { recordCount } from '../../internal/text.ts';
import { integerId } from '../../pagination/id-bounds.ts';
import type { FieldTable } from '../../schemas/record.ts';
import type { ListOrder } from '../../schemas/service-forms.ts';
import { isTimestamp } from '../../schemas/timestamp.ts';
import { unreadableId } from '../../schemas/unreadable-id.ts';
import { collectionOfIri, type IdForm, idComparison } from '../ids.ts';
import { isNamedLikeMoney } from '../names.ts';
import { idsOf, type Row } from '../rows.ts';
import { known, unknown } from './finding.ts';
import type { CollectionDetails, Finding, TimestampForm } from './report.ts';

/** Fewer records are in order by chance too often: one time in 60 for five. */
const ENOUGH = 5;

/** The orders that rows can have, those that explain the others first: ids, then timestamps. */
export function ordersOf(rows: readonly Row[], idForm: IdForm | undefined): Finding<readonly ListOrder[]> {
  if (rows.length < ENOUGH) return unknown(`${recordCount(rows.length)}: too few to show an order`);

  const compareIds = idComparison(idForm);
  const orders: ListOrder[] = compareIds === undefined ? [] : directionOf('id', idsOf(rows), compareIds);
  let haveTimes = true;
  for (const name of ['created', 'updated'] as const) {
    const moments = rows.map((row) => momentOf(row[`${name}At`]) ?? Number.NaN);
    if (moments.some(Number.isNaN)) haveTimes = false;
    else orders.push(...directionOf(name, moments, (a, b) => a - b));
  }
  const more = orders.slice(1);
  const seen = `${rows.length} records in the order of the responses`;
  if (orders.length > 0)
    return known(orders, more.length === 0 ? seen : `${seen}; ${more.join(' and ')} fits as well`);
  if (compareIds === undefined) return unknown(`${seen}: ids have no known order`);
  return haveTimes
    ? known(['none'], `${seen}: neither by id nor by createdAt or updatedAt`)
    : unknown(`${seen}: not by id, and records show no times`);
}

/** Mean distances between ids from which on `listOrder: 'id'` saves more requests than reading ahead saves time. */
const SPARSE = 2n;

/**
 * Whether rows show that the service lists by ascending id: a record that was edited later comes before others. And whether
 * that is worth saying, because ids are sparse.
 */
export function sortedByIdOf(rows: readonly Row[], order: Finding<ListOrder>): Finding<boolean> {
  if (order.value !== 'id-asc') return order.known ? known(false, order.evidence) : order;
  const moments = rows.map((row) => momentOf(row.updatedAt) ?? Number.NaN);
  const isByDate = !moments.slice(1).some((moment, index) => moment < (moments[index] ?? moment));
  if (isByDate) return unknown('the records can be sorted by updatedAt, too');
  const ids = idsOf(rows).map((id) => integerId(id));
  const [first, last] = [ids[0], ids.at(-1)];
  if (first === undefined || last === undefined) return known(false, 'ids are not integers');
  const isSparse = last - first >= SPARSE * BigInt(rows.length);
  const seen = `${rows.length} records by ascending id, one that was edited before others`;
  return known(isSparse, isSparse ? `${seen}; ids are sparse` : `${seen}; ids are dense`);
}

/** The direction in which values rise or fall; empty if they do both or neither. */
function directionOf<T>(
  name: 'id' | 'created' | 'updated',
  values: readonly T[],
  compare: (a: T, b: T) => number,
): ListOrder[] {
  const steps = values.slice(1).map((value, index) => compare(values[index] as T, value));
  const rises = steps.some((step) => step < 0);
  const falls = steps.some((step) => step > 0);
  if (rises === falls) return [];
  return [rises ? `${name}-asc` : `${name}-desc`];
}

/** A timestamp in ms since the epoch; undefined for anything else, a date without a time included. */
export function momentOf(value: unknown): number | undefined {
  return typeof value === 'string' && value.includes('T') && isTimestamp(value)
    ? Date.parse(value)
    : undefined;
}

/** The values of createdAt and updatedAt that are timestamps. */
function timestampsIn(rows: readonly Row[]): string[] {
  const values = rows.flatMap(({ createdAt, updatedAt }) => [createdAt, updatedAt]);
  return values.filter((value): value is string => momentOf(value) !== undefined);
}

const NO_TIMESTAMP = unknown('no record carries createdAt or updatedAt with a time');

const FORMS: readonly (readonly [TimestampForm, RegExp])[] = [
  ['seconds', /:\d{2}Z$/],
  ['milliseconds', /:\d{2}\.\d{3}Z$/],
  ['offset', /:\d{2}[+-]\d{2}:\d{2}$/],
];

/** How createdAt and updatedAt are written. */
export function timestampFormOf(rows: readonly Row[]): Finding<TimestampForm> {
  const texts = timestampsIn(rows);
  if (texts.length === 0) return NO_TIMESTAMP;
  const form = FORMS.find(([, pattern]) => texts.every((text) => pattern.test(text)));
  return known(form?.[0] ?? 'other', `${texts.length} timestamps such as ${texts[0]}`);
}

/** Offsets other than zero in createdAt and updatedAt. */
export function offsetsOf(rows: readonly Row[]): Finding<readonly string[]> {
  const texts = timestampsIn(rows);
  if (texts.length === 0) return NO_TIMESTAMP;
  const offsets = new Set(texts.flatMap((text) => /[+-]\d{2}:?\d{2}$/.exec(text)?.[0] ?? []));
  const others = [...offsets].filter((offset) => !/^[+-]00:?00$/.test(offset));
  return known(others.sort(), `${texts.length} timestamps such as ${texts[0]}`);
}

/**
 * Whether fields without a value are sent as `null` or omitted. A field that only some records have proves the latter
 * only if no field of any record is `null`.
 */
export function nullFieldsOf(rows: readonly Row[]): CollectionDetails['nullFields'] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const withNull = names.find((name) => rows.some((row) => row[name] === null));
  if (withNull !== undefined) return known('sent', `${withNull} is null in some of ${rows.length} records`);

  const omitted = names.find((name) => rows.some((row) => !Object.hasOwn(row, name)));
  return omitted === undefined
    ? unknown(`every field has a value in each of ${rows.length} records`)
    : known('omitted', `no field is null, and ${omitted} is missing from some of ${rows.length} records`);
}

export function idTypeOf(rows: readonly Row[]): CollectionDetails['idType'] {
  if (rows.length === 0) return unknown('there is no record');
  const other = rows.find((row) => unreadableId(row) !== undefined && !Number.isSafeInteger(row.id));
  if (other !== undefined)
    return known('unreadable', `of one of ${rows.length} records, ${unreadableId(other)}`);
  const number = rows.find((row) => typeof row.id === 'number');
  return number === undefined
    ? known('strings', recordCount(rows.length))
    : known('numbers', `ids such as ${number.id} are JSON numbers`);
}

export function jsonLdOf(rows: readonly Row[]): Finding<boolean> {
  if (rows.length === 0) return unknown('there is no record');
  const isLd = rows.every((row) => typeof row['@id'] === 'string');
  return known(isLd, `${recordCount(rows.length)} ${isLd ? 'with' : 'without'} @id`);
}

/** Fields whose values are IRIs of other records. */
export function iriFieldsOf(rows: readonly Row[]): Finding<readonly string[]> {
  const holdsIri = (value: unknown) => [value].flat().some((one) => collectionOfIri(one) !== undefined);
  // A name that begins with @ belongs to JSON-LD.
  return fieldsWith(
    rows,
    `in ${recordCount(rows.length)}`,
    (name, value) => !name.startsWith('@') && holdsIri(value),
  );
}

/** Fields with JSON numbers that should be amounts: by the specification, or by their name. */
export function moneyAsNumbersOf(rows: readonly Row[], documented: FieldTable): Finding<readonly string[]> {
  const evidence = `in ${recordCount(rows.length)}, by the fields of the specification and by names such as amount and price`;
  return fieldsWith(rows, evidence, (name, value) => {
    if (typeof value !== 'number') return false;
    return Object.hasOwn(documented, name) ? documented[name] === 'money' : isNamedLikeMoney(name);
  });
}

function fieldsWith(
  rows: readonly Row[],
  evidence: string,
  fits: (name: string, value: unknown) => boolean,
): Finding<readonly string[]> {
  if (rows.length === 0) return unknown('there is no record');
  const entries = rows.flatMap((row) => Object.entries(row));
  const names = entries.filter(([name, value]) => fits(name, value)).map(([name]) => name);
  return known([...new Set(names)].sort(), evidence);
}
