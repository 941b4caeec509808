import { expect, test } from 'vitest';
import { nearest } from '../../../src/internal/suggestion.ts';
import { causeText, sentence, visible } from '../../../src/internal/text.ts';
import { formatUtcOffset, parseUtcOffset } from '../../../src/internal/utc-offset.ts';

const refused = new Error('connect ECONNREFUSED 127.0.0.1:80');

test.each<[what: string, thrown: unknown, text: string]>([
  ['an error', new TypeError('no\nluck'), 'TypeError: no luck'],
  [
    'an error of several addresses without a message of its own',
    new AggregateError([refused, new Error('other')], ''),
    'Error: connect ECONNREFUSED 127.0.0.1:80',
  ],
  ['an error that has only a cause', new TypeError('', { cause: refused }), `Error: ${refused.message}`],
  ['an error that says nothing', new RangeError(''), 'RangeError'],
  ['a string', ' no luck ', 'no luck'],
  ['an object', { message: 'x' }, ''],
  ['a long text', new Error('x'.repeat(999)), `Error: ${'x'.repeat(293)}`],
])('what was thrown is named in a message: %s', (_, thrown, text) => {
  expect(causeText(thrown)).toBe(text);
});

test.each([
  ['no luck', 'no luck.'],
  ['no luck?!. ', 'no luck?'],
  ['no luck; ', 'no luck.'],
  ['Stop!', 'Stop!'],
])('the sentence %j ends with one mark: %j', (text, expected) => {
  expect(sentence(text)).toBe(expected);
});

test('a text for a message shows what is invisible or joins the character before it', () => {
  expect(visible('A b\u00a0\u200b\u0301\u{e0001}\n')).toBe('"A b\\u00a0\\u200b\\u0301\\udb40\\udc01\\n"');
});

test.each<[given: string, known: readonly string[], meant: string | undefined]>([
  ['timoutMs', ['timeoutMs', 'maxWaitMs'], 'timeoutMs'],
  // Two neighbours in the wrong order are one mistake.
  ['kye', ['key', 'rows'], 'key'],
  ['base_URL', ['apiKey', 'baseUrl'], 'baseUrl'],
  // A third of the letters may be wrong, and no more.
  ['abcxyz', ['abcdez'], 'abcdez'],
  ['abwxyz', ['abcdez'], undefined],
  // Of several the nearest, wherever it stands.
  ['retries', ['retry', 'retriess'], 'retriess'],
  // A part of a name, if it has three letters.
  ['timeout', ['requestTimeoutMs'], 'requestTimeoutMs'],
  ['id', ['apiKeyIdentity'], undefined],
])('of the name %s with the known names %j, %s is meant', (given, known, meant) => {
  expect(nearest(given, known)).toBe(meant);
});

test.each([
  [-300, '-05:00'],
  [-570, '-09:30'],
  [0, '+00:00'],
  [345, '+05:45'],
])('an offset of %d minutes is written as %s, and read as the same', (minutes, text) => {
  expect(formatUtcOffset(minutes)).toBe(text);
  expect(parseUtcOffset(`2026-01-31T12:00:00${text}`)).toBe(minutes);
});
