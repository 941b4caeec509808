import { sandboxFaults } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { optionRows, sandboxGuide } from './sandbox-options.ts';

test('the guide lists the options and faults of the source; vitest -u writes it', {
  timeout: 60_000,
}, async () => {
  await expect(sandboxGuide()).toMatchFileSnapshot('../../../src/guides/sandbox-options.md');
});

test('every option, fault and field is documented in the editor', () => {
  for (const { path, text } of optionRows()) expect(text, path).toMatch(/\S\.$/);
  const guide = sandboxGuide();
  for (const kind of Object.keys(sandboxFaults))
    expect(guide).toMatch(new RegExp(`^### \`${kind}\`\\n\\n\\S`, 'm'));
  expect(guide).not.toMatch(/default: undefined|: $/m);
});

test.each(optionRows().filter((row) => row.values !== 'a plain object' && 'default' in row))(
  '@default of $path is the default',
  ({ path, default: value, defaultText }) => {
    if (path in { ids: 1, rateLimit: 1, contentTypes: 1, idempotency: 1 }) return;
    const number = defaultText?.replaceAll(/(?<=\d)_/g, '');
    const texts = [`'${String(value)}'`, String(value), JSON.stringify(value)?.replaceAll('"', "'")];
    expect(texts, defaultText).toContain(number);
  },
);
