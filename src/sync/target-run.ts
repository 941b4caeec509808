import { CheckpointError } from '../errors/checkpoint-error.ts';
import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkMethods } from '../input/checks.ts';
import { causeText, sentence } from '../internal/text.ts';
import { CallerCode, type TimeLimit } from '../reading/caller-code.ts';
import { admitKey } from '../reading/company.ts';
import type { ReadSettings } from '../reading/list-options.ts';
import { type AnySource, isCollection, runSource } from '../reading/source.ts';
import { CallStopped } from '../transport/call-options.ts';
import { knownRecords } from './copy-records.ts';
import { guardedTarget, type TargetNames } from './guarded-target.ts';
import type { OpenTarget, SyncTarget, TargetContext } from './target.ts';

type Sources = Readonly<Record<string, AnySource>>;

/** A target that has these optional members. */
export type TargetWith<Names extends keyof OpenTarget> = OpenTarget & Required<Pick<OpenTarget, Names>>;

/** A run that opens a target. */
interface TargetRun<Names extends keyof OpenTarget> {
  readonly purpose: TargetContext['purpose'];
  readonly target: SyncTarget;
  readonly tenant: string;
  /** The collections that it reads. */
  readonly names: readonly string[];
  readonly sources: Sources;
  readonly settings: ReadSettings;
  readonly sameCompany: boolean;
  readonly onWait?: (waitMs: number | undefined) => void;
  /** The limit of time. */
  readonly limit?: TimeLimit | undefined;
  /** What messages call its methods. Default: those of a target. */
  readonly called?: TargetNames;
  /** The methods that the target must have. */
  readonly needs: readonly Names[];
}

/**
 * Runs `work` with the opened target, and closes it however that ends. `admit` rejects the API key of another company before
 * anything is written. It returns what stores that the key was admitted: not before the first write, because only a key
 * that could read belongs to the company.
 */
export async function withTarget<Names extends keyof OpenTarget, V>(
  run: TargetRun<Names>,
  work: (opened: TargetWith<Names>, admit: () => Promise<() => Promise<void>>) => Promise<V>,
): Promise<V> {
  const { purpose, target, tenant, names, sources, settings, needs, limit, called = 'target' } = run;
  const { signal, maxOutageMs } = settings;
  const sourceOf = (name = '') => sources[name] && runSource(sources[name]);
  const warn = (text: string) => sourceOf(names[0])?.warn(text);
  const code = new CallerCode({ signal, limit, warn, waits: () => run.onWait?.(undefined) });
  const context: TargetContext = {
    purpose,
    collections: names,
    signal,
    maxOutageMs,
    fieldsOf: (collection) => sourceOf(collection)?.schemaFields ?? {},
    warn,
    waits(waitMs) {
      code.reported();
      run.onWait?.(waitMs);
    },
  };
  signal?.throwIfAborted();
  const opening = (async () => await target.open(tenant, context))();
  const found = await code
    .run('target.open', () => opening)
    .catch((error: unknown) => {
      // No other code closes one that opens after the sync has given up on it.
      opening.then((late) => late?.close?.()).catch(() => undefined);
      throw failureOf('opened', error, signal);
    });
  let opened: OpenTarget | undefined;
  let result: V;
  try {
    checkMethods(found, 'target', ['onBatch']);
    checkMethods(found.store, 'target.store', ['get']);
    checkTargetMethods(found, purpose, needs);
    const guarded = guardedTarget(found, code, called);
    opened = guarded;
    result = await work(guarded as TargetWith<Names>, () => guardCompany(guarded, run));
  } catch (error) {
    // What went wrong first is the reason to report.
    await (opened ?? found)?.close?.()?.catch(() => undefined);
    throw error instanceof CallStopped ? error.cause : error;
  }
  await opened.close?.()?.catch((error: unknown) => {
    throw failureOf('closed', error, signal);
  });
  return result;
}

function failureOf(done: 'opened' | 'closed', error: unknown, signal: AbortSignal | undefined): unknown {
  if (isAccountingError(error) || (signal?.aborted === true && error === signal.reason)) return error;
  if (error instanceof CallStopped) return error.cause;
  const reason = causeText(error) || 'something other than an error';
  return new CheckpointError(
    sentence(`The target could not be ${done}: it threw ${reason}`),
    { retryable: true, hint: 'Check the target, then run this again.' },
    { cause: error },
  );
}

/** Rejects a target that lacks an optional method which a call needs. */
export function checkTargetMethods(
  opened: OpenTarget,
  purpose: string,
  methods: readonly (keyof OpenTarget)[],
): void {
  const missing = methods.find((name) => typeof opened[name] !== 'function');
  if (missing === undefined) return;
  throw new InvalidInputError('target', `lacks the method ${missing}, which ${purpose} needs`);
}

async function guardCompany(
  opened: OpenTarget,
  { tenant, sameCompany, sources, settings }: TargetRun<keyof OpenTarget>,
): Promise<() => Promise<void>> {
  const { company } = opened;
  const readable = Object.entries(sources).filter(([, source]) => isCollection(source));
  const all = Object.fromEntries(readable.map(([name, source]) => [name, runSource(source)]));
  const [first] = Object.values(all);
  if (company === undefined || first === undefined) return async () => {};
  let admitted = await admitKey(await company.get(), {
    tenant,
    sameCompany,
    digestOf: (salt) => first.keyDigest(salt),
    known: () => knownRecords(opened, all, { ...settings, keepInvalid: true }),
  });
  return async () => {
    if (admitted !== undefined) await company.set(admitted);
    admitted = undefined;
  };
}
