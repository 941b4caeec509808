import { type AnyAccountingError, isAccountingError } from 'accounting-data-sdk';
import { isKeyRejected } from '../errors/guards.ts';
import { isError } from '../internal/realm.ts';
import { oneLine } from '../internal/text.ts';
import type { Io } from './io.ts';

/** Exit codes. Scripts rely on these numbers: they do not change within a major version. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  denied: 3,
  notFound: 4,
  service: 5,
  unreachable: 6,
  file: 7,
  changed: 8,
  rowsFailed: 9,
  interrupted: 130,
  pipeClosed: 141,
  terminated: 143,
} as const;

/** For the help of the command. */
export const EXIT_HELP = `
Exit codes:
  0    done
  1    any other failure
  2    wrong arguments, a declined question, or ACCOUNTING_BASE_URL or
       ACCOUNTING_API_KEY is missing; nothing was written
  3    the API key is invalid, or has no right to do this
  4    the record does not exist
  5    the service returned an error, or a response that cannot be used
  6    the service does not respond
  7    a file cannot be read or written, or belongs to something else
  8    --check, --verify: the file or the copy differs from the service
  9    push: some rows failed, are duplicates or in conflict; the others were
       written
  130  stopped by Ctrl-C
  141  output closed early (SIGPIPE)
  143  stopped by SIGTERM`;

/** The command cannot do what the user wants: what happened, and in `advice` what to do. It needs no stack trace. */
export class CommandFailure extends Error {
  readonly advice: string | undefined;
  readonly exitCode: number;

  constructor(message: string, more: { advice?: string | undefined; exitCode?: number | undefined } = {}) {
    super(message);
    this.advice = more.advice;
    this.exitCode = more.exitCode ?? EXIT.failed;
  }

  /** The same failure with one more sentence of advice. */
  withAdvice(more: string): CommandFailure {
    const advice = `${this.advice ?? ''} ${more}`.trim();
    return new CommandFailure(this.message, { advice, exitCode: this.exitCode });
  }
}

/** No collection can be read: the codes of the errors that the collections returned say why. */
export function nothingReadable(codes: readonly string[]): CommandFailure {
  if (codes.every((code) => code === 'not_found')) {
    return new CommandFailure('The service has none of the collections.', {
      advice: 'Check the path of ACCOUNTING_BASE_URL: every collection returned 404.',
      exitCode: EXIT.service,
    });
  }
  if (codes.some(isDenied)) return noReadAccess();
  // Of an error that the documentation does not name, such as a 503.
  const wait = codes.includes('unknown_problem') ? 'Try again later. If it stays so, check' : 'Check';
  return new CommandFailure(`No collection can be read (${[...new Set(codes)].join(', ')}).`, {
    advice: `${wait} that ACCOUNTING_BASE_URL is the address of the service itself.`,
    exitCode: EXIT.service,
  });
}

/** Whether a collection exists that the key may not read. */
export function isDenied(access: string): boolean {
  return access === 'forbidden' || access === 'scope_required';
}

/** No collection can be read with this key. */
export function noReadAccess(): CommandFailure {
  return new CommandFailure('The API key is valid but has no read access.', {
    advice: 'Use the key of a user who may read the data of the company.',
    exitCode: EXIT.denied,
  });
}

/** A copy or a state belongs to another API key, perhaps to one of another company. */
export function anotherKey(message: string): CommandFailure {
  return new CommandFailure(message, {
    advice:
      'With a new key, up to five known records are requested: at least one must exist, and all that exist must have the same createdAt. For another company, pass another --tenant. For a new key of the same company, pass --same-company once.',
    exitCode: EXIT.file,
  });
}

/** The user stopped the command: the reason of its signal. It is not reported as a failure. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(by: string, exitCode: number) {
    super(`Stopped by ${by}.`);
    this.exitCode = exitCode;
  }
}

/** Whether the user stopped the command. If the output closed early (SIGPIPE), the user needs no advice. */
export function isInterrupted({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof CommandFailure) && reason?.exitCode !== EXIT.pipeClosed;
}

const LATER = 'Try again later; the same command can be repeated safely.';
const WRONG_URL = 'Check ACCOUNTING_BASE_URL: the service is not there, or has no such collection.';

/** The exit code of each error of the library, and what to do about it if its hint is not for the users of a command. */
const CONSEQUENCES: Readonly<
  Record<AnyAccountingError['code'], readonly [exitCode: number, advice?: string]>
> = {
  malformed_request: [EXIT.service, 'Check the values given: the service could not read the request.'],
  unauthenticated: [EXIT.denied, 'Check ACCOUNTING_API_KEY, and that it belongs to this service.'],
  forbidden: [EXIT.denied, 'This key may not do that; "whoami" shows what it may read.'],
  scope_required: [EXIT.denied, 'Use a key with this permission; "whoami" shows what this one may read.'],
  not_found: [EXIT.notFound, 'Check the id: the company of this key has no such record.'],
  validation_failed: [EXIT.service, 'Correct the fields that are named.'],
  idempotency_key_required: [
    EXIT.service,
    'Check the proxies: something between this machine and the service removes headers.',
  ],
  rate_limited: [EXIT.service, LATER],
  unknown_problem: [EXIT.service],
  connection_failed: [
    EXIT.unreachable,
    'Check ACCOUNTING_BASE_URL and the network. If they are right, the service may be down: try again later.',
  ],
  timeout: [EXIT.unreachable, LATER],
  redirected: [
    EXIT.service,
    'Correct ACCOUNTING_BASE_URL: the command follows no redirects, because they would forward the key.',
  ],
  unexpected_response: [EXIT.service, 'Check that ACCOUNTING_BASE_URL is the address of the service itself.'],
  invalid_input: [EXIT.usage, 'Correct it, and run the command again.'],
  filter_ignored: [
    EXIT.service,
    'Find out what the service does with "probe --out service.json", and pass --service service.json.',
  ],
  checkpoint: [EXIT.file],
  concurrent_run: [EXIT.file, 'Start one run after the other.'],
  sync_failed: [EXIT.failed, 'Correct what each collection names.'],
  push_failed: [EXIT.failed, 'Run the same command again: it continues.'],
  deletions_aborted: [EXIT.failed],
};

/** Reports why a command ends, unless the user stopped it. Returns the exit code; undefined for an unexpected error. */
export function reportError(error: unknown, io: Pick<Io, 'log'>): number | undefined {
  if (error instanceof Interrupted) return error.exitCode;
  const failure = failureOf(error);
  if (failure === undefined) return undefined;
  io.log(failure.message);
  if (failure.advice !== undefined) io.log(failure.advice);
  return failure.exitCode;
}

/** An error as two lines and an exit code; undefined for an unexpected one. */
export function failureOf(error: unknown): CommandFailure | undefined {
  if (error instanceof CommandFailure) return error;
  if (isAccountingError(error)) {
    const [exitCode, advice] = CONSEQUENCES[error.code];
    return new CommandFailure(oneLine(messageOf(error)), {
      exitCode: isElsewhere(error) ? EXIT.service : exitCode,
      advice: adviceOn(error) ?? advice ?? error.hint,
    });
  }
  // Errors of the file system name the call that failed.
  if (!(isError(error) && 'syscall' in error && 'code' in error)) return undefined;
  return new CommandFailure(oneLine(error.message), {
    exitCode: EXIT.file,
    advice: 'Check the path, the permissions and the free space.',
  });
}

/** What to do about rows whose id cannot be read. */
export const FIND_OUT_IDS =
  'Run "probe --out service.mts", which finds out whether ids are numbers, and pass --service service.mts.';

/** What to do about an error whose fields say more than its code. */
function adviceOn(error: AnyAccountingError): string | undefined {
  if (error.code === 'unexpected_response' && error.reason === 'unreadable_id') {
    return FIND_OUT_IDS;
  }
  // A page may be that of a firewall, which has nothing to do with the key.
  if (error.code === 'unauthenticated' && !isKeyRejected(error)) return error.hint;
  // A proxy has nothing to do with the address of the service.
  if (error.code === 'connection_failed' && error.proxyStatus !== undefined) return error.hint;
  if (error.code === 'unknown_problem' && error.retryable) return LATER;
  if (error.code === 'deletions_aborted' && hasCounted(error.reason)) {
    return 'Check the API key. If so many are really gone, pass --max-candidates all.';
  }
  return isElsewhere(error) ? WRONG_URL : undefined;
}

/** Whether a 404 is of the address. One of a whole collection, such as /accounts, does not concern a record. */
function isElsewhere(error: AnyAccountingError): boolean {
  const isCollection = error.path?.split('/').length === 2;
  return error.code === 'not_found' && (!error.missing || isCollection);
}

/** Whether so many records are gone that it looks like a mistake. */
function hasCounted(reason: Extract<AnyAccountingError, { code: 'deletions_aborted' }>['reason']): boolean {
  return reason === 'too_many_candidates' || reason === 'few_local_ids_seen';
}

/** What happened, without the hint. */
export function messageOf(error: AnyAccountingError): string {
  const { hint = '' } = error;
  const message = error.message.slice(0, error.message.length - hint.length).trimEnd();
  // The database is clear from the message itself.
  const isTarget = error.code === 'invalid_input' && error.argument === 'target';
  return isTarget ? message.slice('target: '.length) : message;
}
