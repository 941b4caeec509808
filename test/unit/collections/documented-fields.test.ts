import { expect, test } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import { type FieldKind, type FieldKindFacts, fieldKinds } from '../../../src/schemas/field-kinds.ts';
import { documentedFields } from '../../sandbox/contract/specification.ts';

test.each(Object.values(collections))(
  'the table of collections has the fields that the specification documents for $segment',
  ({ segment, fields }) => {
    const typeOf = (kind: FieldKind) => {
      const { json, pattern }: FieldKindFacts = fieldKinds[kind];
      return pattern === undefined ? json : kind;
    };
    const known = Object.entries(fields).map(([name, kind]) => [name, typeOf(kind)]);
    const documented = (documentedFields[segment] ?? []).filter(({ name }) => name !== 'id');
    expect(Object.fromEntries(known)).toEqual(
      Object.fromEntries(documented.map(({ name, type }) => [name, type])),
    );
  },
);
