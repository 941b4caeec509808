import { inspect } from 'node:util';
import { createClient, toDecimal } from 'accounting-data-sdk';
import { moneySchema } from 'accounting-data-sdk/schemas';
import { createSandbox } from 'accounting-data-sdk/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { caught, thrown } from '../support/caught.ts';

function books() {
  const sandbox = createSandbox({ moneyDigits: 'as-sent', rateLimit: false });
  return { sandbox, ...createClient(sandbox.clientOptions) };
}

const NUMBERS: readonly unknown[] = [129, 129.5, 0, -0, 1e21, Number.NaN, Number.POSITIVE_INFINITY, 129n];
const OTHER_STRINGS = [
  ...['', ' ', ' 129', '129 ', '129\n', '+129', '--129', '.5', '129.', '1.2.3', '1,50', '1_000', '1 000'],
  ...['1e3', '1e400000000', '0x1F', '0b11', 'Infinity', 'NaN', '１２９', '€129'],
  ...['1'.repeat(19), `0.${'1'.repeat(9)}`],
];

test('a number for money is rejected before anything is sent, and so is every other value that is no amount', async () => {
  const { products, sandbox } = books();
  for (const wrong of [...NUMBERS, ...OTHER_STRINGS, true, {}, ['129'], toDecimal('129')]) {
    const salePrice = wrong as string;
    const rejectedAs = (argument: string) => ({ code: 'invalid_input', outcome: 'not_sent', argument });
    const [created, updated] = [products.create({ salePrice }), products.update('1', { salePrice })];
    expect(await caught(created), inspect(wrong)).toMatchObject(rejectedAs('draft.salePrice'));
    expect(await caught(updated), inspect(wrong)).toMatchObject(rejectedAs('patch.salePrice'));
    expect(thrown(() => toDecimal(salePrice))).toMatchObject(rejectedAs('value'));
    expect(moneySchema.safeParse(salePrice).success).toBe(false);
  }
  expect(sandbox.count()).toBe(0);
});

test('drafts, toDecimal, moneySchema and responses accept the same strings as amounts', async () => {
  const { products, sandbox } = books();
  const { id } = sandbox.store.products.insert({});
  const nearly = fc.oneof(
    fc.stringMatching(/^[-+]?\d{0,20}\.?\d{0,10}$/),
    fc.stringMatching(/^[-+]?[\d.eExX_, ]{0,8}$/),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(nearly, async (text) => {
      const isMoney = /^-?[0-9]{1,18}(?:\.[0-9]{1,8})?$/.test(text) && !text.endsWith('\n');
      expect(moneySchema.safeParse(text)).toMatchObject(isMoney ? { data: text } : { success: false });
      const response = JSON.stringify({ id, salePrice: text });
      sandbox.faults.next({ kind: 'rewrite', body: response });
      const read = products.get(id);
      if (isMoney) {
        expect((await read).salePrice).toBe(text);
        expect(toDecimal(text).isFinite()).toBe(true);
        await products.update(id, { salePrice: text });
        return;
      }
      expect(await caught(read)).toMatchObject({ code: 'unexpected_response', reason: 'wrong_shape' });
      expect(thrown(() => toDecimal(text))).toMatchObject({ code: 'invalid_input' });
      expect(await caught(products.update(id, { salePrice: text }))).toMatchObject({ code: 'invalid_input' });
    }),
    { seed: 20260131, numRuns: 80 },
  );
});

test.each(['129', '12345678901234567.89', '1e3'])(
  'money as the number %s in a response is an error, because it may have lost digits already',
  async (number) => {
    const { products, sandbox } = books();
    for (const call of [() => products.get('1'), () => products.create({ salePrice: '129' })]) {
      sandbox.faults.next({ kind: 'rewrite', status: 200, body: `{"id":"1","salePrice":${number}}` });
      expect(await caught(call())).toMatchObject({
        code: 'unexpected_response',
        reason: 'wrong_shape',
        outcome: 'applied',
        recordId: '1',
        issues: [expect.stringContaining('salePrice: expected money')],
      });
    }
  },
);
