import type { Remembered } from './memory.ts';
import { type FieldShape, fieldOf, joinFields, type Shape, type Shapes } from './shape.ts';

/** What differs from an earlier run. */
export interface SchemaChange {
  readonly collection: string;
  /** The path of the field, such as `address.city` or `lines[].amount`; undefined for the collection itself. */
  readonly field: string | undefined;
  readonly change: 'added' | 'gone' | 'widened';
  /** What it was: kinds such as `integer`, `text or null`. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** Below so many records a field that is missing may only not have come. */
const ENOUGH = 20;

/** Both runs together, and what the second one changed. */
export interface Merged {
  readonly fields: Shapes;
  readonly changes: readonly SchemaChange[];
}

/**
 * What two runs know together: a field has every kind that either saw. One that every record had, and now none has, is
 * gone; one that was only sometimes there is kept. `strict` also counts null and absence as a wider type.
 */
export function mergeRuns(
  before: Remembered,
  now: Remembered,
  { collection, strict }: { collection: string; strict: boolean },
): Merged {
  const isGone = (name: string) =>
    now.records >= ENOUGH &&
    fieldOf(before.fields, name)?.always === true &&
    fieldOf(now.fields, name) === undefined;
  const kept = Object.fromEntries(Object.entries(before.fields).filter(([name]) => !isGone(name)));
  const fields = now.records === 0 ? before.fields : joinFields(kept, now.fields);
  // A field that is new was not missing before: it was not there to be had.
  const merged = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      Object.hasOwn(before.fields, name) ? field : (fieldOf(now.fields, name) ?? field),
    ]),
  );
  const gone = Object.keys(before.fields)
    .filter((name) => now.records > 0 && isGone(name))
    .map(
      (name): SchemaChange => ({
        collection,
        field: name,
        change: 'gone',
        from: describe(fieldOf(before.fields, name), strict),
        to: undefined,
      }),
    );
  return {
    fields: merged,
    changes: [...gone, ...differences(before.fields, merged, { collection, strict, path: '' })],
  };
}

interface Place {
  readonly collection: string;
  readonly strict: boolean;
  readonly path: string;
}

function differences(before: Shapes, after: Shapes, place: Place): SchemaChange[] {
  return Object.entries(after).flatMap(([name, field]) => {
    const path = `${place.path}${name}`;
    const old = fieldOf(before, name);
    if (old === undefined) {
      return [
        {
          collection: place.collection,
          field: path,
          change: 'added' as const,
          from: undefined,
          to: describe(field, place.strict),
        },
      ];
    }
    return widened(old, field, { ...place, path });
  });
}

function widened(before: Shape, after: Shape, place: Place): SchemaChange[] {
  const { collection, strict, path } = place;
  const [from, to] = [describe(before, strict), describe(after, strict)];
  const own: SchemaChange[] = from === to ? [] : [{ collection, field: path, change: 'widened', from, to }];
  const items =
    before.items && after.items ? widened(before.items, after.items, { ...place, path: `${path}[]` }) : [];
  const fields =
    before.fields && after.fields
      ? differences(before.fields, after.fields, { ...place, path: `${path}.` })
      : [];
  return [...own, ...items, ...fields];
}

/** A shape in words. */
export function describe(shape: Shape | FieldShape | undefined, strict: boolean): string | undefined {
  if (shape === undefined) return undefined;
  const kinds = shape.kinds.length === 0 ? ['nothing but null'] : [...shape.kinds];
  if (strict && shape.nullable && shape.kinds.length > 0) kinds.push('null');
  const absent = strict && 'always' in shape && !shape.always ? ', not always' : '';
  return `${kinds.join(' or ')}${absent}`;
}
