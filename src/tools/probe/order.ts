import type { ListOrder } from '../../schemas/service-forms.ts';
import { isInstant } from '../../schemas/timestamp.ts';
import { type IdForm, idComparison } from '../id-form.ts';
import type { Row } from '../list-body.ts';
import { type Finding, known, unknown } from './finding.ts';
import type { InstantForm } from './report.ts';

/** Below this a row of rows is in order by chance too often: one time in 60 for five. */
const ENOUGH = 5;

/** The order that rows came in, as far as the rows show it. */
export function orderOf(rows: readonly Row[], idForm: IdForm | undefined): Finding<ListOrder> {
  if (rows.length < ENOUGH) return unknown(`${rows.length} records are too few to see an order`);

  const byId = idComparison(idForm);
  const ids = rows.map(({ id }) => String(id));
  const fitting: ListOrder[] = [];
  if (byId !== undefined) fitting.push(...directions('id', steps(ids, byId)));
  const instants = (['created', 'updated'] as const).map((name) => {
    const values = rows.map((row) => instantOf(row[`${name}At`]));
    const complete = values.every((value) => value !== undefined);
    if (complete)
      fitting.push(
        ...directions(
          name,
          steps(values, (a, b) => a - b),
        ),
      );
    return complete;
  });

  const [first, ...more] = fitting;
  const seen = `${rows.length} records in the order of the responses`;
  if (first !== undefined)
    return known(first, more.length === 0 ? seen : `${seen}; ${more.join(' and ')} fits as well`);
  if (byId === undefined || !instants.every(Boolean)) {
    return unknown(
      `${seen}: ${byId === undefined ? 'ids without an order of their own' : 'not by id'}, and records without instants`,
    );
  }
  return known('none', `${seen}: neither by id nor by createdAt or updatedAt`);
}

function directions(
  name: 'id' | 'created' | 'updated',
  { up, down }: { up: number; down: number },
): ListOrder[] {
  if (up > 0 && down === 0) return [`${name}-asc`];
  return down > 0 && up === 0 ? [`${name}-desc`] : [];
}

function steps<T>(values: readonly T[], compare: (a: T, b: T) => number): { up: number; down: number } {
  let up = 0;
  let down = 0;
  for (let index = 1; index < values.length; index += 1) {
    const step = compare(values[index - 1] as T, values[index] as T);
    if (step < 0) up += 1;
    if (step > 0) down += 1;
  }
  return { up, down };
}

/** The instant that a field holds, in ms; a date alone is none. */
export function instantOf(value: unknown): number | undefined {
  return typeof value === 'string' && value.includes('T') && isInstant(value) ? Date.parse(value) : undefined;
}

const FORMS: readonly (readonly [InstantForm, RegExp])[] = [
  ['seconds', /:\d{2}Z$/],
  ['milliseconds', /:\d{2}\.\d{3}Z$/],
  ['offset', /:\d{2}[+-]\d{2}:\d{2}$/],
];

/** Offsets other than zero that createdAt and updatedAt show. */
export function offsetsOf(rows: readonly Row[]): Finding<readonly string[]> {
  const texts = rows.flatMap(({ createdAt, updatedAt }) => [createdAt, updatedAt]);
  const instants = texts.filter((text) => instantOf(text) !== undefined) as string[];
  if (instants.length === 0) return unknown('no record carries createdAt or updatedAt with a time');

  const offsets = instants.flatMap((text) => /[+-]\d{2}:?\d{2}$/.exec(text)?.[0] ?? []);
  const others = [...new Set(offsets)].filter((offset) => !/^[+-]00:?00$/.test(offset));
  return known(others.sort(), `${instants.length} timestamps such as ${instants[0]}`);
}

/** How createdAt and updatedAt are written. */
export function instantFormOf(rows: readonly Row[]): Finding<InstantForm> {
  const texts = rows.flatMap(({ createdAt, updatedAt }) => [createdAt, updatedAt]);
  const instants = texts.filter((text) => instantOf(text) !== undefined) as string[];
  if (instants.length === 0) return unknown('no record carries createdAt or updatedAt with a time');

  const form = FORMS.find(([, pattern]) => instants.every((text) => pattern.test(text)));
  return known(form?.[0] ?? 'other', `${instants.length} instants such as ${instants[0]}`);
}
