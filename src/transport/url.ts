import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { API_PATH } from '../schemas/service-forms.ts';

/** What a URL parser drops, or reads as something else. */
const DROPPED = /[\s\\\p{C}\p{Default_Ignorable_Code_Point}]/u;

/**
 * The address of the API: origin, path prefix and `/api/public/v1`. Rejects what would send the key to the wrong place,
 * without quoting it: other schemes, http beyond this machine, credentials, a query, a fragment, characters that are dropped.
 */
export function parseBaseUrl(baseUrl: string, allowInsecure: boolean): string {
  const reject = (problem: string): never => {
    throw new InvalidInputError('baseUrl', problem);
  };
  // A URL parser drops some of these, so that the key would go to a host other than the one that was written.
  if (DROPPED.test(baseUrl))
    return reject('must not contain white space, control or invisible characters, or backslashes');
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined) return reject('is not an absolute URL; expected one like https://books.example.com');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return reject('must be https (or http on this machine)');
  if (url.username !== '' || url.password !== '') return reject('must not contain credentials; use apiKey');
  if (baseUrl.includes('?') || baseUrl.includes('#')) return reject('must not contain a query or a fragment');
  if (url.protocol === 'http:' && !allowInsecure && !isLoopback(url.hostname)) {
    return reject(
      'must be https, because http sends the key in clear text; allowInsecure: true permits http',
    );
  }
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith(API_PATH) ? path : `${path}${API_PATH}`}`;
}

/** localhost, 127.0.0.0/8 and [::1]. Not *.localhost: some systems ask DNS for it, so the key could leave the machine. */
function isLoopback(hostname: string): boolean {
  return /^localhost$|^127(?:\.\d{1,3}){3}$|^\[::1\]$/.test(hostname);
}

/** The path of a request as shown in errors and events: without base URL and query. */
export function displayPath(path: readonly string[] | string): string {
  return typeof path === 'string' ? path : `/${path.map(encodeURIComponent).join('/')}`;
}

/** The URL of one request. A URL parser must find nothing to change in its path. */
export function requestUrl(
  base: string,
  path: readonly string[] | string,
  query: readonly (readonly [string, string])[] = [],
): string {
  const url = `${base}${displayPath(path)}`;
  // Segments are encoded, which leaves only dots: a parser resolves `..` to the parent.
  if (typeof path === 'string' ? !isNormal(url) : path.includes('.') || path.includes('..')) {
    throw new InvalidInputError(
      'path',
      'must stay below /api/public/v1, without query, fragment or dot segments',
    );
  }
  if (query.length === 0) return url;

  return `${url}?${query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')}`;
}

function isNormal(url: string): boolean {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}` === url;
}
