import { expect, test } from 'vitest';
import { Redactor } from '../../../src/transport/redact.ts';
import { decoded, encodings } from '../../support/secrets.ts';
import { SeededRandom } from '../../support/seeded-random.ts';

const KEY = 'k3y-"quoted"\\/+=end';

const redactorOf = (...keys: readonly string[]) => {
  const redactor = new Redactor();
  for (const key of keys) redactor.hide(key);
  return redactor;
};

test.each([
  ['as it is', KEY],
  ['in capitals', KEY.toUpperCase()],
  ['without its backslash', KEY.replace('\\', '')],
  ['in quoted JSON', JSON.stringify(KEY).slice(1, -1)],
  ['in JSON as PHP writes it', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
  ['in JSON that is quoted in JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
  ['in a URL', encodeURIComponent(KEY)],
  ['in a URL in lower case', encodeURIComponent(KEY).toLowerCase()],
  ['in a URL that encodes a part', KEY.replaceAll('+', '%2B').replaceAll('=', '%3d')],
  ['in a URL within a URL', encodeURIComponent(encodeURIComponent(KEY))],
  ['in entities that are escaped', KEY.replaceAll('/', '&amp;#47;').replaceAll('+', '&amp;plus;')],
  ...Object.entries(encodings).map(([name, encode]): [string, string] => [`by ${name}`, encode(KEY)]),
])('a key is cut out of a text that quotes it %s', (_, quoted) => {
  expect(redactorOf('other-key', KEY).text(`no key ${quoted}, sorry`)).toBe('no key [redacted], sorry');
});

test('a key that was rotated away is cut out too', () => {
  const redactor = redactorOf('first-key-0001', 'second-key-0002');
  expect(redactor.text('first-key-0001, second-key-0002')).toBe('[redacted], [redacted]');
});

test('the last hundred keys that were used are cut out, and the one before them is forgotten', () => {
  const keys = Array.from({ length: 101 }, (_, n) => `rotated-key-${1000 + n}`);
  const left = redactorOf(...keys)
    .text(keys.join(' '))
    .split(' ');
  expect(left).toEqual([keys[0], ...keys.slice(1).map(() => '[redacted]')]);
});

test('a quotation that hides a key in forms within forms is dropped whole', () => {
  const twice = encodings.entities(encodings.unicode(KEY));
  expect(redactorOf(KEY).text(`no key ${twice}, sorry`)).toBe('[redacted]');
  expect(redactorOf(KEY).text('100%25 of \\u0022fine\\u0022 &amp; good')).toContain('fine');
});

test('no text of random encodings shows the key, in what it says or when it is decoded', () => {
  const seed = Number(process.env.SEED ?? 0);
  const random = new SeededRandom(seed);
  // A backslash before each character of an escape can be read in two ways.
  const { backslashes: _, ...clear } = encodings;
  const forms = [(text: string) => text, ...Object.values(clear)];
  for (let round = 0; round < 40; round += 1) {
    const key = Array.from({ length: random.int(8, 40) }, () =>
      String.fromCharCode(random.int(0x21, 0x7e)),
    ).join('');
    const redactor = redactorOf('rotated-away', key);
    for (let each = 0; each < 250; each += 1) {
      const mixed = [...key].map((char) => random.pick(forms)(char)).join('');
      const text = redactor.text(`before ${random.chance(0.2) ? random.pick(forms)(mixed) : mixed} after`);
      expect(decoded(text), `SEED=${seed}: ${key} in ${text}`).not.toContain(key.replaceAll('\\', ''));
      expect(text).toContain('[redacted]');
    }
  }
});

test('a key is removed from the strings and names of a JSON value that quote it', () => {
  const body = { message: `no key ${JSON.stringify(KEY)}`, [JSON.stringify(KEY)]: [1, KEY] };
  expect(redactorOf(KEY).value(body)).toEqual({
    message: 'no key "[redacted]"',
    '"[redacted]"': [1, '[redacted]'],
  });
});

test('a short key of a test is cut out as it is written, and out of no text of the client', () => {
  const redactor = redactorOf('k1');
  expect(redactor.text('no key k1, not K1')).toBe('no key [redacted], not K1');
  expect(redactor.ownText('/k1/accounts')).toBe('/k1/accounts');
  expect(redactorOf(KEY).ownText(`/${KEY}/accounts`)).toBe('/[redacted]/accounts');
});

test('the copy of what was thrown has no key in its name, message, code and causes, and at most 1000 characters', () => {
  const cause = Object.assign(new RangeError(`in ${KEY}`), { code: 7 });
  const thrown = new Error(`${'y'.repeat(990)}${KEY}${'z'.repeat(100)}`, { cause });
  Object.assign(thrown, { name: `Own ${KEY}`, code: `E ${KEY}`, request: { key: KEY } });
  const copy = redactorOf(KEY).cause(thrown) as Error;
  expect(copy).toMatchObject({
    name: 'Own [redacted]',
    message: `${'y'.repeat(990)}[redacted]`,
    code: 'E [redacted]',
    cause: { name: 'RangeError', message: 'in [redacted]', code: 7 },
  });
  expect(copy).not.toHaveProperty('request');
});
