import { createSandbox } from 'accounting-data-sdk/testing';
import { sandboxHandlers } from 'accounting-data-sdk/testing/msw';
import { HttpHandler } from 'msw-2';
import { setupServer } from 'msw-2/node';
import { describe, expect, test, vi } from 'vitest';
import { holdsWithMsw } from './support/msw-suite.ts';

vi.mock('msw', () => import('msw-2'));

describe('msw 2', () => {
  test('is the version that creates the handlers', () => {
    expect(sandboxHandlers(createSandbox())[0]).toBeInstanceOf(HttpHandler);
  });

  holdsWithMsw((sandbox) =>
    setupServer(...(sandboxHandlers(sandbox) as unknown as Parameters<typeof setupServer>)),
  );
});
