import { describe, expect, it } from 'vitest';
import * as rules from './rules.ts';
import { readSources } from './source.ts';

const sources = await readSources(new URL('../../src/', import.meta.url));

describe('the house', () => {
  it('is looked at as a whole', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.find(({ path }) => path === 'client.ts')?.imports.length).toBeGreaterThan(5);
  });

  it('imports only go down, types and import() counted', () => {
    expect(rules.goesUp(sources)).toEqual([]);
  });

  it('imports name files that exist', () => {
    expect(rules.dangling(sources)).toEqual([]);
  });

  it('nothing imports an entry', () => {
    expect(rules.importsEntry(sources)).toEqual([]);
  });

  it('no files import each other, types counted', () => {
    expect(rules.cycles(sources)).toEqual([]);
  });

  it('the sandbox knows nothing of the transport, the walks and the client that it judges', () => {
    expect(rules.testingKnowsTooMuch(sources)).toEqual([]);
  });

  it('packages and modules of Node stay where they belong', () => {
    expect(rules.strangers(sources)).toEqual([]);
  });

  it('ky, p-retry and Zod load when they are needed', () => {
    expect(rules.loadsTooMuch(sources)).toEqual([]);
  });

  it('files are named in kebab case', () => {
    expect(rules.misnamed(sources)).toEqual([]);
  });

  it('nothing is any', () => {
    expect(rules.untyped(sources)).toEqual([]);
  });
});
