import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { collectionNames } from '../../../src/collections/index.ts';
import * as face from '../../../src/index.ts';
import { namesIn, root } from './code-blocks.ts';

const text = readFileSync(`${root}llms.txt`, 'utf8');

test('begins with the name of the package and a summary', () => {
  expect(text).toMatch(/^# accounting-data-sdk\n\n> \S/);
});

test('links to files that exist and are in the tarball', () => {
  const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target ?? '');
  expect(links.length).toBeGreaterThan(8);
  for (const link of links) {
    expect(existsSync(`${root}${link}`), link).toBe(true);
    const packed = link === 'README.md' || manifest.files.some((path) => `${link}/`.startsWith(`${path}/`));
    expect(packed, link).toBe(true);
  }
});

test('names every collection, and functions that exist', () => {
  const names = new Set(namesIn(text).flatMap((code) => code.match(/\w+/g) ?? []));
  expect([...names]).toEqual(expect.arrayContaining([...collectionNames]));
  const functions = ['createClient', 'sync', 'reconcile', 'toDecimal', 'toMoney', 'isApiError'];
  expect(Object.keys(face)).toEqual(expect.arrayContaining([...functions, 'idempotencyKeyFor']));
  for (const name of functions) expect(names).toContain(name);
});
