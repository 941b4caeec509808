import { styleText } from 'node:util';
import { createSandbox, type LoggedRequest } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { envLines, isSandboxEnv, requestLine } from '../../../src/cli/sandbox-output.ts';

test.each([
  [200, 'green', '200'],
  [404, 'yellow', '404'],
  [500, 'red', '500'],
  // A fault kept it from the service.
  [undefined, 'red', '---'],
] as const)('the log of the sandbox shows the status %s in %s on a terminal', (status, colour, text) => {
  const request = { at: new Date(0), method: 'GET', path: '/other', query: {}, status } as LoggedRequest;
  const line = requestLine(request, true);
  expect(line).toContain(` GET    ${styleText(colour, text, { validateStream: false })} /other `);
  expect(requestLine(request, false)).toBe(`00:00:00 GET    ${text} /other no valid key`);
});

test.each([
  ['.env', 'pull accounts'],
  ['.env.test', 'pull accounts --env .env.test'],
])('the settings in %s say how to use them: %s', (written, command) => {
  const lines = envLines(
    { baseUrl: 'http://127.0.0.1:1', keys: createSandbox().keys },
    { description: 'Sandbox of the public accounting data API: 5 records.', written },
  );
  expect(lines[1]).toBe(`# Run: npx accounting-data-sdk ${command}`);
  // An editor may have changed the ends of lines.
  expect(isSandboxEnv(lines.join('\r\n'))).toBe(true);
});
