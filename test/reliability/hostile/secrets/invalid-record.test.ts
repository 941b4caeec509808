import { createClient, type InvalidRecord } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { CANARIES, echoHeaders } from '../../../support/echoes.ts';
import { leaks } from '../../../support/leaks.ts';
import { json } from '../../../support/responses.ts';
import { scriptedServer } from '../../../support/scripted-server.ts';
import { openSinks } from '../../../support/sinks.ts';

/** One schema whose issues name members and values, as those of a caller may. */
const quoting = z.looseObject({ id: z.string() }).superRefine((record, context) => {
  for (const [name, value] of Object.entries(record)) {
    context.addIssue({ code: 'custom', path: [name], message: `${name} is ${String(value)}` });
  }
});

const schemas = {
  'of its own': undefined,
  'that is strict': z.strictObject({ id: z.string() }),
  'that quotes values': quoting,
};
const kinds = Object.keys(schemas) as (keyof typeof schemas)[];
const cases = CANARIES.flatMap((canary) => kinds.map((kind) => ({ canary, kind })));

test.each(cases)(
  'a row that echoes the key as a name, a value and its id: on.invalidRecord and page.invalid do not, by a schema $kind: $canary',
  async ({ canary, kind }) => {
    // A caller's schema checks only rows that are valid by the built-in schema.
    const fields = kind === 'of its own' ? { name: 7, salePrice: canary } : { name: canary };
    const row = { id: `r-${canary}`, ...fields, [canary]: `${canary}!` };
    await using server = await scriptedServer(json([row], 200, echoHeaders(canary)), json([]));
    const sinks = openSinks();
    const schema = schemas[kind];
    const client = createClient({
      baseUrl: server.url,
      apiKey: canary,
      validation: 'report',
      ...sinks.options,
      ...(schema === undefined ? {} : { schemas: { products: schema } }),
    });
    const invalid: InvalidRecord[] = [];
    for await (const page of client.products.list().pages()) invalid.push(...page.invalid);

    const events = sinks.events.flatMap(({ name, event }) =>
      name === 'invalidRecord' ? [event as InvalidRecord] : [],
    );
    expect([events.length, invalid.length]).toEqual([1, 1]);
    for (const { id: _id, ...said } of [...events, ...invalid]) {
      expect(said).toMatchObject({ collection: 'products' });
      expect(said.issues.length).toBeGreaterThan(0);
      expect(leaks(said, canary)).toEqual([]);
      expect(Object.keys(said.record as object)).toEqual(expect.arrayContaining(['id', '[redacted]']));
    }
    expect([events[0]?.id, invalid[0]?.id]).toEqual(['r-[redacted]', 'r-[redacted]']);
    expect(sinks.lines.filter((line) => line.includes('products r-[redacted]: '))).toHaveLength(1);
    expect(await sinks.leaks(canary)).toEqual([]);
  },
);
