// What looks like an outage of the service.

import { isAccountingError, isApiError } from '../errors/guards.ts';
import type { Failure } from './failure.ts';

/** What a service returns while its database is away, a gateway while the service is, and a content delivery network. */
const isOfOutage = (status: number) =>
  status === 500 || (status >= 502 && status <= 504) || (status >= 520 && status <= 527);

/** Whether an attempt failed as in an outage. It may also be about one request. */
export function isOutage({ fault, details }: Failure): boolean {
  switch (details.kind) {
    case 'network':
      return fault === 'unsent' || fault === 'lost';
    case 'time':
      // A key function that returns nothing says nothing about the service.
      return details.waitingFor === 'response';
    case 'content':
      return fault === 'page';
    case 'throttled':
      // The call waited for the first response with its key until its deadline: the service does not respond.
      return details.limit !== undefined;
    case 'status':
      return details.response.within === undefined && isOfOutage(details.response.status);
    default:
      return false;
  }
}

/** The same symbol in every copy of the package, because a run may be of another copy than the client. */
const OUTAGE = Symbol.for('accounting-data-sdk.outage');

/** Notes on the error of a call whether its last attempt failed so: an expired certificate is a failed connection too. */
export function withOutage<E extends Error>(error: E, failure: Failure): E {
  return Object.defineProperty(error, OUTAGE, { value: isOutage(failure) });
}

/** Whether the error of a call says that its last attempt failed as in an outage. */
export function isOutageError(error: unknown): boolean {
  if (!isAccountingError(error)) return false;
  if (Object.hasOwn(error, OUTAGE)) return (error as { readonly [OUTAGE]?: boolean })[OUTAGE] === true;
  if (isApiError(error)) return isOfOutage(error.status);
  return error.code === 'connection_failed' || error.code === 'timeout';
}
