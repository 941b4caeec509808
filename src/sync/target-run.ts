import { CheckpointError } from '../errors/checkpoint-error.ts';
import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkMethods } from '../input/checks.ts';
import { causeText, sentence } from '../internal/text.ts';
import { admissionOf } from '../reading/admission.ts';
import { CallerCode, type TimeLimit } from '../reading/caller-code.ts';
import { type Admission, type CompanyMemory, decodeMemory } from '../reading/company.ts';
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
  /** What earlier runs have left of the company. Default: what the target has. */
  readonly memories?: (() => AsyncIterable<CompanyMemory>) | undefined;
  readonly onUnprovable?: (() => void) | undefined;
  readonly onWait?: (waitMs: number | undefined) => void;
  /** The limit of time. */
  readonly limit?: TimeLimit | undefined;
  /** What messages call its methods. Default: those of a target. */
  readonly called?: TargetNames;
  /** The methods that the target must have. */
  readonly needs: readonly Names[];
}

/** A warning. */
export const KEY_CHANGED =
  'the API key has changed, and no known record has createdAt, so nothing shows that it is of the same company.';

/** What a run needs beside the target. */
export interface InTarget {
  /** Keys of another company are rejected. */
  readonly admission: Admission;
  /** Waits for code of the caller. */
  readonly callerCode: CallerCode;
  /** Stores which keys were admitted. Not before the first write: only a key that could read belongs to the company. */
  remember(): Promise<void>;
}

/** Runs `work` with the opened target, and closes it however that ends. */
export async function withTarget<Names extends keyof OpenTarget, V>(
  run: TargetRun<Names>,
  work: (opened: TargetWith<Names>, run: InTarget) => Promise<V>,
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
    result = await work(guarded as TargetWith<Names>, {
      ...guardCompany(guarded, run, code),
      callerCode: code,
    });
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

function guardCompany(
  opened: OpenTarget,
  { tenant, sameCompany, sources, settings, onUnprovable, ...run }: TargetRun<keyof OpenTarget>,
  callerCode: CallerCode,
): Omit<InTarget, 'callerCode'> {
  const readable = Object.entries(sources).filter(([, source]) => isCollection(source));
  const all = Object.fromEntries(readable.map(([name, source]) => [name, runSource(source)]));
  let stored: string | undefined;
  async function* ofTarget(): AsyncGenerator<CompanyMemory> {
    stored = await opened.company?.get();
    const memory = decodeMemory(stored);
    if (memory !== undefined) yield { ...memory, known: () => knownRecords(opened, all) };
  }
  const admission = admissionOf({
    tenant,
    sameCompany,
    sources: Object.values(all),
    settings: { ...settings, callerCode },
    memories: run.memories ?? ofTarget,
    needsNoDigests: opened.company === undefined,
    onUnprovable,
  });
  return {
    admission,
    async remember() {
      const text = admission.memory && JSON.stringify(admission.memory);
      if (text === undefined || text === stored) return;
      await opened.company?.set(text);
      stored = text;
    },
  };
}
