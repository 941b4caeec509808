import { type AnyAccountingError, isAccountingError, isApiError } from '../errors/guards.ts';
import { oneLine } from '../internal/text.ts';
import { CommandFailure } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { Interrupted } from './interrupted.ts';
import type { Io } from './io.ts';

/** What to do about an error, and how the command ends with it. */
interface Consequence {
  readonly exitCode: number;
  readonly advice: string;
}

const LATER = 'Try again later; the same command can be repeated safely.';

const WRONG_URL = 'Check ACCOUNTING_BASE_URL: the service is not there, or has no such collection.';

const CONSEQUENCES: Readonly<Record<AnyAccountingError['code'], Consequence>> = {
  malformed_request: {
    exitCode: EXIT.service,
    advice: 'Check the values given: the service could not read the request.',
  },
  unauthenticated: {
    exitCode: EXIT.denied,
    advice: 'Check ACCOUNTING_API_KEY, and that it belongs to this service.',
  },
  forbidden: { exitCode: EXIT.denied, advice: 'The key may not do this; "whoami" shows what it may read.' },
  scope_required: {
    exitCode: EXIT.denied,
    advice: 'Use a key with this permission; "whoami" shows what this one may read.',
  },
  not_found: { exitCode: EXIT.notFound, advice: 'Check the id: the company of this key has no such record.' },
  validation_failed: { exitCode: EXIT.service, advice: 'Correct the fields that are named.' },
  idempotency_key_required: {
    exitCode: EXIT.service,
    advice: 'Something between here and the service removes headers: look there.',
  },
  rate_limited: { exitCode: EXIT.service, advice: LATER },
  unknown_problem: {
    exitCode: EXIT.service,
    advice: 'Ask who runs the service: this version does not know the error.',
  },
  connection_failed: { exitCode: EXIT.unreachable, advice: 'Check ACCOUNTING_BASE_URL and the network.' },
  timeout: { exitCode: EXIT.unreachable, advice: LATER },
  redirected: {
    exitCode: EXIT.service,
    advice: 'Correct ACCOUNTING_BASE_URL: redirects are never followed, for they would carry the key along.',
  },
  unexpected_response: {
    exitCode: EXIT.service,
    advice: 'Check that ACCOUNTING_BASE_URL is the address of the service itself.',
  },
  invalid_input: { exitCode: EXIT.usage, advice: 'Correct it and run the command again; nothing was sent.' },
  filter_ignored: {
    exitCode: EXIT.service,
    advice: 'Use --pagination page: the service does not honour bounds on id ("probe" shows what it does).',
  },
  checkpoint: {
    exitCode: EXIT.file,
    advice: 'Give the options that it was made with, or delete it to start over.',
  },
  concurrent_run: { exitCode: EXIT.file, advice: 'Let one run end before the other begins.' },
  sync_failed: { exitCode: EXIT.failed, advice: 'Correct what each collection names.' },
  push_failed: { exitCode: EXIT.failed, advice: 'Run the same command again: it continues.' },
  reconcile_aborted: { exitCode: EXIT.failed, advice: 'Check the API key and the local ids.' },
};

/** Says why a command ends, unless the user knows; gives its exit code, undefined for what nobody foresaw. */
export function sayEnding(error: unknown, io: Pick<Io, 'log'>): number | undefined {
  if (error instanceof Interrupted) return error.exitCode;
  const failure = failureOf(error);
  if (failure === undefined) return undefined;
  io.log(failure.message);
  if (failure.advice !== undefined) io.log(failure.advice);
  return failure.exitCode;
}

/** An error as two lines and an exit code: what happened, what to do. Undefined for one that nobody foresaw. */
export function failureOf(error: unknown): CommandFailure | undefined {
  if (error instanceof CommandFailure) return error;
  if (isAccountingError(error)) return new CommandFailure(oneLine(whatHappened(error)), consequenceOf(error));
  if (!isFileError(error)) return undefined;
  return new CommandFailure(oneLine(error.message), {
    exitCode: EXIT.file,
    advice: 'Check the path, the permissions and the space that is left.',
  });
}

/** Only what may succeed later is worth trying again. */
function consequenceOf(error: AnyAccountingError): Consequence {
  const consequence = CONSEQUENCES[error.code];
  if (error.code === 'unknown_problem' && error.retryable) return { ...consequence, advice: LATER };
  if (error.code === 'unknown_problem' && error.status === 406) {
    return {
      ...consequence,
      advice: 'The service has no format that the Accept header of this command allows.',
    };
  }
  if (error.code === 'not_found' && (!error.missing || isCollection(error.path)))
    return { ...consequence, advice: WRONG_URL };
  return consequence;
}

/** Whether a path names a whole collection, as in `/accounts`. */
function isCollection(path: string | undefined): boolean {
  return path?.split('/').length === 2;
}

/** Without the advice that messages of the library end with: the command has its own. */
function whatHappened(error: AnyAccountingError): string {
  if (!isApiError(error)) return error.message;
  const detail = error.detail === undefined ? '' : `: ${error.detail}`;
  const fields = error.violations
    .map(({ propertyPath, message }) => `${propertyPath}: ${message}`)
    .join('; ');
  const what = `${error.method} ${error.path} returned ${error.status} (${error.type ?? error.code})${detail}`;
  return fields === '' ? what : `${what} [${fields}]`;
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
