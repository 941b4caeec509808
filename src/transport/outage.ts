import { isAccountingError, isApiError } from '../errors/guards.ts';
import type { Failure } from './failure.ts';

const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 10_000;

/** What a gateway returns while the service behind it is down. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * What a failure says about the service:
 * - `down`: it is down.
 * - `unclear`: a 500 comes while the database is away, and for one record that the service cannot handle.
 */
type OutageSign = 'down' | 'unclear' | undefined;

export function signOfFailure({ fault, details }: Failure): OutageSign {
  switch (details.kind) {
    case 'network':
      return fault === 'unsent' || fault === 'lost' ? 'down' : undefined;
    case 'time':
      // A key function that returns nothing says nothing about the service.
      return details.waitingFor === 'apiKey' ? undefined : 'down';
    case 'content':
      return fault === 'page' ? 'down' : undefined;
    case 'throttled':
      // The call waited for the first response with its key until its deadline: the service does not respond.
      return details.limit === undefined ? undefined : 'down';
    case 'status':
      return signOfStatus(details.response.status);
    default:
      return undefined;
  }
}

/** The same symbol in every copy of the package, because a run may be of another copy than the client. */
const SIGN = Symbol.for('accounting-data-sdk.outage');

/** Notes on the error of a call what its last failure says: an expired certificate is a failed connection too. */
export function withSign<E extends Error>(error: E, failure: Failure): E {
  return Object.defineProperty(error, SIGN, { value: signOfFailure(failure) });
}

/** What the error of a call says about the service. */
export function signOfError(error: unknown): OutageSign {
  if (isApiError(error)) return signOfStatus(error.status);
  if (!isAccountingError(error)) return undefined;
  if (Object.hasOwn(error, SIGN)) return (error as { readonly [SIGN]?: OutageSign })[SIGN];
  return error.code === 'connection_failed' || error.code === 'timeout' ? 'down' : undefined;
}

function signOfStatus(status: number): OutageSign {
  if (GATEWAY_STATUSES.has(status)) return 'down';
  return status === 500 ? 'unclear' : undefined;
}

/** The wait after so many failures. At least half of the exponential delay: the service has just failed several attempts. */
export function outageDelayMs(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (failures - 1));
}
