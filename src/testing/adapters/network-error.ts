/** A failure as Node's fetch reports it: a TypeError whose cause carries the system's code. */
export function networkError(message: string, code: string, detail: string): TypeError {
  const cause = Object.assign(new Error(detail), { code });
  return new TypeError(message, { cause });
}

export const refused = () => networkError('fetch failed', 'ECONNREFUSED', 'connect ECONNREFUSED');
export const reset = () => networkError('fetch failed', 'ECONNRESET', 'read ECONNRESET');
export const closed = () => networkError('fetch failed', 'UND_ERR_SOCKET', 'other side closed');
export const bodyCut = () => networkError('terminated', 'UND_ERR_SOCKET', 'other side closed');
export const bodyReset = () => networkError('terminated', 'ECONNRESET', 'read ECONNRESET');
export const badGzip = () => networkError('terminated', 'Z_DATA_ERROR', 'incorrect data check');
export const unknownHost = (host: string) =>
  networkError('fetch failed', 'ENOTFOUND', `getaddrinfo ENOTFOUND ${host}: this sandbox does not serve it`);
