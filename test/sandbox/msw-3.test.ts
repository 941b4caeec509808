import { HttpHandler } from 'msw';
import { setupServer } from 'msw/node';
import { describe, expect, test } from 'vitest';
import { createSandbox } from '../../src/testing/index.ts';
import { sandboxHandlers } from '../../src/testing/msw.ts';
import { holdsWithMsw } from './support/msw-suite.ts';

describe('msw 3', () => {
  test('is the version that makes the handlers', () => {
    expect(sandboxHandlers(createSandbox())[0]).toBeInstanceOf(HttpHandler);
  });

  holdsWithMsw((sandbox) => setupServer(...sandboxHandlers(sandbox)));
});
