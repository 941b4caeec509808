import { expect, test } from 'vitest';
import { defaultOf, optionRows, optionsGuide, statedDefault } from './options.ts';

test('the guide lists the options of the source; vitest -u writes it', { timeout: 60_000 }, async () => {
  await expect(optionsGuide()).toMatchFileSnapshot('../../../src/guides/options.md');
});

test('every option has sentences in the editor, and those state the default of the code', () => {
  const found = optionRows().flatMap(({ of, path, entry, doc }) => {
    const faults = /\S[.:]$/m.test(doc.text) ? [] : [`${of}, ${path}: it has no sentence.`];
    const value = entry.required ? undefined : defaultOf(entry)?.replaceAll(/[`']/g, '');
    const stated = statedDefault(doc)?.replaceAll(/[`']/g, '').replace('16 MiB', '16,777,216');
    if (
      value !== undefined &&
      !doc.text.includes('The default') &&
      stated?.split(/[,;]? (?!limit)/)[0] !== value
    )
      faults.push(`${of}, ${path}: the default is ${value}, its text says ${stated}.`);
    return faults;
  });
  expect(found).toEqual([]);
});
