import { readdirSync, readFileSync } from 'node:fs';
import type { AccountingErrorCode } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { namesIn, root, tableRows } from './code-blocks.ts';

/** The first HTTP status that the guide suggests. TypeScript rejects this table if a code is missing. */
const STATUS: Readonly<Record<AccountingErrorCode, number>> = {
  malformed_request: 500,
  unauthenticated: 502,
  forbidden: 403,
  scope_required: 403,
  not_found: 404,
  validation_failed: 422,
  idempotency_key_required: 502,
  rate_limited: 503,
  unknown_problem: 503,
  connection_failed: 503,
  timeout: 504,
  redirected: 502,
  unexpected_response: 503,
  invalid_input: 400,
  filter_ignored: 502,
  checkpoint: 500,
  concurrent_run: 409,
  sync_failed: 503,
  push_failed: 503,
  reconcile_aborted: 502,
};

/** Every code in the sources of the error classes. */
const codes = readdirSync(`${root}src/errors`).flatMap((file) => {
  const source = readFileSync(`${root}src/errors/${file}`, 'utf8');
  return [...source.matchAll(/readonly code = '(\w+)'/g)].map(([, code = '']) => code);
});

describe('the table of codes in the errors guide', () => {
  const rows = tableRows('src/guides/errors.md', 'code');

  test('has one row for each code', () => {
    expect(codes.length).toBeGreaterThan(15);
    expect(rows.map(([code = '']) => namesIn(code)[0]).toSorted()).toEqual(codes.toSorted());
  });

  test.for(rows)(
    'says when, what to do and which status to return: %s',
    ([code = '', when, advice, status]) => {
      expect(when).toMatch(/\w+ \w+/);
      expect(advice).toMatch(/\w+ \w+/);
      expect(status).toMatch(/^[45]\d\d(?! *\d)/);
      expect(Number.parseInt(status ?? '', 10)).toBe(STATUS[namesIn(code)[0] as AccountingErrorCode]);
    },
  );
});
