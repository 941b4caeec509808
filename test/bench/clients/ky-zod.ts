import ky from 'ky';
import * as z from 'zod';
import { products } from '../../../src/collections/products.ts';
import { type FieldKindFacts, fieldKinds } from '../../../src/schemas/field-kinds.ts';
import { API_KEY, type ReadAll, type Source } from '../support/client.ts';

const ofJson = {
  string: z.string(),
  boolean: z.boolean(),
  integer: z.int(),
  number: z.number(),
  array: z.array(z.unknown()),
};
const fields = Object.entries(products.fields).map(([name, kind]) => {
  const { json, pattern }: FieldKindFacts = fieldKinds[kind];
  return [name, (pattern === undefined ? ofJson[json] : z.string().regex(pattern)).nullish()] as const;
});
const schema = z.array(z.looseObject({ ...Object.fromEntries(fields), id: z.string().min(1) }));

async function* records({ origin }: Source) {
  const client = ky.create({ headers: { 'x-auth-token': API_KEY } });
  for (let page = 1; ; page += 1) {
    const url = `${origin}/api/public/v1/products`;
    const body = await client.get(url, { searchParams: { _page: page } }).json();
    const rows = schema.parse(body);
    if (rows.length === 0) return;
    yield* rows;
  }
}

export const readAll: ReadAll = async (source, visit) => {
  for await (const record of records(source)) if (!visit(record)) return;
};
