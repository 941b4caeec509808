import { nearest } from '../../internal/option-names.ts';
import { checkCollections, checkNames, shown } from '../check-options.ts';
import { API_PATH } from '../service/route.ts';
import { FAULT_FIELDS, type Fault, type FaultKind } from './fault.ts';
import { CONDITIONS, type FaultMatch } from './fault-match.ts';

/** Which values a field may have. */
interface Rule {
  readonly must: string;
  readonly allows: (value: unknown) => boolean;
}

/** The fields of a union, each with the type that it has in any member. */
type FieldOf<Union> = Union extends unknown ? Exclude<keyof Union, 'kind'> : never;

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isText = (value: unknown) => typeof value === 'string';
const isHeaders = (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((one) => one === null || isText(one));

const MILLISECONDS: Rule = {
  must: 'must be a number of milliseconds, at least 0',
  allows: (value) => value === Infinity || (isNumber(value) && value >= 0),
};
const FLAG: Rule = { must: 'must be true or false', allows: (value) => typeof value === 'boolean' };
const TEXT: Rule = { must: 'must be a string', allows: isText };
const wholeFrom = (least: number): Rule => ({
  must: `must be a whole number of at least ${least}`,
  allows: (value) => Number.isSafeInteger(value) && (value as number) >= least,
});
const oneOf = (...values: readonly string[]): Rule => ({
  must: `must be one of ${values.join(', ')}`,
  allows: (value) => values.includes(value as string),
});

const FIELD_RULES: Readonly<Record<FieldOf<Fault>, Rule>> = {
  committed: FLAG,
  forMs: MILLISECONDS,
  afterBytes: wholeFrom(0),
  atByte: wholeFrom(0),
  in: oneOf('headers', 'body'),
  bytes: wholeFrom(1),
  everyMs: MILLISECONDS,
  by: { must: 'must be a whole number', allows: Number.isSafeInteger },
  ms: MILLISECONDS,
  before: oneOf('commit', 'answer'),
  status: {
    must: 'must be a status from 100 to 999',
    allows: (value) => Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 999,
  },
  contentType: TEXT,
  retryAfter: {
    must: 'must be a number of seconds, a Date, a string or null',
    allows: (value) =>
      value === null ||
      isText(value) ||
      isNumber(value) ||
      (value instanceof Date && !Number.isNaN(value.getTime())),
  },
  type: TEXT,
  body: {
    must: 'must be a string, bytes or a function',
    allows: (value) => isText(value) || typeof value === 'function' || value instanceof Uint8Array,
  },
  location: TEXT,
  byMs: { must: 'must be a number of milliseconds', allows: isNumber },
  headers: { must: 'must be an object of strings, or null to leave one out', allows: isHeaders },
};

/** Where a kind of fault allows less than others that have a field of the same name. */
const RULES_OF_KIND: { readonly [Kind in FaultKind]?: Readonly<Record<string, Rule>> } = {
  status: { body: oneOf('problem', 'html', 'empty') },
};

/** Fields without a default. */
const REQUIRED: { readonly [Kind in FaultKind]?: readonly FieldOf<Extract<Fault, { kind: Kind }>>[] } = {
  'lost-response': ['committed'],
  delay: ['ms'],
  status: ['status'],
  redirect: ['location'],
  'clock-skew': ['byMs'],
};

const MATCH_RULES: Readonly<Record<keyof FaultMatch, Rule>> = {
  method: TEXT,
  path: {
    must: `must be a pattern, or a whole path without query that begins with ${API_PATH}/`,
    allows: (value) =>
      value instanceof RegExp ||
      (typeof value === 'string' && value.startsWith(`${API_PATH}/`) && !/[?#]/.test(value)),
  },
  collection: TEXT,
  when: { must: 'must be a function', allows: (value) => typeof value === 'function' },
  skip: wholeFrom(0),
  times: {
    must: 'must be a whole number of at least 1, or Infinity',
    allows: (value) => value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 1),
  },
  probability: {
    must: 'must be a number from 0 to 1',
    allows: (value) => isNumber(value) && value >= 0 && value <= 1,
  },
};

/**
 * Throws a TypeError for a fault that does not exist, for one that would change nothing, and for conditions that no
 * request or every request would match: a test with such a fault passes and proves nothing.
 */
export function checkFault(fault: Fault, match: FaultMatch): void {
  const kind = fault?.kind;
  const fields = FAULT_FIELDS[kind] as readonly string[] | undefined;
  if (fields === undefined) {
    const kinds = Object.keys(FAULT_FIELDS);
    const meant = nearest(String(kind), kinds);
    const advice = meant === undefined ? `Known: ${kinds.join(', ')}.` : `Did you mean ${meant}?`;
    throw new TypeError(`There is no fault ${shown(kind)}. ${advice}`);
  }
  checkNames(`the fault ${kind}`, fault, ['kind', ...fields]);
  const values: Readonly<Record<string, unknown>> = { ...fault };
  for (const name of REQUIRED[kind] ?? []) {
    if (values[name] === undefined)
      throw new TypeError(`The fault ${kind} has no default for ${name}. Pass it.`);
  }
  checkValues(`${kind}.`, values, { ...FIELD_RULES, ...RULES_OF_KIND[kind] });
  checkNames('what a fault matches', match, CONDITIONS);
  checkValues('', { ...match }, MATCH_RULES);
  checkCollections('What a fault matches', [match.collection]);
}

function checkValues(
  where: string,
  values: Readonly<Record<string, unknown>>,
  rules: Readonly<Record<string, Rule>>,
): void {
  for (const [name, value] of Object.entries(values)) {
    const rule = rules[name];
    if (value === undefined || rule === undefined || rule.allows(value)) continue;
    throw new TypeError(`${where}${name} ${rule.must}, not ${shown(value)}.`);
  }
}
