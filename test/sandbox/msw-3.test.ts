import { createSandbox } from 'accounting-data-sdk/testing';
import { sandboxHandlers } from 'accounting-data-sdk/testing/msw';
import { HttpHandler } from 'msw';
import { setupServer } from 'msw/node';
import { describe, expect, test } from 'vitest';
import { holdsWithMsw } from './support/msw-suite.ts';

describe('msw 3', () => {
  test('is the version that creates the handlers', () => {
    expect(sandboxHandlers(createSandbox())[0]).toBeInstanceOf(HttpHandler);
  });

  holdsWithMsw((sandbox) => setupServer(...sandboxHandlers(sandbox)));
});
