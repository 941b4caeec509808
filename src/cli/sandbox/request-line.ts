import { createColors } from 'picocolors';
import type { LoggedRequest } from '../../testing/log.ts';

const API = '/api/public/v1';

function query(request: LoggedRequest): string {
  const parameters = Object.entries(request.query).map(([name, value]) => `${name}=${value}`);
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

/** What came of it, in a few words. */
function outcome({ records, error, fault, idempotencyKey }: LoggedRequest): string {
  const parts = [
    records === undefined ? undefined : `${records} record${records === 1 ? '' : 's'}`,
    error,
    idempotencyKey === undefined ? undefined : `key ${idempotencyKey}`,
    fault === undefined ? undefined : `fault ${fault}`,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** Control characters would let a request write its own lines into the log. */
const printable = (text: string) => text.replaceAll(/\p{Cc}/gu, '·');

/** A request as a line of the log: time, method, path, status, what came of it, whose key. */
export function requestLine(request: LoggedRequest, withColors: boolean): string {
  const colors = createColors(withColors);
  const { at, method, path, status, key } = request;
  const short = path.startsWith(API) ? path.slice(API.length) : path;
  const paint =
    status === undefined || status >= 500 ? colors.red : status >= 400 ? colors.yellow : colors.green;
  const parts = [
    colors.dim(at.toISOString().slice(11, 19)),
    method.padEnd(6),
    paint(String(status ?? '---')),
    printable(`${short}${query(request)}`),
    colors.dim(
      printable([outcome(request), key ?? 'no valid key'].filter((part) => part !== '').join(' · ')),
    ),
  ];
  return parts.join(' ');
}
