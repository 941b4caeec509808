import { isAccountingError } from 'accounting-data-sdk';
import fc from 'fast-check';

const long = process.env.SOAK_FAULTS;

/** One seed for all properties: the same in every run of the suite, SEED or a drawn one in the long form. */
const seed =
  process.env.SEED !== undefined
    ? Number(process.env.SEED)
    : long === undefined
      ? 20260131
      : Math.floor(Math.random() * 2 ** 31);
if (long !== undefined) console.log(`hostile input: SEED=${seed}, ${long} times the runs`);

/** How often a property is tried: `count` times in the suite, SOAK_FAULTS times as often in the long form. */
export const tries = (count: number) => ({ seed, numRuns: count * Number(long ?? 1) });

/** Strings that have broken parsers before: characters, and then words. */
export const NAUGHTY: readonly string[] = [
  ...' ./\\%?#&=\'"`|@[]*~',
  ...'\0\n\t\u007f\u0085\u00a0\u00ad\u200b\u202e\u2028\ufeff\ufffd\ufffe\ud800éßİΩ𝔘😀',
  ...'.. ... // ..\\..  %00 %2e%2e %2F %zz undefined null NaN true -0 1e3 0x1F Infinity {} $(id)'.split(' '),
  ...'__proto__ constructor toString <script>alert(1)</script> ﬃ 社會 👩‍👩‍👧'.split(' '),
  "' OR 1=1 --",
  '\r\nx-evil: 1',
  '\u001b[31m',
  'x\udc00y',
  'e\u0301',
  'a+b c%20d;e,f:g',
  '\u0300'.repeat(50),
  'x'.repeat(3_000),
];

const MARKS = 'Zz09.-+:/\\%"{}[],;=_~ TGMJanSu\0\ud800é😀';

/** Strings of every kind: those above, any characters, and those that parsers expect. */
export const anyText = fc.oneof(
  fc.constantFrom(...NAUGHTY),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: fc.constantFrom(...MARKS), maxLength: 40 }),
  fc.stringMatching(/^-?\d{0,20}(\.\d{0,9})?(e\d+)?$/),
  fc.stringMatching(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/),
);

/** Values that a caller from JavaScript may pass instead of the expected one. */
export const ODD_VALUES: readonly unknown[] = [
  null,
  undefined,
  true,
  -1,
  1n,
  Number.NaN,
  '',
  '..',
  [],
  ['x'],
  {},
  { id: 'x' },
  { path: '/x' },
  new Date(Number.NaN),
  new Map(),
  Symbol('s'),
  () => 1,
  Object.create(null),
  { toString: 1, valueOf: 1 },
  new Proxy({}, {}),
];

/** Any value that a caller from JavaScript may pass, prototypes and odd conversions included. */
export const anyValue = fc.oneof(
  anyText,
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    withTypedArray: true,
    withBoxedValues: true,
  }),
  fc.constantFrom(...ODD_VALUES),
);

/** Whether it ends in a value or in an error of this package; any other error fails the test. */
export function endsWell(act: () => unknown): boolean {
  try {
    act();
  } catch (error) {
    if (!isAccountingError(error)) throw error;
  }
  return true;
}
