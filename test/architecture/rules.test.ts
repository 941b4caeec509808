import { describe, expect, it } from 'vitest';
import * as rules from './rules.ts';
import { parse, type Source } from './source.ts';

/** A house of a few files, each given by its text. */
const house = (files: Readonly<Record<string, string>>): Source[] =>
  Object.entries(files).map(([path, text]) => parse(path, text));

describe('every kind of import is seen', () => {
  const kinds = {
    "import { a } from './x.ts';": 'value',
    "import './x.ts';": 'value',
    "import * as x from './x.ts';": 'value',
    "import a, { type B } from './x.ts';": 'value',
    "import { a, type B } from './x.ts';": 'value',
    "export { a } from './x.ts';": 'value',
    "export * from './x.ts';": 'value',
    "import type { A } from './x.ts';": 'type',
    "import { type A } from './x.ts';": 'type',
    "export type { A } from './x.ts';": 'type',
    "export { type A } from './x.ts';": 'type',
    "export type * from './x.ts';": 'type',
    "let a: import('./x.ts').A;": 'type',
    "let a: typeof import('./x.ts');": 'type',
    "const a = () => import('./x.ts');": 'dynamic',
  } as const;

  it.for(Object.entries(kinds))('%s', ([text, kind]) => {
    expect(parse('client.ts', text).imports).toEqual([{ line: 1, kind, to: 'x.ts', local: true }]);
  });

  it('one that no rule could follow is refused', () => {
    expect(() => parse('client.ts', 'import(name);')).toThrow('no literal');
  });
});

describe('each rule can fail', () => {
  it('an import that goes up, sideways or to nowhere in the house', () => {
    const found = rules.goesUp(
      house({
        'transport/url.ts': "import type { Page } from '../pagination/page.ts';",
        'schemas/money.ts': "const load = () => import('../errors/all.ts');",
        'sync/sync.ts': "let table: typeof import('../collections/index.ts');",
        'pagination/page.ts': "import { url } from '../transport/url.ts';",
        'helpers/text.ts': '',
        'schemas/index.ts': "import { products } from '../collections/products.ts'; import './money.ts';",
        'errors/problem.ts': "import { problemSchema } from '../schemas/index.ts';",
      }),
    );
    expect(found).toEqual([
      'helpers/text.ts stands in no layer',
      'transport/url.ts:1 imports pagination/page.ts: goes up or aside',
      'schemas/money.ts:1 imports errors/all.ts: goes up or aside',
      'sync/sync.ts:1 imports collections/index.ts: goes up or aside',
      'errors/problem.ts:1 imports schemas/index.ts: goes up or aside',
    ]);
  });

  it('a file that does not exist', () => {
    const found = rules.dangling(house({ 'client.ts': "import './options';", 'options.ts': '' }));
    expect(found).toEqual(['client.ts:1 imports options: no such file']);
  });

  it('an entry', () => {
    const found = rules.importsEntry(
      house({
        'cli/sandbox.ts': "import '../testing/index.ts'; import '../index.ts'; import '../testing/msw.ts';",
        'client.ts': "import './collections/index.ts';",
      }),
    );
    expect(found).toHaveLength(3);
  });

  it('a cycle, also of types and around a corner', () => {
    const found = rules.cycles(
      house({
        'pagination/a.ts': "import type { B } from './b.ts';",
        'pagination/b.ts': "export type { C } from './c.ts';",
        'pagination/c.ts': "let a: import('./a.ts').A;",
        'pagination/d.ts': "import './a.ts';",
      }),
    );
    expect(found).toEqual(['pagination/a.ts ⇄ pagination/b.ts ⇄ pagination/c.ts']);
  });

  it('a sandbox that reaches the transport around a corner', () => {
    const found = rules.testingKnowsTooMuch(
      house({
        'testing/sandbox.ts': "import '../collections/bind.ts';",
        'collections/bind.ts': "import type { Transport } from '../transport/request.ts';",
        'transport/request.ts': '',
      }),
    );
    expect(found).toEqual(['testing/sandbox.ts reaches transport/request.ts']);
  });

  it('a package that loads with this one', () => {
    const found = rules.loadsTooMuch(
      house({
        'index.ts': "export * from './client.ts'; import type { Options } from 'ky';",
        'client.ts':
          "import './schemas/record-reader.ts'; const send = () => import('./transport/transport.ts');",
        'schemas/record-reader.ts': "import { schemaOf } from './record-schema.ts';",
        'schemas/record-schema.ts': "import * as z from 'zod/mini';",
        'transport/transport.ts': "import './exchange.ts'; import pRetry from 'p-retry';",
        'transport/exchange.ts': "import ky from 'ky';",
      }),
    );
    expect(found).toEqual(['schemas/record-schema.ts:1 imports zod/mini: loads with the package']);
  });

  it('each package that is to load later, from the face on', () => {
    const found = rules.loadsTooMuch(
      house({
        'index.ts': "export * from './client.ts'; export { default } from 'ky';",
        'client.ts': "import './transport/transport.ts'; import * as z from 'zod';",
        'transport/transport.ts': "import './exchange.ts'; import pRetry from 'p-retry';",
        'transport/exchange.ts': "import ky from 'ky'; import Decimal from 'decimal.js';",
      }),
    );
    expect(found).toEqual([
      'index.ts:1 imports ky: loads with the package',
      'client.ts:1 imports zod: loads with the package',
      'transport/transport.ts:1 imports p-retry: loads with the package',
      'transport/exchange.ts:1 imports ky: loads with the package',
    ]);
  });

  it('a package or a module of Node where it does not belong', () => {
    const found = rules.strangers(
      house({
        'transport/attempt.ts': "const ky = () => import('ky');",
        'client.ts': "import 'node:fs'; import 'lodash';",
        'testing/sandbox.ts': "import { gzipSync } from 'zlib'; import { http } from 'msw';",
      }),
    );
    expect(found).toEqual([
      'transport/attempt.ts:1 imports ky: belongs to transport/exchange.ts',
      'client.ts:1 imports node:fs: runs on Node alone',
      'client.ts:1 imports lodash: no package of this one',
      'testing/sandbox.ts:1 imports zlib: a module of Node without node:',
      'testing/sandbox.ts:1 imports msw: belongs to testing/msw.ts',
    ]);
  });

  it('a name that is not in kebab case', () => {
    expect(
      rules.misnamed(house({ 'retryPolicy.ts': '', 'Sync/sync.ts': '', 'transport/rate-gate.ts': '' })),
    ).toEqual(['retryPolicy.ts', 'Sync/sync.ts']);
  });

  it('any', () => {
    expect(rules.untyped(house({ 'client.ts': 'let a: unknown;\nlet b: Promise<any>;' }))).toEqual([
      'client.ts:2 says any',
    ]);
  });
});
