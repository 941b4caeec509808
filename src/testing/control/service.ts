import { collectionNames, collections } from '../../collections/index.ts';
import { type OptionTable, option, optional } from '../../internal/options.ts';
import { VERSION } from '../../internal/version.ts';
import { at, is, resolved } from '../checks.ts';
import type { Credential } from '../keys.ts';
import { sandboxOptions } from '../options.ts';
import { ProblemError } from '../service/problem.ts';
import type { ServiceState } from '../service/state.ts';
import type { Company } from '../store/company.ts';
import { type ControlCall, type ControlResponse, json, NOTHING } from './call.ts';
import { ruleList } from './faults.ts';

/** `GET /state`: all but the requests and the records. */
export function showState({ core, log }: ControlCall): ControlResponse {
  const { state } = core;
  return json({
    version: VERSION,
    // Another one after a restart, whose log begins again.
    instance: log.instance,
    clock: { now: new Date(state.clock.now()) },
    requests: core.requests.total,
    changes: state.journal.total,
    keys: Object.fromEntries(
      state.keyring.all.map((credential) => [credential.name, keyJson(state, credential)]),
    ),
    records: { main: counts(state.companies.main), other: counts(state.companies.other) },
    faults: ruleList(core.faults),
    quota: { limits: state.options.rateLimit, isChanged: state.options.rateLimit !== core.options.rateLimit },
    options: Object.fromEntries(
      Object.entries(state.options).map(([name, value]) => [name, shownOption(name, value)]),
    ),
  });
}

function keyJson({ clock, limits }: ServiceState, { key, grant, isRevoked }: Credential): object {
  const { company, access, collections = null } = grant;
  const quota = isRevoked ? undefined : limits.look(key, clock.now());
  return {
    key,
    company,
    access,
    collections,
    isRevoked,
    quota: quota === undefined ? null : { limit: quota.limit, remaining: quota.remaining },
  };
}

function counts(company: Company): object {
  return Object.fromEntries(collectionNames.map((name) => [name, company[name].count]));
}

/** An option as JSON. A function is not shown, nor are records. */
function shownOption(name: string, value: unknown): unknown {
  if (value === undefined) return null;
  const isShown =
    name !== 'fixtures' && typeof value !== 'function' && !(name === 'clock' && isSource(value));
  return isShown ? value : `given: ${sandboxOptions[name as keyof typeof sandboxOptions].expected}`;
}

const isSource = (value: unknown) => typeof value === 'object' && value !== null && !(value instanceof Date);

/** `GET /options`: every option with its value, its default and what it accepts. */
export function listOptions({ core }: ControlCall): ControlResponse {
  return json({ options: optionRows(sandboxOptions, core.state.options) });
}

function optionRows(table: OptionTable, values: object, parent = ''): readonly object[] {
  return Object.entries(table).flatMap(([key, entry]) => {
    const name = `${parent}${key}`;
    const value: unknown = Reflect.get(values, key);
    // What one collection has of its own is there only if it was given.
    if (value === undefined && Object.hasOwn(collections, key)) return [];
    if (entry.options !== undefined && typeof value === 'object' && value !== null)
      return optionRows(entry.options, value, `${name}.`);
    const { expected, values: allowed, default: usual } = entry;
    return { name, value: shownOption(key, value), default: usual ?? null, expected, values: allowed };
  });
}

const clockOptions = {
  /** A timestamp. */
  set: optional(
    is.check<string | number>('a timestamp', (value) => ['string', 'number'].includes(typeof value)),
  ),
  /** How far the clock moves, in ms; a negative number turns it back. */
  advanceMs: option(is.milliseconds, 0),
  /** Whether the clock stops. */
  freeze: option(is.flag, false),
};

/** `POST /clock`. */
export function moveClock(call: ControlCall): ControlResponse {
  const { clock } = call.core.state;
  const { set, advanceMs, freeze } = resolved(clockOptions, call.body, 'the clock');
  if (Object.keys(call.body).length === 0)
    throw new ProblemError('validation_failed', 'Pass set, advanceMs or freeze: nothing was given.');
  const start = set === undefined ? clock.now() : new Date(set).getTime();
  if (!isTime(start)) throw at('set', new RangeError(`${JSON.stringify(set)} is not a timestamp.`));
  if (!isTime(start + advanceMs)) throw at('advanceMs', new RangeError('The clock cannot move so far.'));
  if (freeze) clock.freeze();
  clock.set(start + advanceMs);
  return json({ now: new Date(clock.now()) });
}

/** A time whose year has four digits. */
function isTime(ms: number): boolean {
  return ms >= Date.UTC(1970, 0, 1) && ms < Date.UTC(10_000, 0, 1);
}

/** `POST /keys`: issues a key. */
export function issueKey(call: ControlCall): ControlResponse {
  const { keyring } = call.core.state;
  const key = keyring.issue(call.body);
  return json({ name: keyring.all.at(-1)?.name, key }, 201);
}

/** `DELETE /keys/:key`: revokes it. */
export function revokeKey(call: ControlCall): ControlResponse {
  const { keyring } = call.core.state;
  const { key } = call.parameters;
  const credential = keyring.all.find((one) => one.key === key && !one.isRevoked);
  if (credential === undefined)
    throw new ProblemError('not_found', 'The sandbox did not issue this key, or it was revoked.');
  keyring.revoke(credential.key);
  return NOTHING;
}

/** `POST /quota`: another quota for each key. */
export function changeQuota(call: ControlCall): ControlResponse {
  const limits = resolved(sandboxOptions.rateLimit.options, call.body, 'the quota');
  call.core.renewQuotas(limits);
  return json(limits);
}

/** `DELETE /quota`: that of the options again. */
export function restoreQuota(call: ControlCall): ControlResponse {
  call.core.renewQuotas();
  return NOTHING;
}

/** `POST /reset`: with options that the service has from then on. */
export function reset(call: ControlCall): ControlResponse {
  const options = call.body;
  // A page that was let in must not read files of this machine.
  if (typeof options.fixtures === 'string')
    throw at('fixtures', new TypeError('fixtures must be an object of records by collection, not a folder.'));
  for (const name of ['records', 'otherRecords'] as const) checkCount(name, options[name]);
  call.core.reset(options);
  return showState(call);
}

/** Generating more would take the service away for a minute, and the memory of the machine. */
const MOST_RECORDS = 500_000;

function checkCount(name: string, given: unknown): void {
  const counts = typeof given === 'object' && given !== null ? Object.values(given) : [given];
  if (counts.reduce((sum: number, count) => sum + (Number(count) || 0), 0) <= MOST_RECORDS) return;
  throw at(name, new RangeError(`${name} must be at most ${MOST_RECORDS} here.`));
}
