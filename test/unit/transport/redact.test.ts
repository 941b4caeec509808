import { expect, test } from 'vitest';
import { redact, redactText } from '../../../src/transport/redact.ts';

const KEY = 'k3y-"quoted"\\/end';

test.each([
  ['as it is', KEY],
  ['in quoted JSON', JSON.stringify({ 'x-auth-token': KEY })],
  ['in a URL', `/accounts?token=${encodeURIComponent(KEY)}`],
  ['in a URL in lower case', `/accounts?token=${encodeURIComponent(KEY).toLowerCase()}`],
])('a key is removed from a text %s', (_, text) => {
  const cleared = redactText(text, KEY);
  expect(cleared).toContain('[redacted]');
  expect(cleared).not.toMatch(/k3y|quoted|end/);
});

test('a key is removed from the strings of a JSON value that quote it', () => {
  const body = { message: `no key ${JSON.stringify(KEY)}`, [JSON.stringify(KEY)]: [1, KEY] };
  expect(redact(body, KEY)).toEqual({ message: 'no key "[redacted]"', '"[redacted]"': [1, '[redacted]'] });
});
