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
      return fault === 'blocked' ? undefined : 'down';
    case 'time':
      return 'down';
    case 'throttled':
      // The call waited for the first response with its key until its deadline: the service does not respond.
      return details.limit === undefined ? undefined : 'down';
    case 'status':
      return signOfStatus(details.response.status);
    default:
      return undefined;
  }
}

/** What the error of a call says about the service. */
export function signOfError(error: unknown): OutageSign {
  if (isApiError(error)) return signOfStatus(error.status);
  return isAccountingError(error, 'connection_failed') || isAccountingError(error, 'timeout')
    ? 'down'
    : undefined;
}

function signOfStatus(status: number): OutageSign {
  if (GATEWAY_STATUSES.has(status)) return 'down';
  return status === 500 ? 'unclear' : undefined;
}

/** The wait after so many failures. At least half of the exponential delay: the service has just failed several attempts. */
export function outageDelayMs(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (failures - 1));
}
